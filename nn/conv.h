#pragma once
// Conv2d: filters that move over images.

#include "engine/ops/conv.h"
#include "nn/init.h"
#include "nn/layer.h"

namespace labgrad::nn {

struct Conv2dOptions {
  Plane stride = 1;
  Padding padding = 0;
  Plane dilation = 1;
  std::int64_t groups = 1;  // must divide both `in` and `out`
  bool bias = true;
  DType dtype = f32;
};

class Conv2d : public Layer {
 public:
  Tensor weight;  // W (out, in / groups, kernel.h, kernel.w)
  Tensor bias;    // b (out,); undefined without
  labgrad::Conv2dOptions options;

  // W and b are drawn as PyTorch's: W first, both uniform in ±1/√(in/groups · kernel.h · kernel.w).
  // Error: groups does not divide in and out.
  Conv2d(std::int64_t in, std::int64_t out, Plane kernel, Conv2dOptions options = {},
         Generator& g = default_generator());

  // y = x * W + b                                                                    [conv2d.1]
  // x (N, in, H, W) -> y (N, out, H', W'); engine/ops/conv.h has the sizes and errors.
  Tensor forward(const Tensor& x) override { return conv2d(x, weight, bias, options); }

  void members(Members& m) override;
  std::string kind() const override { return "Conv2d"; }
  std::string details() const override;
};

}  // namespace labgrad::nn
