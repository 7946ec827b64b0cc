#pragma once
// Visits the elements of strided arrays.

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "engine/shape.h"

namespace labgrad {

// Calls f(i, j, ...) for each element of `shape` in row-major order, where i, j, ... are the
// offsets of that element under each of the given strides:
//   walk(out.shape, [&](auto o, auto i) { y[o] = g(x[i]); }, out.strides, x.strides);
template <class F, class... S>
void walk(const Shape& shape, F f, const S&... strides) {
  if (shape.numel() == 0) return;
  constexpr std::size_t n = sizeof...(S);
  const std::array<const Strides*, n> steps{&strides...};
  std::array<std::int64_t, n> at{};
  Shape index = Shape::filled(shape.rank(), 0);
  for (;;) {
    std::apply(f, at);
    int d = shape.rank() - 1;  // count up like an odometer: the last dimension turns fastest
    for (; d >= 0; --d) {
      for (std::size_t i = 0; i < n; ++i) at[i] += (*steps[i])[d];
      if (++index[d] < shape[d]) break;
      for (std::size_t i = 0; i < n; ++i) at[i] -= (*steps[i])[d] * shape[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

// The shape with size 1 at dim: the starts of the lines that run along dim.
inline Shape without(Shape shape, int dim) {
  shape[dim] = 1;
  return shape;
}

}  // namespace labgrad
