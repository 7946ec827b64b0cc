#pragma once
// Windows that move over images (N, C, H, W). How the results lie in memory: engine/ops/conv.h.

#include <optional>

#include "engine/ops/reduce.h"
#include "engine/tensor.h"

namespace labgrad {

struct MaxPool2dOptions {
  std::optional<Plane> stride = {};  // none: the kernel's size, so that windows don't overlap
  Plane padding = 0;                 // at most half the kernel
  Plane dilation = 1;
  bool ceil_mode = false;  // a last window that hangs over the edge counts, if it starts before it
};

struct AvgPool2dOptions {
  std::optional<Plane> stride = {};
  Plane padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;  // the divisor counts the padding under the window
};

// The largest of each window: (N, C, H, W) -> (N, C, H', W'),
//   H' = floor((H + 2 padding - dilation (kernel - 1) - 1) / stride) + 1, ceil with ceil_mode.
// Padding is never chosen; the first of equal values, in row-major order, gets the gradient; a NaN
// is larger than all else.
// Errors: rank or dtype; sizes below 1; padding above half the kernel; a window without elements.
Tensor max_pool2d(const Tensor& x, Plane kernel, const MaxPool2dOptions& options = {},
                  Caller caller = Caller::here());
// The shape of the result, for an op that pools by the way. Errors: those above, in the name of op.
Shape max_pool2d_shape(const char* op, const Tensor& x, Plane kernel,
                       const MaxPool2dOptions& options, const Caller& caller);
// The same, with each one's place h W + w in its plane.
Extremes max_pool2d_with_indices(const Tensor& x, Plane kernel,
                                 const MaxPool2dOptions& options = {},
                                 Caller caller = Caller::here());

// The mean of each window; the padding counts as zeros. Errors: as max_pool2d.
Tensor avg_pool2d(const Tensor& x, Plane kernel, const AvgPool2dOptions& options = {},
                  Caller caller = Caller::here());
// Its gradient by x, of shape x_shape. Errors: as above; dy is not of the result's shape.
Tensor avg_pool2d_gradient(const Shape& x_shape, const Tensor& dy, Plane kernel,
                           const AvgPool2dOptions& options = {}, Caller caller = Caller::here());

// Means of H' x W' windows that cover the plane: window i has the rows floor(i H / H') to
// ceil((i + 1) H / H'). Errors: rank, dtype, a size below 1 or an empty plane.
Tensor adaptive_avg_pool2d(const Tensor& x, Plane size, Caller caller = Caller::here());

}  // namespace labgrad
