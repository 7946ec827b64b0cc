#include "engine/ops/raw.h"

namespace labgrad::raw {
namespace {

Strides channels_last_strides(const Shape& s) { return {s[1] * s[2] * s[3], 1, s[1] * s[3], s[1]}; }

inline bool is_channels_last(const Tensor& x) {
  return x.rank() == 4 && !x.is_contiguous() && x.strides() == channels_last_strides(x.shape());
}

}  // namespace

Tensor channels_last(const Shape& shape, DType dtype, Device device) {
  const Tensor y = empty(shape, dtype, device);
  return shape.rank() == 4 ? alias(y, shape, channels_last_strides(shape)) : y;
}

Tensor like(const Tensor& x, DType dtype) {
  return is_channels_last(x) ? channels_last(x.shape(), dtype, x.device())
                             : empty(x.shape(), dtype, x.device());
}

Tensor map(Unary f, const char* op, const Tensor& x) {
  const bool any_dtype = f == Unary::neg || f == Unary::abs || f == Unary::sign ||
                         f == Unary::square || f == Unary::logical_not;
  if (!any_dtype && !is_floating(x.dtype()))
    fail(std::string(op) + ": needs a floating dtype (f32 or f64), got " + name_of(x.dtype()) +
         " " + x.shape().str() + "; convert it with to(x, f32)");
  Tensor y = like(x, f == Unary::is_finite ? boolean : x.dtype());
  kernels(x.device()).map(f, y.array(), x.array());
  return y;
}

void different_devices(const char* op, const Tensor& a, const Tensor& b) {
  fail(std::string(op) + ": the operands are on different devices, " + name_of(a.device()) +
       " and " + name_of(b.device()));
}

Tensor zip(Binary f, const char* op, const Tensor& a, const Tensor& b, const Caller& caller) {
  check_devices(op, a, b);
  const bool gives_bool = f >= Binary::eq;
  const DType dtype = gives_bool ? boolean : a.dtype();
  const Kernels& k = kernels(a.device());
  if (a.shape() == b.shape()) {
    Tensor y = like(is_channels_last(b) ? b : a, dtype);
    k.zip(f, y.array(), a.array(), b.array());
    return y;
  }
  const Shape shape = broadcast_shapes(a.shape(), b.shape(), op, caller);
  const bool as_a = a.shape() == shape && is_channels_last(a);
  const bool as_b = b.shape() == shape && is_channels_last(b);
  Tensor y =
      as_a || as_b ? channels_last(shape, dtype, a.device()) : empty(shape, dtype, a.device());
  k.zip(f, y.array(), a.array().expanded(shape), b.array().expanded(shape));
  return y;
}

Tensor reduce(Reduction f, const Tensor& x, const Shape& kept) {
  Tensor y = empty(kept, x.dtype(), x.device());
  kernels(x.device()).reduce(f, y.array(), x.array());
  return y;
}

Tensor number(Scalar value, const Tensor& like) {
  DType dtype = promote(like.dtype(), value.dtype);
  if (is_floating(like.dtype())) dtype = like.dtype();
  Tensor s = empty({}, dtype, like.device());
  s.fill_(value);
  return s;
}

Tensor filled(double value, const Shape& shape, const Tensor& like) {
  Tensor y = empty(shape, like.dtype(), like.device());
  kernels(like.device()).fill(y.array(), value);
  return y;
}

DType common_dtype(const Tensor& a, const Tensor& b) {
  auto kind = [](DType t) { return is_floating(t) ? 2 : t == DType::i64 ? 1 : 0; };
  if (kind(a.dtype()) == kind(b.dtype())) {
    if (a.rank() == 0 && b.rank() > 0) return b.dtype();
    if (b.rank() == 0 && a.rank() > 0) return a.dtype();
  }
  return promote(a.dtype(), b.dtype());
}

}  // namespace labgrad::raw
