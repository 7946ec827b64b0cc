#pragma once
// Repeating and summing back: the two are each other's gradient, and the sweep itself uses sum_to
// for whatever an op has broadcast.

#include "engine/tensor.h"

namespace labgrad {

// A view of x with the given shape: sizes of 1 (and missing leading dimensions) are repeated,
// without a copy. -1 keeps a size. Error: x's shape does not broadcast to it.
Tensor expand(const Tensor& x, const Shape& shape, Caller caller = Caller::here());

// Sums x over the dimensions in which `shape` is 1 or missing; the inverse of expand.
// Error: `shape` does not broadcast to x's shape.
Tensor sum_to(const Tensor& x, const Shape& shape);

// x with another dtype (x itself if it has that already). Gradients are converted back.
Tensor to(const Tensor& x, DType dtype);  // i64: towards zero; bool: x != 0; both no gradient
// x on another device (x itself if it is there already).
Tensor to(const Tensor& x, Device device);

// A copy with storage of its own.
Tensor clone(const Tensor& x);
// x with row-major elements: x itself if they are so already, else a copy.
Tensor contiguous(const Tensor& x);

}  // namespace labgrad
