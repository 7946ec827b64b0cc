#include "engine/ops/select.h"

#include <limits>

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/raw.h"

namespace labgrad {

// y = c ? a : b        da = c ? dy : 0        db = c ? 0 : dy        [where.grad]
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, Caller caller) {
  if (condition.dtype() != boolean)
    fail(std::string("where: the condition must be bool, got ") + name_of(condition.dtype()) +
             "; compare it first, for example where(x > 0, a, b)",
         caller);
  if (a.dtype() != b.dtype()) {
    const DType dtype = raw::common_dtype(a, b);
    return where(condition, to(a, dtype), to(b, dtype), caller);
  }
  raw::check_devices("where", a, b);
  raw::check_devices("where", condition, a);
  const Shape shape = broadcast_shapes(
      condition.shape(), broadcast_shapes(a.shape(), b.shape(), "where", caller), "where", caller);
  Tensor y = empty(shape, a.dtype(), a.device());
  kernels(a.device())
      .where(y.array(), condition.array().expanded(shape), a.array().expanded(shape),
             b.array().expanded(shape));
  return differentiable(
      "where", y, wrt(a, [c = save(condition)](const Tensor& dy) { return where(c, dy, 0); }),
      wrt(b, [c = save(condition)](const Tensor& dy) { return where(c, 0, dy); }));
}

Tensor where(const Tensor& condition, Scalar a, const Tensor& b, Caller caller) {
  return where(condition, raw::number(a, b), b, caller);
}
Tensor where(const Tensor& condition, const Tensor& a, Scalar b, Caller caller) {
  return where(condition, a, raw::number(b, a), caller);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, Scalar value, Caller caller) {
  if (mask.dtype() != boolean)
    fail(std::string("masked_fill: the mask must be bool, got ") + name_of(mask.dtype()), caller);
  if (!is_floating(x.dtype()) && value.dtype == f32)
    fail(std::string("masked_fill: the value is a real number, the tensor ") + name_of(x.dtype()) +
             " " + x.shape().str() + "; convert it with to(x, f32)",
         caller);
  return where(mask, value, x, caller);
}

// y = min(max(x, lo), hi)        dx = lo ≤ x ≤ hi ? dy : 0        [clamp.grad]
Tensor clamp(const Tensor& x, std::optional<Scalar> lo, std::optional<Scalar> hi) {
  const bool real = (lo && lo->dtype == f32) || (hi && hi->dtype == f32);
  if (!is_floating(x.dtype()) && (real || x.dtype() == boolean))
    return clamp(to(x, real ? f32 : i64), lo, hi);
  if (x.dtype() == i64) {  // not through double, which holds whole numbers up to 2^53
    const Tensor above = lo ? maximum(x, *lo) : x;
    return hi ? minimum(above, *hi) : above;
  }
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double low = lo ? lo->value : -inf, high = hi ? hi->value : inf;
  Tensor y = raw::like(x, x.dtype());
  kernels(x.device()).clamp(y.array(), x.array(), low, high);
  return differentiable("clamp", y, wrt(x, [x = save(x), low, high](const Tensor& dy) {
                          const Tensor& v = x;
                          return where((v >= low) & (v <= high), dy, 0);
                        }));
}

// y = max(a, b)        da = a > b ? dy : a = b ? dy/2 : 0        db likewise        [maximum.grad]
Tensor maximum(const Tensor& a, const Tensor& b, Caller caller) {
  if (a.dtype() != b.dtype()) {
    const DType dtype = raw::common_dtype(a, b);
    return maximum(to(a, dtype), to(b, dtype), caller);
  }
  auto share = [a = save(a), b = save(b)](const Tensor& dy) {
    return where(a.get() > b, dy, where(a.get() == b, dy * 0.5, 0));
  };
  auto other = [a = save(a), b = save(b)](const Tensor& dy) {
    return where(b.get() > a, dy, where(a.get() == b, dy * 0.5, 0));
  };
  return differentiable("maximum", raw::zip(Binary::maximum, "maximum", a, b, caller),
                        wrt(a, std::move(share)), wrt(b, std::move(other)));
}

// y = min(a, b)        da = a < b ? dy : a = b ? dy/2 : 0        db likewise        [minimum.grad]
Tensor minimum(const Tensor& a, const Tensor& b, Caller caller) {
  if (a.dtype() != b.dtype()) {
    const DType dtype = raw::common_dtype(a, b);
    return minimum(to(a, dtype), to(b, dtype), caller);
  }
  auto share = [a = save(a), b = save(b)](const Tensor& dy) {
    return where(a.get() < b, dy, where(a.get() == b, dy * 0.5, 0));
  };
  auto other = [a = save(a), b = save(b)](const Tensor& dy) {
    return where(b.get() < a, dy, where(a.get() == b, dy * 0.5, 0));
  };
  return differentiable("minimum", raw::zip(Binary::minimum, "minimum", a, b, caller),
                        wrt(a, std::move(share)), wrt(b, std::move(other)));
}

Tensor maximum(const Tensor& a, Scalar b, Caller caller) {
  return maximum(a, raw::number(b, a), caller);
}
Tensor minimum(const Tensor& a, Scalar b, Caller caller) {
  return minimum(a, raw::number(b, a), caller);
}

}  // namespace labgrad
