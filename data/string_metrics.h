#pragma once
// How well strings of digits were read: whole strings, single digits, by length.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace labgrad::data {

using Symbols = std::vector<std::int64_t>;

// The digits up to the first <eos>, without <sos> and <pad>.
Symbols clean(std::span<const std::int64_t> symbols);

// Over some strings, predictions and targets cleaned.
struct ReadingScore {
  std::int64_t strings = 0;
  std::int64_t exact = 0;   // predictions that equal their target
  std::int64_t edits = 0;   // sum of the edit distances
  std::int64_t digits = 0;  // of all targets

  // Adds one string.
  void add(std::span<const std::int64_t> prediction, std::span<const std::int64_t> target);
  // exact / strings, and the character error rate edits / digits; NaN if there is nothing.
  double exact_accuracy() const;
  double cer() const;
};

// Error: the numbers of predictions and targets differ.
ReadingScore reading_score(std::span<const Symbols> predictions, std::span<const Symbols> targets);
// The same for each length of target on its own, by rising length.
std::map<std::int64_t, ReadingScore> reading_by_length(std::span<const Symbols> predictions,
                                                       std::span<const Symbols> targets);

}  // namespace labgrad::data
