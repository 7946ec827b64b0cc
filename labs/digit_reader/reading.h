#pragma once
// Reading strips: a reader writes symbol after symbol, always the likeliest one, until <eos>.

#include <vector>

#include "data/string_metrics.h"
#include "data/strips.h"
#include "labs/digit_reader/readers.h"

namespace labgrad::labs::digit_reader {

struct Reading {
  data::Symbols symbols = {};  // up to the first <eos>, it included; at most 14
  // The attention of each of these steps over the columns; empty without attention.
  std::vector<std::vector<double>> alpha = {};

  struct Digit {
    std::int64_t digit;
    std::size_t step;  // the step that wrote it
  };
  // The digits before <eos> in their order, without <sos> and <pad>.
  std::vector<Digit> digits() const;
};

// Twelve digits and their <eos>, and one more.
inline constexpr std::int64_t max_symbols = 14;

// images (B, 1, 28, W). In evaluation mode and without a graph; ends when every strip has written
// <eos>, and what a strip that was done wrote meanwhile is dropped.
std::vector<Reading> read(Reader& reader, const Tensor& images);

// The first `count` strips of a set.
std::vector<Reading> read(Reader& reader, const data::StripDataset& strips, std::int64_t count);

// How well these readings of the first strips of a set are, over all and by length.
data::ReadingScore score(const std::vector<Reading>& readings, const data::StripDataset& strips,
                         data::Lengths lengths);

bool is_exact(const Reading& reading, std::span<const std::int64_t> digits);

}  // namespace labgrad::labs::digit_reader
