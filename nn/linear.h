#pragma once
// Linear: the affine map of the last dimension.

#include "engine/ops/matmul.h"
#include "nn/init.h"
#include "nn/layer.h"

namespace labgrad::nn {

struct LinearOptions {
  bool bias = true;
  DType dtype = f32;
};

class Linear : public Layer {
 public:
  Tensor weight;  // W (out, in)
  Tensor bias;    // b (out,); undefined without

  // W and b are drawn as PyTorch's: W first, both uniform in ±1/√in.
  Linear(std::int64_t in, std::int64_t out, LinearOptions options = {},
         Generator& g = default_generator());

  // y = x Wᵀ + b                                                                     [linear.1]
  // x (..., in) -> y (..., out). Error: the last size is not `in`.
  Tensor forward(const Tensor& x) override { return linear(x, weight, bias); }

  void members(Members& m) override;
  std::string kind() const override { return "Linear"; }
  std::string details() const override;
};

}  // namespace labgrad::nn
