#pragma once
// Results without a graph: what the ops' forward halves are made of. Each allocates its output,
// writes broadcasts out as strides and calls one kernel.

#include "engine/tensor.h"

namespace labgrad::raw {

// A new tensor whose channels, dimension 1 of 4, lie side by side (engine/ops/conv.h); dense in
// row-major order if it has not 4 dimensions.
Tensor channels_last(const Shape& shape, DType dtype, Device device);
// A new tensor of x's shape that lies in memory as x does: channels last, if x is dense so.
Tensor like(const Tensor& x, DType dtype);

// f(x), elementwise. Error: the op needs a floating dtype and x has none.
Tensor map(Unary f, const char* op, const Tensor& x);

// f(a, b), elementwise with broadcasting; equal dtypes. Error: shapes, devices.
Tensor zip(Binary f, const char* op, const Tensor& a, const Tensor& b, const Caller& caller);

// x reduced to `kept`, x's shape with size 1 where it is reduced.
Tensor reduce(Reduction f, const Tensor& x, const Shape& kept);

// A number as a tensor of rank 0, of a dtype that meets `like`: an integer next to f32 becomes f32,
// a real number next to i64 makes an f32, and f32 next to f64 an f64.
Tensor number(Scalar value, const Tensor& like);

// A new tensor with every element the same, of the dtype and on the device of `like`.
Tensor filled(double value, const Shape& shape, const Tensor& like);

// Error unless a and b are on one device.
[[noreturn]] void different_devices(const char* op, const Tensor& a, const Tensor& b);
inline void check_devices(const char* op, const Tensor& a, const Tensor& b) {
  if (a.device() != b.device()) different_devices(op, a, b);
}

// The dtype in which a and b meet. As in PyTorch, a tensor of rank 0 doesn't lift the dtype of one
// with dimensions within the same kind: f32 (3,) with f64 () stays f32.
DType common_dtype(const Tensor& a, const Tensor& b);

}  // namespace labgrad::raw
