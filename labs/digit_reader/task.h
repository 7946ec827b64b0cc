#pragma once
// The data of a run, and how much of it the student's time allows.

#include <string>
#include <vector>

#include "data/strips.h"
#include "labs/common/lab.h"
#include "labs/common/strips.h"

namespace labgrad::labs::digit_reader {

struct Task {
  bool mnist;  // else generated digits
  std::string source;
  data::LabelledImages train_images, test_images;
  data::StripDataset test, longer;  // 8,000 strips of 1 to 8 digits, 4,000 of 9 to 12

  Task(bool is_mnist, std::string from, data::LabelledImages train,
       data::LabelledImages test_split);
  // The sets point into the images.
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
};

// MNIST if it lies in the lab's data folder, else generated digits; made once.
const Task& task(Lab& lab);

// Training strips are of these lengths, as are those of Task::test.
inline constexpr data::Lengths train_lengths{1, 8};

// Q3.3: one batch of 32 training strips, seed 999.
inline constexpr std::int64_t ritual_strips = 32;
data::StripBatch ritual_batch(const Task& data);

// The options --strips, --epochs and --batch, or what belongs to the budget.
std::int64_t strips_per_epoch(const Lab& lab);
std::int64_t training_epochs(const Lab& lab);
std::int64_t training_batch(const Lab& lab);
// How many strips of the two test sets are read, from the front: all of them with --full.
std::int64_t test_count(const Lab& lab);
std::int64_t long_count(const Lab& lab);

// "4071", and a strip as a picture with its boxes, each with its digit above it.
std::string text_of(std::span<const std::int64_t> digits);
ImagePanel panel_of(const data::StripDataset& strips, std::int64_t i);

}  // namespace labgrad::labs::digit_reader
