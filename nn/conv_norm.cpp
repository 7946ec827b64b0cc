#include "nn/conv_norm.h"

#include <algorithm>

#include "engine/ops/arithmetic.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

namespace labgrad::nn {
namespace {

struct Sides {
  std::int64_t before, after;
};

Sides same(std::int64_t n, std::int64_t kernel, std::int64_t stride) {
  const std::int64_t results = (n + stride - 1) / stride;
  const std::int64_t all = std::max<std::int64_t>((results - 1) * stride + kernel - n, 0);
  return {all / 2, all - all / 2};
}

}  // namespace

Padding padding_of(PaddingRule rule, Plane image, Plane kernel, Plane stride) {
  if (rule == PaddingRule::torchvision) return {(kernel.h - 1) / 2, (kernel.w - 1) / 2};
  const Sides h = same(image.h, kernel.h, stride.h), w = same(image.w, kernel.w, stride.w);
  return {h.before, w.before, h.after, w.after};
}

void fold_batch_norm(Conv2d& conv, const BatchNorm2d& norm) {
  const std::int64_t filters = conv.weight.size(0);
  if (norm.running_mean.size(0) != filters)
    fail("fold_batch_norm: the convolution has " + std::to_string(filters) +
         " filters, the normalisation " + std::to_string(norm.running_mean.size(0)) + " channels");
  NoGrad no_grad;
  Tensor s = rsqrt(norm.running_var + norm.options.eps);
  if (norm.weight.defined()) s = norm.weight * s;
  const Tensor b = conv.bias.defined() ? conv.bias - norm.running_mean : -norm.running_mean;
  conv.weight = reshape(s, {filters, 1, 1, 1}) * conv.weight;
  conv.bias = norm.bias.defined() ? norm.bias + s * b : s * b;
}

ConvNorm::ConvNorm(std::int64_t in, std::int64_t out, std::int64_t kernel, const ConvNormOptions& o,
                   Generator& g)
    : conv(in, out, kernel, {.stride = o.stride, .groups = o.groups, .bias = false}, g),
      norm(out, {.eps = o.eps}),
      activates(o.relu6),
      padding(o.padding) {}

Tensor ConvNorm::forward(const Tensor& x) {
  const Tensor& W = conv.weight;
  labgrad::Conv2dOptions options = conv.options;
  if (x.rank() == 4)  // conv2d says what is wrong with another rank
    options.padding =
        padding_of(padding, {x.size(2), x.size(3)}, {W.size(2), W.size(3)}, options.stride);
  const Tensor h = conv2d(x, W, conv.bias, options);
  const Tensor y = folded_ ? h : norm(h);
  return activates ? relu6(y) : y;
}

void ConvNorm::fold() {
  if (folded_) return;
  fold_batch_norm(conv, norm);
  folded_ = true;
}

void ConvNorm::members(Members& m) {
  m("0", conv);
  if (!folded_) m("1", norm);
}

std::string ConvNorm::details() const {
  return std::string(activates ? "relu6" : "linear") +
         (padding == PaddingRule::tensorflow ? ", padding as in TensorFlow" : "") +
         (folded_ ? ", folded" : "");
}

}  // namespace labgrad::nn
