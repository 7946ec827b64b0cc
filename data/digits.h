#pragma once

#include <cstdint>

#include "data/images.h"

namespace labgrad::data {

// n pictures of digits, 28 x 28 like MNIST's, drawn by a program: strokes of a pen whose points,
// slant, turn, proportions, size, thickness and place vary at random. They stand in for MNIST
// where it has not been fetched, and are easier to read than it.
//
// Picture i depends on the seed, the split and i alone: a longer set begins with the shorter one,
// and no random number of the training set is used for the test set. Error: n < 0.
LabelledImages generated_digits(std::int64_t n, Split split, std::uint64_t seed = 0);

}  // namespace labgrad::data
