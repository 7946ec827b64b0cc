#include "nn/batch_norm.h"

#include <fmt/format.h>

#include "engine/ops/batch_norm.h"
#include "engine/ops/norm_relu_pool.h"

namespace labgrad::nn {

BatchNorm2d::BatchNorm2d(std::int64_t channels, BatchNormOptions o) : options(o) {
  const auto all = [channels](double value) {
    return empty({channels}, f32, default_device()).fill_(value);
  };
  running_mean = all(0);
  running_var = all(1);
  if (!o.affine) return;
  weight = all(1).requires_grad_();
  bias = all(0).requires_grad_();
}

Tensor BatchNorm2d::forward(const Tensor& x) {
  if (x.rank() != 4)
    fail("BatchNorm2d: needs images (N, C, H, W), got a tensor of shape " + x.shape().str());
  return batch_norm(x, running_mean, running_var, weight, bias,
                    {.training = training, .momentum = options.momentum, .eps = options.eps});
}

void BatchNorm2d::members(Members& m) {
  m("weight", weight);
  m("bias", bias);
  m.buffer("running_mean", running_mean);
  m.buffer("running_var", running_var);
}

std::string BatchNorm2d::details() const {
  return fmt::format("channels={}, eps={}, momentum={}", running_mean.size(0), options.eps,
                     options.momentum);
}

Tensor BatchNormReLUMaxPool2d::forward(const Tensor& x) {
  return batch_norm_relu_max_pool2d(
      x, running_mean, running_var, weight, bias, window,
      {.training = training, .momentum = options.momentum, .eps = options.eps});
}

std::string BatchNormReLUMaxPool2d::details() const {
  return fmt::format("{}, window={}x{}", BatchNorm2d::details(), window.h, window.w);
}

}  // namespace labgrad::nn
