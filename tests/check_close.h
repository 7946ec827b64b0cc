#pragma once
// How tests compare tensors. The functions say in words what is wrong, and nothing if all is well:
//
//   CHECK(difference(got, want, {.rtol = 1e-10, .atol = 1e-12}) == "");
//
// so that a failing check prints the worst element with both values. NaN fails, except where both
// are NaN and the tolerance allows it; so do other shapes, and a comparison that could not fail:
// of nothing, or of zeros alone, unless the tolerance says that this is meant.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "engine/tensor.h"

namespace labgrad::tests {

struct Tolerance {
  double rtol = 1e-10;  // |got - want| <= atol + rtol * |want|
  double atol = 1e-12;
  bool vacuous = false;    // empty tensors, or zeros alone, are fine
  bool equal_nan = false;  // NaN where NaN is wanted is fine
};

// "(1, 2)" for the element at `position` in row-major order.
inline std::string index_of(std::int64_t position, const Shape& shape) {
  Shape index = shape;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    index[d] = position % shape[d];
    position /= shape[d];
  }
  return index.str();
}

// With as many digits as it takes to tell it from its neighbours.
inline std::string digits(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

// "" if each element of got is close to the one of want; else what is wrong. Dtypes may differ.
inline std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance = {}) {
  if (!got.defined()) return "got an undefined tensor";
  if (got.shape() != want.shape())
    return "got shape " + got.shape().str() + ", want " + want.shape().str();
  const std::vector<double> g = got.to_vector(), w = want.to_vector();
  std::size_t worst = 0, bad = 0;
  double worst_excess = 0;
  bool any = false;
  for (std::size_t i = 0; i < g.size(); ++i) {
    any |= w[i] != 0;
    if (g[i] == w[i]) continue;  // also of infinities, whose difference is NaN
    if (tolerance.equal_nan && std::isnan(g[i]) && std::isnan(w[i])) continue;
    const double allowed = tolerance.atol + tolerance.rtol * std::abs(w[i]);
    const double off = std::abs(g[i] - w[i]);
    if (off <= allowed && std::isfinite(w[i])) continue;
    const double excess = std::isfinite(off) ? off / allowed : HUGE_VAL;
    if (bad++ == 0 || excess > worst_excess) {
      worst = i;
      worst_excess = excess;
    }
  }
  if (bad > 0)
    return std::to_string(bad) + " of " + std::to_string(g.size()) + " elements differ; worst " +
           index_of(static_cast<std::int64_t>(worst), got.shape()) + ": got " + digits(g[worst]) +
           ", want " + digits(w[worst]);
  if (!any && !tolerance.vacuous)
    return g.empty() ? "nothing was compared: both are empty" : "nothing but zeros was compared";
  return "";
}

// The same for numbers in row-major order.
inline std::string difference(const Tensor& got, const std::vector<double>& want,
                              Tolerance tolerance = {}) {
  if (got.defined() && got.numel() != static_cast<std::int64_t>(want.size()))
    return "got shape " + got.shape().str() + ", want " + std::to_string(want.size()) + " elements";
  if (!got.defined()) return "got an undefined tensor";
  Tensor w = empty(got.shape(), f64, Device::cpu);
  std::copy(want.begin(), want.end(), w.writable_span<double>().begin());
  return difference(got, w, tolerance);
}

// "" if shape, dtype and every bit of every element agree. Layouts may differ, devices as well.
inline std::string bit_difference(const Tensor& got, const Tensor& want) {
  if (!got.defined() || !want.defined())
    return got.defined() == want.defined() ? "" : "one of the two is undefined";
  if (got.shape() != want.shape() || got.dtype() != want.dtype())
    return std::string("got ") + name_of(got.dtype()) + " " + got.shape().str() + ", want " +
           name_of(want.dtype()) + " " + want.shape().str();
  const Tensor g = packed(moved(got, Device::cpu)), w = packed(moved(want, Device::cpu));
  const std::size_t size = size_of(g.dtype());
  for (std::int64_t i = 0; i < g.numel(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * size;
    if (std::memcmp(g.array().data + at, w.array().data + at, size) == 0) continue;
    const auto k = static_cast<std::size_t>(i);
    return "the bits of element " + index_of(i, g.shape()) + " differ: got " +
           digits(g.to_vector()[k]) + ", want " + digits(w.to_vector()[k]);
  }
  return "";
}

}  // namespace labgrad::tests
