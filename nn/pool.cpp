#include "nn/pool.h"

#include <fmt/format.h>

namespace labgrad::nn {
namespace {

std::string windows(Plane kernel, Plane stride, Plane padding) {
  return fmt::format("kernel={}x{}, stride={}x{}, padding={}x{}", kernel.h, kernel.w, stride.h,
                     stride.w, padding.h, padding.w);
}

}  // namespace

std::string MaxPool2d::details() const {
  return windows(kernel, options.stride.value_or(kernel), options.padding);
}

std::string AvgPool2d::details() const {
  return windows(kernel, options.stride.value_or(kernel), options.padding);
}

std::string AdaptiveAvgPool2d::details() const { return fmt::format("size={}x{}", size.h, size.w); }

}  // namespace labgrad::nn
