#pragma once
// BatchNorm2d: each channel of a batch of images brought to mean 0 and variance 1, then scaled and
// shifted. Ioffe and Szegedy 2015, Batch Normalization.

#include "nn/layer.h"

namespace labgrad::nn {

struct BatchNormOptions {
  double eps = 1e-5;      // inside the root
  double momentum = 0.1;  // weight of a batch's statistics in the running ones
  bool affine = true;     // with weight and bias
};

class BatchNorm2d : public Layer {
 public:
  Tensor weight;        // γ (C,), at first 1
  Tensor bias;          // β (C,), at first 0
  Tensor running_mean;  // (C,), at first 0; a buffer
  Tensor running_var;   // (C,), at first 1; a buffer
  BatchNormOptions options;

  explicit BatchNorm2d(std::int64_t channels, BatchNormOptions options = {});

  // y = (x - μ) / √(σ² + ε) ⊙ γ + β                                              [batch_norm.1]
  // x (N, C, H, W) -> y the same. While training μ and σ² are the batch's, over N, H and W, and the
  // running statistics follow them; in evaluation they are the running ones. Errors: another rank
  // or C; in training a single value in each channel.
  Tensor forward(const Tensor& x) override;

  void members(Members& m) override;
  std::string kind() const override { return "BatchNorm2d"; }
  std::string details() const override;
};

}  // namespace labgrad::nn
