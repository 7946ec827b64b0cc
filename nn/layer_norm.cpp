#include "nn/layer_norm.h"

#include <fmt/format.h>

#include "engine/ops/norm.h"

namespace labgrad::nn {

LayerNorm::LayerNorm(std::int64_t width_, LayerNormOptions options)
    : width(width_), eps(options.eps) {
  if (!options.affine) return;
  weight = empty({width}, f32, default_device()).fill_(1);
  bias = empty({width}, f32, default_device()).zero_();
  weight.requires_grad_();
  bias.requires_grad_();
}

Tensor LayerNorm::forward(const Tensor& x) { return layer_norm(x, {width}, weight, bias, eps); }

void LayerNorm::members(Members& m) {
  m("weight", weight);
  m("bias", bias);
}

std::string LayerNorm::details() const { return fmt::format("width={}, eps={}", width, eps); }

}  // namespace labgrad::nn
