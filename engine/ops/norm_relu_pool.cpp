#include "engine/ops/norm_relu_pool.h"

#include "engine/autograd.h"
#include "engine/composed.h"
#include "engine/ops/channel_statistics.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pool.h"

namespace labgrad {
namespace {

constexpr const char* op = "batch_norm_relu_max_pool2d";

struct Inputs {
  Saved x, w, b, mean, variance;
  Tensor r;
  BatchNormOptions options;
  Plane kernel;
};

// The three ops that this one stands for.
Tensors gradients_of_three(const Inputs& in, const Tensor& dy) {
  const bool batch = in.options.training;
  const Tensor mean = batch ? Tensor() : in.mean.get(), var = batch ? Tensor() : in.variance.get();
  return composed_gradients(
      [&](const Tensors& t) {
        return max_pool2d(relu(batch_norm(t[0], mean, var, t[1], t[2], in.options)), in.kernel);
      },
      {in.x, in.w, in.b}, dy);
}

Tensors fused_gradients(const Inputs& in, const Tensor& dy, bool dx_needed) {
  const Tensor& x = in.x;
  auto like = [&](const Shape& shape) { return raw::channels_last(shape, x.dtype(), x.device()); };
  const Tensor dw = like({x.size(1)}), db = like({x.size(1)});
  const Tensor dx = dx_needed ? like(x.shape()) : Tensor();
  kernels(x.device())
      .norm_relu_pool_backward(dx_needed ? dx.array() : Array{}, dw.array(), db.array(), dy.array(),
                               x.array(), in.mean.get().array(), in.r.array(), packed(in.w).array(),
                               packed(in.b).array(), in.kernel, in.options.training);
  return {dx, dw, db};
}

}  // namespace

// ReLU keeps the order of what is above 0, so the pool may come first. The gradient is the same: a
// window whose largest is above 0 chooses the same place before and after ReLU, and in any other
// window ReLU's own gradient is 0, whatever place the pool chooses among equal zeros.
//
// y = max over each window of relu(h ⊙ w + b),  h = (x - μ) r,  r = 1/√(σ² + eps)
// g = dy at the place of the window's first largest, if that is above 0, and 0 at all others
// dx = w r (g - mean g - h mean(g ⊙ h))        dw = Σ g ⊙ h        db = Σ g
// [batch_norm_relu_max_pool2d.grad]
Tensor batch_norm_relu_max_pool2d(const Tensor& x, const Tensor& running_mean,
                                  const Tensor& running_var, const Tensor& weight,
                                  const Tensor& bias, Plane kernel, BatchNormOptions options,
                                  Caller caller) {
  const Shape shape = max_pool2d_shape(op, x, kernel, {}, caller);
  const ChannelStatistics s =
      channel_statistics(op, x, running_mean, running_var, weight, bias, options, caller);
  const Tensor w = weight.defined() ? weight : raw::filled(1, {x.size(1)}, x);
  const Tensor b = bias.defined() ? bias : raw::filled(0, {x.size(1)}, x);
  const Tensor y = raw::channels_last(shape, x.dtype(), x.device());
  kernels(x.device())
      .norm_relu_pool(y.array(), x.array(), s.mean.array(), s.r.array(), packed(w).array(),
                      packed(b).array(), kernel);
  const Inputs in{save(x), save(w), save(b), save(s.mean), save(s.variance), s.r, options, kernel};
  return differentiable_joint(op, {y}, {x, weight, bias},
                              [in, dx_needed = x.requires_grad()](const Tensors& dys) {
                                return grad_enabled() ? gradients_of_three(in, dys[0])
                                                      : fused_gradients(in, dys[0], dx_needed);
                              })[0];
}

}  // namespace labgrad
