#include "data/string_metrics.h"

#include <string>

#include "data/edit_distance.h"
#include "data/strips.h"
#include "engine/error.h"

namespace labgrad::data {
namespace {

void check_counts(std::span<const Symbols> predictions, std::span<const Symbols> targets) {
  if (predictions.size() != targets.size())
    fail("reading_score: " + std::to_string(predictions.size()) + " predictions for " +
         std::to_string(targets.size()) + " targets");
}

}  // namespace

Symbols clean(std::span<const std::int64_t> symbols) {
  Symbols digits;
  for (const std::int64_t s : symbols) {
    if (s == symbol::eos) break;
    if (s >= 0 && s < 10) digits.push_back(s);
  }
  return digits;
}

void ReadingScore::add(std::span<const std::int64_t> prediction,
                       std::span<const std::int64_t> target) {
  const Symbols read = clean(prediction), written = clean(target);
  ++strings;
  exact += read == written ? 1 : 0;
  edits += edit_distance(read, written);
  digits += static_cast<std::int64_t>(written.size());
}

double ReadingScore::exact_accuracy() const {
  return static_cast<double>(exact) / static_cast<double>(strings);
}

double ReadingScore::cer() const {
  return static_cast<double>(edits) / static_cast<double>(digits);
}

ReadingScore reading_score(std::span<const Symbols> predictions, std::span<const Symbols> targets) {
  check_counts(predictions, targets);
  ReadingScore score;
  for (std::size_t i = 0; i < targets.size(); ++i) score.add(predictions[i], targets[i]);
  return score;
}

std::map<std::int64_t, ReadingScore> reading_by_length(std::span<const Symbols> predictions,
                                                       std::span<const Symbols> targets) {
  check_counts(predictions, targets);
  std::map<std::int64_t, ReadingScore> scores;
  for (std::size_t i = 0; i < targets.size(); ++i)
    scores[static_cast<std::int64_t>(clean(targets[i]).size())].add(predictions[i], targets[i]);
  return scores;
}

}  // namespace labgrad::data
