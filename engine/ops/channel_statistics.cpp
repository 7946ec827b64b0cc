#include "engine/ops/channel_statistics.h"

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/pointwise.h"

namespace labgrad {
namespace {

void check_channels(const char* op, const char* name, const Tensor& p, const Tensor& x,
                    const Caller& caller) {
  const Shape channels{x.size(1)};
  if (!p.defined() || (p.shape() == channels && p.dtype() == x.dtype() && p.device() == x.device()))
    return;
  fail(std::string(op) + ": " + name + " is " + name_of(p.dtype()) + " " + p.shape().str() +
           " on " + name_of(p.device()) + ", expected " + name_of(x.dtype()) + " " +
           channels.str() + " on " + name_of(x.device()) + " for an input of shape " +
           x.shape().str(),
       caller);
}

// running ← (1 - momentum) running + momentum new        [batch_norm.running]
void move_towards(Tensor running, const Tensor& now, double momentum, double factor) {
  if (running.defined()) running.mul_(1 - momentum).add_(now, momentum * factor);
}

}  // namespace

ChannelStatistics channel_statistics(const char* op, const Tensor& x, const Tensor& running_mean,
                                     const Tensor& running_var, const Tensor& weight,
                                     const Tensor& bias, const BatchNormOptions& options,
                                     const Caller& caller) {
  const std::string name = std::string(op) + ": ";
  if (x.rank() < 2 || !is_floating(x.dtype()))
    fail(name + "needs a floating input (N, C, ...), got " + name_of(x.dtype()) + " " +
             x.shape().str(),
         caller);
  check_channels(op, "running_mean", running_mean, x, caller);
  check_channels(op, "running_var", running_var, x, caller);
  check_channels(op, "weight", weight, x, caller);
  check_channels(op, "bias", bias, x, caller);
  NoGrad no_grad;
  if (!options.training) {
    if (!running_mean.defined() || !running_var.defined())
      fail(name + "evaluation needs running_mean and running_var", caller);
    return {packed(running_mean), packed(running_var), rsqrt(running_var + options.eps)};
  }
  const std::int64_t channels = x.size(1), m = channels > 0 ? x.numel() / channels : 2;
  if (m < 2)
    fail(name + "an input of shape " + x.shape().str() + " has " + std::to_string(m) +
             " values in a channel, which have no variance; training needs at least two (a larger "
             "batch), evaluation uses the running statistics",
         caller);
  const Tensor mean = empty({channels}, x.dtype(), x.device());
  const Tensor variance = empty({channels}, x.dtype(), x.device());
  kernels(x.device()).channel_moments(mean.array(), variance.array(), x.array());
  const double count = static_cast<double>(m);
  move_towards(running_mean, mean, options.momentum, 1);
  move_towards(running_var, variance, options.momentum, count / (count - 1));
  return {mean, variance, rsqrt(variance + options.eps)};
}

}  // namespace labgrad
