// The largest and the mean of windows that move over planes.

#include <algorithm>

#include "engine/naive/formulas.h"
#include "engine/naive/naive.h"
#include "engine/naive/walk.h"

namespace labgrad {

using namespace naive;

namespace {

// Calls f(h, w) for the elements of window (i, j) that lie in the plane, in row-major order.
template <class F>
void each_in_window(const Shape& x, const Pooling& p, std::int64_t i, std::int64_t j, F f) {
  for (std::int64_t a = 0; a < p.kernel.h; ++a)
    for (std::int64_t b = 0; b < p.kernel.w; ++b) {
      const std::int64_t h = i * p.stride.h - p.padding.h + a * p.dilation.h;
      const std::int64_t w = j * p.stride.w - p.padding.w + b * p.dilation.w;
      if (h >= 0 && h < x[2] && w >= 0 && w < x[3]) f(h, w);
    }
}

// How many places from position i on a window of k has in a line of n, with or without its padding.
std::int64_t extent(std::int64_t i, std::int64_t stride, std::int64_t k, std::int64_t padding,
                    std::int64_t n, bool count_padding) {
  const std::int64_t begin = i * stride - padding;
  if (count_padding) return std::min(begin + k, n + padding) - begin;
  return std::min(begin + k, n) - std::max<std::int64_t>(begin, 0);
}

std::int64_t divisor(const Shape& x, const Pooling& p, std::int64_t i, std::int64_t j,
                     bool count_padding) {
  return extent(i, p.stride.h, p.kernel.h, p.padding.h, x[2], count_padding) *
         extent(j, p.stride.w, p.kernel.w, p.padding.w, x[3], count_padding);
}

// Calls f(n, c, i, j) for the elements of a shape in row-major order.
template <class F>
void each(const Shape& shape, F f) {
  for (std::int64_t n = 0; n < shape[0]; ++n)
    for (std::int64_t c = 0; c < shape[1]; ++c)
      for (std::int64_t i = 0; i < shape[2]; ++i)
        for (std::int64_t j = 0; j < shape[3]; ++j) f(n, c, i, j);
}

std::int64_t offset(const Array& a, std::int64_t n, std::int64_t c, std::int64_t h,
                    std::int64_t w) {
  return n * a.strides[0] + c * a.strides[1] + h * a.strides[2] + w * a.strides[3];
}

}  // namespace

// y = max x over the window
void Naive::max_pool2d(const Array& y, const Array& indices, const Array& x,
                       const Pooling& p) const {
  dispatch_floating(x.dtype, "max_pool2d", [&](auto tag) {
    using T = typename decltype(tag)::type;
    each(y.shape, [&](auto n, auto c, auto i, auto j) {
      T best{};
      std::int64_t place = -1;
      each_in_window(x.shape, p, i, j, [&](std::int64_t h, std::int64_t w) {
        const T v = x.as<T>()[offset(x, n, c, h, w)];
        if (place >= 0 && !(v > best || (is_nan(v) && !is_nan(best)))) return;
        best = v;
        place = h * x.shape[3] + w;
      });
      y.as<T>()[offset(y, n, c, i, j)] = best;
      if (indices.data) indices.as<std::int64_t>()[offset(indices, n, c, i, j)] = place;
    });
  });
}

// dx_index += dy
void Naive::max_pool2d_backward(const Array& dx, const Array& dy, const Array& indices,
                                const Pooling&) const {
  dispatch_floating(dx.dtype, "max_pool2d_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        dx.shape, [&](auto i) { dx.as<T>()[i] = 0; }, dx.strides);
    each(dy.shape, [&](auto n, auto c, auto i, auto j) {
      const std::int64_t at = indices.as<std::int64_t>()[offset(indices, n, c, i, j)];
      dx.as<T>()[offset(dx, n, c, at / dx.shape[3], at % dx.shape[3])] +=
          dy.as<T>()[offset(dy, n, c, i, j)];
    });
  });
}

// y = Σ x / m over the window
void Naive::avg_pool2d(const Array& y, const Array& x, const Pooling& p, bool count_padding) const {
  dispatch_floating(x.dtype, "avg_pool2d", [&](auto tag) {
    using T = typename decltype(tag)::type;
    each(y.shape, [&](auto n, auto c, auto i, auto j) {
      double sum = 0;
      each_in_window(x.shape, p, i, j, [&](std::int64_t h, std::int64_t w) {
        sum += x.as<T>()[offset(x, n, c, h, w)];
      });
      y.as<T>()[offset(y, n, c, i, j)] =
          static_cast<T>(sum / double(divisor(x.shape, p, i, j, count_padding)));
    });
  });
}

// dx = Σ dy / m over the windows that x lies in
void Naive::avg_pool2d_backward(const Array& dx, const Array& dy, const Pooling& p,
                                bool count_padding) const {
  dispatch_floating(dx.dtype, "avg_pool2d_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        dx.shape, [&](auto i) { dx.as<T>()[i] = 0; }, dx.strides);
    each(dy.shape, [&](auto n, auto c, auto i, auto j) {
      const T part = dy.as<T>()[offset(dy, n, c, i, j)] /
                     static_cast<T>(divisor(dx.shape, p, i, j, count_padding));
      each_in_window(dx.shape, p, i, j, [&](std::int64_t h, std::int64_t w) {
        dx.as<T>()[offset(dx, n, c, h, w)] += part;
      });
    });
  });
}

}  // namespace labgrad
