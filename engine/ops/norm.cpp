#include "engine/ops/norm.h"

#include <optional>

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

namespace labgrad {
namespace {

// The last `n` dimensions made one, and all before them.
Shape rows_of(const Shape& x, int n) {
  Shape rows;
  for (int d = 0; d < x.rank() - n; ++d) rows.push_back(x[d]);
  std::int64_t width = 1;
  for (int d = x.rank() - n; d < x.rank(); ++d) width *= x[d];
  rows.push_back(width);
  return rows;
}

std::optional<Saved> save_if_defined(const Tensor& x) {
  return x.defined() ? std::optional<Saved>(save(x)) : std::nullopt;
}

Array array_or_none(const Tensor& x) { return x.defined() ? x.array() : Array{}; }

void check_parameter(const char* name, const Tensor& p, const Tensor& x, const Shape& shape,
                     const Caller& caller) {
  if (!p.defined() || (p.shape() == shape && p.dtype() == x.dtype() && p.device() == x.device()))
    return;
  fail(std::string("layer_norm: ") + name + " is " + name_of(p.dtype()) + " " + p.shape().str() +
           " on " + name_of(p.device()) + ", expected " + name_of(x.dtype()) + " " + shape.str() +
           " on " + name_of(x.device()),
       caller);
}

// Rows along the last dimension, with the statistics that backward needs.
struct Normalised {
  Tensor y, mean, rstd;
};

Normalised raw_layer_norm(const Tensor& x, const Tensor& w, const Tensor& b, double eps) {
  Shape one = x.shape();
  one[x.rank() - 1] = 1;
  Normalised n{empty(x.shape(), x.dtype(), x.device()), empty(one, x.dtype(), x.device()),
               empty(one, x.dtype(), x.device())};
  kernels(x.device())
      .layer_norm(n.y.array(), n.mean.array(), n.rstd.array(), x.array(), array_or_none(w),
                  array_or_none(b), eps);
  return n;
}

// r = 1/√(σ² + eps) and h = (x - μ) r, recorded as functions of x.
struct Standard {
  Tensor r, h;
};

Standard standardised(const Tensor& x, double eps) {
  const Tensor deviation = x - mean(x, -1, true);
  const Tensor r = rsqrt(mean(square(deviation), -1, true) + eps);
  return {r, deviation * r};
}

// y = h ⊙ w + b        h = (x - μ) r        r = 1/√(σ² + eps)
// dx = r (g - mean g - h mean(g ⊙ h)) with g = dy ⊙ w        dw = Σ dy ⊙ h        db = Σ dy
// [layer_norm.grad]
Tensor over_last(const Tensor& x, const Tensor& w, const Tensor& b, double eps) {
  const Normalised n = raw_layer_norm(x, w, b, eps);
  return differentiable(
      "layer_norm", n.y,
      wrt(x,
          [x = save(x), w = save_if_defined(w), mu = n.mean, r = n.rstd, eps](const Tensor& dy) {
            const Tensor weight = w ? w->get() : Tensor();
            if (!grad_enabled()) {
              Tensor dx = empty(x.get().shape(), dy.dtype(), dy.device());
              kernels(dy.device())
                  .layer_norm_backward(dx.array(), dy.array(), x.get().array(), mu.array(),
                                       r.array(), array_or_none(weight));
              return dx;
            }
            const Standard s = standardised(x, eps);
            const Tensor g = weight.defined() ? dy * weight : dy;
            return s.r * (g - mean(g, -1, true) - s.h * mean(g * s.h, -1, true));
          }),
      wrt(w,
          [x = save(x), mu = n.mean, r = n.rstd, eps](const Tensor& dy) {
            if (grad_enabled()) return dy * standardised(x, eps).h;
            return dy * ((x.get() - mu) * r);
          }),
      wrt(b, [](const Tensor& dy) { return dy; }));
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps, Caller caller) {
  const int n = normalized_shape.rank(), before = x.rank() - n;
  bool fits = n > 0 && before >= 0;
  for (int d = 0; fits && d < n; ++d) fits = x.shape()[before + d] == normalized_shape[d];
  if (!fits)
    fail("layer_norm: normalized_shape " + normalized_shape.str() +
             " is not the end of the input's shape " + x.shape().str(),
         caller);
  if (!is_floating(x.dtype()))
    fail(std::string("layer_norm: needs a floating dtype (f32 or f64), got ") + name_of(x.dtype()) +
             " " + x.shape().str(),
         caller);
  check_parameter("weight", weight, x, normalized_shape, caller);
  check_parameter("bias", bias, x, normalized_shape, caller);
  if (n == 1) return over_last(x, weight, bias, eps);
  auto flat = [](const Tensor& p) { return p.defined() ? reshape(p, {p.numel()}) : p; };
  return reshape(over_last(reshape(x, rows_of(x.shape(), n)), flat(weight), flat(bias), eps),
                 x.shape());
}

}  // namespace labgrad
