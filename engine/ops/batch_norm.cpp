#include "engine/ops/batch_norm.h"

#include <vector>

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/channel_statistics.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/raw.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

namespace labgrad {
namespace {

// All dimensions but the channels'.
Dims over(const Tensor& x) {
  std::vector<std::int64_t> dims{0};
  for (int d = 2; d < x.rank(); ++d) dims.push_back(d);
  return dims;
}

// A number for each channel, to meet x.
Tensor beside(const Tensor& p, const Tensor& x) {
  Shape shape = Shape::filled(x.rank() - 1, 1);
  shape[0] = x.size(1);
  return reshape(p, shape);
}

Tensor packed_if_defined(const Tensor& p) { return p.defined() ? packed(p) : p; }
Array array_or_none(const Tensor& p) { return p.defined() ? p.array() : Array{}; }

// What the gradients are made of, recorded as functions of x: h = (x - μ) r.
struct Standard {
  Tensor r, h;
};

Standard standardised(const Tensor& x, const Tensor& mu, const Tensor& r, double eps, bool batch) {
  if (!batch) return {beside(r, x), (x - beside(mu, x)) * beside(r, x)};
  const Tensor deviation = x - mean(x, over(x), true);
  const Tensor root = rsqrt(mean(square(deviation), over(x), true) + eps);
  return {root, deviation * root};
}

struct Inputs {
  Saved x, w, mu;
  Tensor r;
  double eps;
  bool batch;  // μ and r are the batch's, functions of x
};

// h = (x - μ) r,  g = dy ⊙ w:  dw = Σ dy ⊙ h,  db = Σ dy,
// dx = r (g - mean g - h mean(g ⊙ h)), or dx = r g where μ and r are constants.
Tensors composed_gradients(const Inputs& in, const Tensor& dy) {
  const Tensor& x = in.x;
  const auto [r, h] = standardised(x, in.mu, in.r, in.eps, in.batch);
  const Tensor g = dy * beside(in.w, x);
  const Tensor dx =
      in.batch ? r * (g - mean(g, over(x), true) - h * mean(g * h, over(x), true)) : r * g;
  return {dx, sum(dy * h, over(x)), sum(dy, over(x))};
}

Tensors fused_gradients(const Inputs& in, const Tensor& dy, bool dx_needed) {
  const Tensor &x = in.x, &w = in.w;
  Tensor dx, dw = empty(w.shape(), x.dtype(), x.device()),
             db = empty(w.shape(), x.dtype(), x.device());
  if (dx_needed && in.batch) dx = raw::channels_last(x.shape(), x.dtype(), x.device());
  kernels(x.device())
      .batch_norm_backward(dx.defined() ? dx.array() : Array{}, dw.array(), db.array(), dy.array(),
                           x.array(), in.mu.get().array(), in.r.array(), packed(w).array());
  if (dx_needed && !in.batch) dx = dy * beside(in.r * w, x);
  return {dx, dw, db};
}

// y = h ⊙ w + b,  h = (x - μ) r,  r = 1/√(σ² + eps)
// dx = w r (dy - mean dy - h mean(dy ⊙ h))        dw = Σ dy ⊙ h        db = Σ dy
// [batch_norm.grad]
Tensor normalised(const Tensor& x, const ChannelStatistics& s, const Tensor& w, const Tensor& b,
                  double eps, bool batch) {
  Tensor y = raw::channels_last(x.shape(), x.dtype(), x.device());
  const Tensor scale = packed_if_defined(w), shift = packed_if_defined(b);
  kernels(x.device())
      .batch_norm(y.array(), x.array(), s.mean.array(), s.r.array(), array_or_none(scale),
                  array_or_none(shift));
  const Inputs in{save(x),      save(w.defined() ? w : raw::filled(1, {x.size(1)}, x)),
                  save(s.mean), s.r,
                  eps,          batch};
  return differentiable_joint("batch_norm", {y}, {x, w, b},
                              [in, dx_needed = x.requires_grad()](const Tensors& dys) {
                                return grad_enabled() ? composed_gradients(in, dys[0])
                                                      : fused_gradients(in, dys[0], dx_needed);
                              })[0];
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, BatchNormOptions options,
                  Caller caller) {
  const ChannelStatistics s =
      channel_statistics("batch_norm", x, running_mean, running_var, weight, bias, options, caller);
  return normalised(x, s, weight, bias, options.eps, options.training);
}

}  // namespace labgrad
