#pragma once
// Position codes: attention does not know the order of its inputs, so it is added to them.

#include "nn/init.h"
#include "nn/layer.h"

namespace labgrad::nn {

// P[p, 2i] = sin(p / 10000^(2i/D)), P[p, 2i+1] = cos(p / 10000^(2i/D))
//                                               Vaswani et al. 2017, section 3.5 [position.1]
// -> (T, D) of f32. The dot product of two rows depends on the distance of their positions alone.
Tensor sinusoidal_positions(std::int64_t T, std::int64_t D);

// Codes that are trained: one vector for each position, at first normal with deviation 0.02.
class LearnedPositions : public Layer {
 public:
  Tensor weight;  // (1, max_len, D)

  LearnedPositions(std::int64_t max_len, std::int64_t D, Generator& g = default_generator());

  // y = x + P[0 .. T-1]                                                           [position.2]
  // x (B, T, D). Error: T > max_len.
  Tensor forward(const Tensor& x) override;

  void members(Members& m) override { m("weight", weight); }
  std::string kind() const override { return "LearnedPositions"; }
  std::string details() const override;
};

}  // namespace labgrad::nn
