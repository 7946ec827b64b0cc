#pragma once
// BatchNorm2d: each channel of a batch of images brought to mean 0 and variance 1, then scaled and
// shifted. Ioffe and Szegedy 2015, Batch Normalization.

#include "engine/kernels.h"
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

// The three layers BatchNorm2d, ReLU and MaxPool2d(window) as one, which saves most of their time:
// it lies in memory. The weights, buffers and names are BatchNorm2d's.
class BatchNormReLUMaxPool2d : public BatchNorm2d {
 public:
  Plane window;

  BatchNormReLUMaxPool2d(std::int64_t channels, Plane window_, BatchNormOptions options_ = {})
      : BatchNorm2d(channels, options_), window(window_) {}

  // y = max over each window of max(n, 0), n = batch_norm(x) [batch_norm_relu_max_pool2d.1] x (N,
  // C, H, W) -> y (N, C, H / window.h, W / window.w)
  Tensor forward(const Tensor& x) override;

  std::string kind() const override { return "BatchNormReLUMaxPool2d"; }
  std::string details() const override;
};

}  // namespace labgrad::nn
