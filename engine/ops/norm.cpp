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

struct Inputs {
  Saved x;
  std::optional<Saved> w;
  Tensor mu, r;
  double eps;
  bool x_needed, parameters_needed;
};

Tensors composed_gradients(const Inputs& in, const Tensor& dy) {
  const Standard s = standardised(in.x, in.eps);
  const Tensor g = in.w ? dy * in.w->get() : dy;
  const Tensor dx = s.r * (g - mean(g, -1, true) - s.h * mean(g * s.h, -1, true));
  return {dx, dy * s.h, dy};
}

Tensors fused_gradients(const Inputs& in, const Tensor& dy) {
  const Tensor& x = in.x;
  const Shape width{x.size(-1)};
  Tensor dx, dw, db;
  if (in.x_needed) dx = empty(x.shape(), x.dtype(), x.device());
  if (in.parameters_needed) {
    dw = empty(width, x.dtype(), x.device());
    db = empty(width, x.dtype(), x.device());
  }
  kernels(x.device())
      .layer_norm_backward(array_or_none(dx), array_or_none(dw), array_or_none(db), dy.array(),
                           x.array(), in.mu.array(), in.r.array(),
                           in.w ? in.w->get().array() : Array{});
  return {dx, dw, db};
}

// y = h ⊙ w + b        h = (x - μ) r        r = 1/√(σ² + eps)
// dx = r (g - mean g - h mean(g ⊙ h)) with g = dy ⊙ w        dw = Σ dy ⊙ h        db = Σ dy
// [layer_norm.grad]
Tensor over_last(const Tensor& x, const Tensor& w, const Tensor& b, double eps) {
  const Normalised n = raw_layer_norm(x, w, b, eps);
  const Inputs in{save(x),
                  w.defined() ? std::optional<Saved>(save(w)) : std::nullopt,
                  n.mean,
                  n.rstd,
                  eps,
                  x.requires_grad(),
                  w.requires_grad() || b.requires_grad()};
  return differentiable_joint("layer_norm", {n.y}, {x, w, b}, [in](const Tensors& dys) {
    return grad_enabled() ? composed_gradients(in, dys[0]) : fused_gradients(in, dys[0]);
  })[0];
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
