#include "nn/linear.h"

#include <fmt/format.h>

#include <cmath>

namespace labgrad::nn {

Linear::Linear(std::int64_t in, std::int64_t out, LinearOptions options, Generator& g) {
  weight = empty({out, in}, options.dtype, default_device());
  kaiming_uniform_(weight, std::sqrt(5.0), g);
  weight.requires_grad_();
  if (options.bias) bias = uniform_parameter({out}, in, g, options.dtype);
}

void Linear::members(Members& m) {
  m("weight", weight);
  m("bias", bias);
}

std::string Linear::details() const {
  return fmt::format("in={}, out={}, bias={}", weight.shape()[1], weight.shape()[0],
                     bias.defined());
}

}  // namespace labgrad::nn
