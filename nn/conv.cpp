#include "nn/conv.h"

#include <fmt/format.h>

#include <cmath>

namespace labgrad::nn {

Conv2d::Conv2d(std::int64_t in, std::int64_t out, Plane kernel, Conv2dOptions o, Generator& g)
    : options{o.stride, o.padding, o.dilation, o.groups} {
  if (o.groups < 1 || in % o.groups != 0 || out % o.groups != 0)
    fail(
        fmt::format("Conv2d: {} groups do not divide {} inputs and {} outputs", o.groups, in, out));
  const std::int64_t channels = in / o.groups;
  weight = empty({out, channels, kernel.h, kernel.w}, o.dtype, default_device());
  kaiming_uniform_(weight, std::sqrt(5.0), g);
  weight.requires_grad_();
  if (o.bias) bias = uniform_parameter({out}, channels * kernel.h * kernel.w, g, o.dtype);
}

void Conv2d::members(Members& m) {
  m("weight", weight);
  m("bias", bias);
}

std::string Conv2d::details() const {
  const Shape& w = weight.shape();
  return fmt::format("in={}, out={}, kernel={}x{}, stride={}x{}, groups={}, bias={}",
                     w[1] * options.groups, w[0], w[2], w[3], options.stride.h, options.stride.w,
                     options.groups, bias.defined());
}

}  // namespace labgrad::nn
