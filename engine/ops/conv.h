#pragma once
// Convolution of images. A batch of images is (N, C, H, W): samples, channels, rows, columns.
//
// How images lie in memory: shapes and indices are always (N, C, H, W), but convolution, pooling
// and batch_norm give results whose channels lie side by side (strides of N, H, W, C: channels
// last), because then a pixel's channels fill vectors. Elementwise ops keep the layout of what they
// get, and every op reads every layout, so code that never looks at strides need not know;
// contiguous(x) gives row-major elements where span<T>() wants them.

#include "engine/tensor.h"

namespace labgrad {

// Zeros around a plane: 1 for all sides, {1, 2} for rows and columns, or each side by name.
struct Padding {
  constexpr Padding(std::int64_t all) : Padding(all, all, all, all) {}
  constexpr Padding(std::int64_t rows, std::int64_t columns)
      : Padding(rows, columns, rows, columns) {}
  constexpr Padding(std::int64_t top_, std::int64_t left_, std::int64_t bottom_,
                    std::int64_t right_)
      : top(top_), left(left_), bottom(bottom_), right(right_) {}

  std::int64_t top, left, bottom, right;
};

struct Conv2dOptions {
  Plane stride = 1;
  Padding padding = 0;
  Plane dilation = 1;       // distance of the filter's elements
  std::int64_t groups = 1;  // channels and filters divided in order; groups = C: depthwise
};

// Cross-correlation: each output pixel is the inner product of a filter with the patch under it.
//   x (N, C, H, W), weight (O, C/groups, kh, kw), bias (O,) or undefined
//   -> (N, O, H', W'), H' = floor((H + top + bottom - dilation (kh - 1) - 1) / stride) + 1
// Errors: ranks, dtypes or devices; channels that don't fit weight and groups; a filter larger than
// the padded image; stride, dilation or groups below 1.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv2dOptions& options = {}, Caller caller = Caller::here());

// The gradient of conv2d by its input, of shape x_shape: also known as transposed convolution.
// Errors: as conv2d; dy is not of the shape that conv2d gives.
Tensor conv2d_input_gradient(const Shape& x_shape, const Tensor& dy, const Tensor& weight,
                             const Conv2dOptions& options = {}, Caller caller = Caller::here());

// The gradient of conv2d by its weight, of shape weight_shape: summed over the batch.
// Errors: as above.
Tensor conv2d_weight_gradient(const Tensor& x, const Shape& weight_shape, const Tensor& dy,
                              const Conv2dOptions& options = {}, Caller caller = Caller::here());

}  // namespace labgrad
