#pragma once
// LayerNorm: each vector brought to mean 0 and variance 1, then scaled and shifted.
// Ba, Kiros and Hinton 2016, Layer Normalization.

#include "nn/layer.h"

namespace labgrad::nn {

struct LayerNormOptions {
  double eps = 1e-5;   // inside the root
  bool affine = true;  // with weight and bias
};

class LayerNorm : public Layer {
 public:
  Tensor weight;  // γ (width,), at first 1
  Tensor bias;    // β (width,), at first 0
  std::int64_t width;
  double eps;

  explicit LayerNorm(std::int64_t width, LayerNormOptions options = {});

  // y = (x - μ) / √(σ² + ε) ⊙ γ + β                                            [layer_norm.1]
  // with μ and σ² over the last dimension, σ² divided by its size.
  // x (..., width) -> y the same. Error: the last size is not width.
  Tensor forward(const Tensor& x) override;

  void members(Members& m) override;
  std::string kind() const override { return "LayerNorm"; }
  std::string details() const override;
};

}  // namespace labgrad::nn
