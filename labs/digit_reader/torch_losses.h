#pragma once
// The losses that PyTorch 1.13 computes for the two readers on MNIST from seed 0, step by step:
// tests/golden/torch_curves.json in single precision (on a processor with AVX2) and
// tests/golden/torch_double.json in double.

#include <span>

#include "labs/digit_reader/training.h"

namespace labgrad::labs::digit_reader {

struct TorchLosses {
  std::span<const double> in_single, in_double;
  // The largest relative difference in single precision that counts as rounding.
  double rounding;
};

// The ritual: one batch of 32 strips (seed 999) again and again, Adam at 1e-3. The first 10 steps
// in single precision, 50 in double.
TorchLosses torch_ritual(Kind kind);
// The first 20 steps of 12 epochs of 60,000 strips in batches of 128, the rate on a cosine.
TorchLosses torch_training(Kind kind);

}  // namespace labgrad::labs::digit_reader
