#pragma once
// Three layers of a convolutional block in one pass over its largest tensor.

#include "engine/ops/batch_norm.h"

namespace labgrad {

// max_pool2d(relu(batch_norm(x, ...)), kernel): the same values, gradients and running statistics,
// but nothing of x's size is made in between or kept besides x itself. Windows lie side by side;
// rows and columns left over at the end take part in the statistics alone.
// x (N, C, H, W) -> y (N, C, H / kernel.h, W / kernel.w). Errors: those of the three.
Tensor batch_norm_relu_max_pool2d(const Tensor& x, const Tensor& running_mean,
                                  const Tensor& running_var, const Tensor& weight,
                                  const Tensor& bias, Plane kernel, BatchNormOptions options = {},
                                  Caller caller = Caller::here());

}  // namespace labgrad
