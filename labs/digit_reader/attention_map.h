#pragma once
// Where a reader looked while it wrote a strip: as a picture, step by step, and counted.

#include <string>

#include "labs/digit_reader/reading.h"
#include "labs/digit_reader/task.h"

namespace labgrad::labs::digit_reader {

// The strip with its boxes, and below it the weights: one row for each symbol written, one cell for
// each column of the feature map, on one scale from 0 to the largest weight.
std::string draw_map(const std::string& title, const data::StripDataset& strips, std::int64_t i,
                     const Reading& reading);

// A line for each symbol written: the column with the largest weight, and whose box that lies in.
Table table_of_steps(const data::StripDataset& strips, std::int64_t i, const Reading& reading);

// The first place where two strings differ, one's end included.
std::size_t first_difference(const data::Symbols& read, std::span<const std::int64_t> target);

// Column c (from 0) stands for the pixels 16 c to 16 c + 15; its centre is pixel 16 c + 8.
struct Peak {
  std::int64_t column;
  double weight;
  std::int64_t centre() const { return 16 * column + 8; }
};
Peak peak_of(const std::vector<double>& alpha);

// The k-th digit written and the k-th digit of the target: is the largest weight in its box?
struct Alignment {
  std::int64_t missing = 0;  // the reader wrote fewer than k + 1 digits
  std::int64_t right = 0, right_aligned = 0, wrong = 0, wrong_aligned = 0;
  std::vector<double> largest;  // the largest weight, of the digits read right

  double right_share() const;
  double wrong_share() const;
  double median_largest() const;
};
Alignment align(const data::StripDataset& strips, const std::vector<Reading>& readings);
Table table_of(const Alignment& alignment);

}  // namespace labgrad::labs::digit_reader
