#include "engine/ops/softmax.h"

#include <limits>

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/raw.h"
#include "engine/ops/reduce.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"

namespace labgrad {
namespace {

int checked_dim(const Tensor& x, std::int64_t dim, const char* op, const Caller& caller) {
  if (!is_floating(x.dtype()))
    fail(std::string(op) + ": needs a floating dtype (f32 or f64), got " + name_of(x.dtype()) +
             " " + x.shape().str() + "; convert it with to(x, f32)",
         caller);
  return wrap_dim(dim, x.rank(), op);
}

Tensor raw_softmax(const Tensor& x, int dim, bool log) {
  Tensor y = empty(x.shape(), x.dtype(), x.device());
  kernels(x.device()).softmax(y.array(), x.array(), dim, log);
  return y;
}

Tensor fused_backward(const Tensor& y, const Tensor& dy, int dim, bool log) {
  Tensor dx = empty(y.shape(), y.dtype(), y.device());
  kernels(y.device()).softmax_backward(dx.array(), y.array(), dy.array(), dim, log);
  return dx;
}

// The gradient of softmax and of masked_softmax, as a function of the result alone.
Tensor softmax_gradient(const Tensor& dy, const Tensor& y, int dim) {
  if (!grad_enabled()) return fused_backward(y, dy, dim, false);
  return y * (dy - sum(dy * y, dim, true));
}

}  // namespace

// y = e^x / Σ e^x        dx = y ⊙ (dy - Σ dy ⊙ y)        [softmax.grad]
Tensor softmax(const Tensor& x, std::int64_t dim, Caller caller) {
  const int d = checked_dim(x, dim, "softmax", caller);
  if (x.rank() == 0) return reshape(softmax(reshape(x, {1}), 0), {});
  return differentiable(
      "softmax", raw_softmax(x, d, false),
      wrt(x, [d](const Tensor& dy, const Tensor& y) { return softmax_gradient(dy, y, d); }));
}

// y = x - ln Σ e^x        dx = dy - e^y Σ dy        [log_softmax.grad]
Tensor log_softmax(const Tensor& x, std::int64_t dim, Caller caller) {
  const int d = checked_dim(x, dim, "log_softmax", caller);
  if (x.rank() == 0) return reshape(log_softmax(reshape(x, {1}), 0), {});
  return differentiable("log_softmax", raw_softmax(x, d, true),
                        wrt(x, [d](const Tensor& dy, const Tensor& y) {
                          if (!grad_enabled()) return fused_backward(y, dy, d, true);
                          return dy - exp(y) * sum(dy, d, true);
                        }));
}

// y = keep ? e^x / Σ_kept e^x : 0        dx = y ⊙ (dy - Σ dy ⊙ y)        [masked_softmax.grad]
Tensor masked_softmax(const Tensor& x, const Tensor& keep, std::int64_t dim, Caller caller) {
  const int d = checked_dim(x, dim, "masked_softmax", caller);
  if (keep.dtype() != boolean)
    fail(std::string("masked_softmax: keep must be bool (true where attending is allowed), got ") +
             name_of(keep.dtype()),
         caller);
  if (!broadcasts_to(keep.shape(), x.shape()))
    fail("masked_softmax: keep of shape " + keep.shape().str() + " does not broadcast to the " +
             "scores' shape " + x.shape().str(),
         caller);
  if (x.rank() == 0) return reshape(masked_softmax(reshape(x, {1}), reshape(keep, {1}), 0), {});
  Tensor y;
  {
    NoGrad no_grad;
    const Tensor scores = where(keep, x, -std::numeric_limits<double>::infinity());
    // A row without anything to keep is NaN by now.
    y = where(keep, raw_softmax(scores, d, false), 0);
  }
  return differentiable("masked_softmax", y, wrt(x, [d](const Tensor& dy, const Tensor& out) {
                          return softmax_gradient(dy, out, d);
                        }));
}

}  // namespace labgrad
