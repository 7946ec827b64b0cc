#pragma once
// Pooling as layers; engine/ops/pool.h has the sizes and errors.

#include "engine/ops/pool.h"
#include "nn/layer.h"

namespace labgrad::nn {

class MaxPool2d : public Layer {
 public:
  Plane kernel;
  MaxPool2dOptions options;

  // Without a stride windows lie side by side.
  explicit MaxPool2d(Plane kernel_, MaxPool2dOptions options_ = {})
      : kernel(kernel_), options(options_) {}

  // y = max over each window of x (N, C, H, W)                                   [max_pool2d.1]
  Tensor forward(const Tensor& x) override { return max_pool2d(x, kernel, options); }

  void members(Members&) override {}
  std::string kind() const override { return "MaxPool2d"; }
  std::string details() const override;
};

class AvgPool2d : public Layer {
 public:
  Plane kernel;
  AvgPool2dOptions options;

  explicit AvgPool2d(Plane kernel_, AvgPool2dOptions options_ = {})
      : kernel(kernel_), options(options_) {}

  // y = mean over each window of x (N, C, H, W)                                  [avg_pool2d.1]
  Tensor forward(const Tensor& x) override { return avg_pool2d(x, kernel, options); }

  void members(Members&) override {}
  std::string kind() const override { return "AvgPool2d"; }
  std::string details() const override;
};

class AdaptiveAvgPool2d : public Layer {
 public:
  Plane size;

  explicit AdaptiveAvgPool2d(Plane size_) : size(size_) {}

  // x (N, C, H, W) -> y (N, C, size.h, size.w)
  Tensor forward(const Tensor& x) override { return adaptive_avg_pool2d(x, size); }

  void members(Members&) override {}
  std::string kind() const override { return "AdaptiveAvgPool2d"; }
  std::string details() const override;
};

}  // namespace labgrad::nn
