#include "engine/ops/pointwise.h"

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/raw.h"

namespace labgrad {

// y = ln x        dx = dy / x        [log.grad]
Tensor log(const Tensor& x) {
  return differentiable("log", raw::map(Unary::log, "log", x),
                        wrt(x, [x = save(x)](const Tensor& dy) { return dy / x; }));
}

// y = c ? a : b        da = c ? dy : 0        db = c ? 0 : dy        [where.grad]
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, Caller caller) {
  if (condition.dtype() != boolean)
    fail(std::string("where: the condition must be bool, got ") + name_of(condition.dtype()),
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

}  // namespace labgrad
