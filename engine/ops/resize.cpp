#include "engine/ops/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/create.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/index.h"

namespace labgrad {
namespace {

// p = max((i + 1/2) n/m - 1/2, 0),  l = floor p,  u = min(l + 1, n - 1),  t = p - l
// y_i = (1 - t) x_l + t x_u                                          [interpolate_bilinear.1]
Tensor interpolate_linear(const Tensor& x, int dim, std::int64_t m) {
  const std::int64_t n = x.size(dim);
  if (n == m) return x;
  std::vector<std::int64_t> lower, upper;
  std::vector<double> weight, rest;
  for (std::int64_t i = 0; i < m; ++i) {
    const double scale = static_cast<double>(n) / static_cast<double>(m);
    const double p = std::max((static_cast<double>(i) + 0.5) * scale - 0.5, 0.0);
    const auto l = std::min(static_cast<std::int64_t>(p), n - 1);
    lower.push_back(l);
    upper.push_back(std::min(l + 1, n - 1));
    weight.push_back(p - static_cast<double>(l));
    rest.push_back(1 - weight.back());
  }
  const TensorOptions real{.dtype = x.dtype(), .device = x.device()};
  const TensorOptions index{.device = x.device()};
  const Shape along = dim == 2 ? Shape{m, 1} : Shape{m};
  const Tensor x_l = index_select(x, dim, from_values(lower, {m}, index));
  const Tensor x_u = index_select(x, dim, from_values(upper, {m}, index));
  return x_l * from_values(rest, along, real) + x_u * from_values(weight, along, real);
}

}  // namespace

Tensor interpolate_bilinear(const Tensor& x, Plane size, Caller caller) {
  if (x.rank() != 4 || !is_floating(x.dtype()))
    fail(std::string("interpolate_bilinear: needs images (N, C, H, W) of a floating dtype, got ") +
             name_of(x.dtype()) + " " + x.shape().str(),
         caller);
  if (size.h < 1 || size.w < 1 || x.size(2) < 1 || x.size(3) < 1)
    fail("interpolate_bilinear: cannot make (" + std::to_string(size.h) + ", " +
             std::to_string(size.w) + ") from an input of shape " + x.shape().str(),
         caller);
  return interpolate_linear(interpolate_linear(x, 2, size.h), 3, size.w);
}

}  // namespace labgrad
