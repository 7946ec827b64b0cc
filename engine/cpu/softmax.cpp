// Softmax. A row of at most four vectors is loaded once and stays in registers; a longer one is a
// few passes over memory that stays in the first cache. Rows are divided among threads.

#include <cmath>
#include <cstdint>

#include "engine/cpu/cpu.h"
#include "engine/cpu/elementwise.h"
#include "engine/cpu/row_vectors.h"
#include "engine/cpu/rows.h"
#include "engine/cpu/vec.h"
#include "engine/cpu/vec_math.h"

namespace labgrad {

using namespace cpu;

namespace {

template <class T>
void short_softmax(T* y, const T* x, std::int64_t n, bool log) {
  with_row_shape<T>(n, [&]<int L, int K>() {
    using V = Vec<T, L>;
    const auto row = Row<T, L, K>::load(x, n, none<T>);
    const T s = row.largest();
    const auto shifted = row.map([s](V v) { return v - s; });
    const auto e = shifted.map([](V v) { return exp_to_one(v); });
    if (log) {
      const T log_z = std::log(e.total());
      shifted.map([log_z](V v) { return v - log_z; }).store_to(y, n);
    } else {
      const T scale = 1 / e.total();
      e.map([scale](V v) { return v * scale; }).store_to(y, n);
    }
  });
}

template <class T>
void long_softmax(T* y, const T* x, std::int64_t n, bool log) {
  using V = Vec<T>;
  constexpr int w = lanes<T>;
  const std::int64_t count = n / w;
  const V end = load_end(x, n, none<T>);
  const T s = largest(x, count, end);
  const V e_end = exp_to_one(end - s);
  if (log) {
    const T z = sum_lanes(
        sum_vectors<T>(count, [&](auto k) { return exp_to_one(load(x + k * w) - s); }) + e_end);
    const T log_z = std::log(z);
    for (std::int64_t k = 0; k < count; ++k) store(y + k * w, (load(x + k * w) - s) - log_z);
    store_end(y, n, (end - s) - log_z);
    return;
  }
  const T z = sum_lanes(sum_vectors<T>(count,
                                       [&](auto k) {
                                         const V e = exp_to_one(load(x + k * w) - s);
                                         store(y + k * w, e);
                                         return e;
                                       }) +
                        e_end);
  const T scale = 1 / z;
  for (std::int64_t k = 0; k < count; ++k) store(y + k * w, load(y + k * w) * scale);
  store_end(y, n, e_end * scale);
}

template <class T>
void short_softmax_backward(T* dx, const T* y, const T* dy, std::int64_t n, bool log) {
  with_row_shape<T>(n, [&]<int L, int K>() {
    using V = Vec<T, L>;
    using R = Row<T, L, K>;
    const R a = R::load(y, n, T(0)), g = R::load(dy, n, T(0));
    if (log) {
      const T total = g.total();
      g.zip(a, [total](V gk, V yk) { return gk - exp_to_one(yk) * total; }).store_to(dx, n);
    } else {
      const T total = g.zip(a, [](V gk, V yk) { return gk * yk; }).total();
      g.zip(a, [total](V gk, V yk) { return yk * (gk - total); }).store_to(dx, n);
    }
  });
}

template <class T>
void long_softmax_backward(T* dx, const T* y, const T* dy, std::int64_t n, bool log) {
  using V = Vec<T>;
  constexpr int w = lanes<T>;
  const std::int64_t count = n / w;
  const V y_end = load_end(y, n, T(0)), dy_end = load_end(dy, n, T(0));
  const V sums = log ? sum_vectors<T>(count, [&](auto k) { return load(dy + k * w); }) + dy_end
                     : sum_vectors<T>(count, [&](auto k) {
                         return load(dy + k * w) * load(y + k * w);
                       }) + dy_end * y_end;
  const T total = sum_lanes(sums);
  auto result = [&](V g, V a) { return log ? g - exp_to_one(a) * total : a * (g - total); };
  for (std::int64_t k = 0; k < count; ++k)
    store(dx + k * w, result(load(dy + k * w), load(y + k * w)));
  store_end(dx, n, result(dy_end, y_end));
}

}  // namespace

// With s = max x and z = Σ e^(x - s):  y = e^(x - s) / z,  or with log: y = (x - s) - log z
void Cpu::softmax(const Array& y, const Array& x, int dim, bool log) const {
  const std::int64_t n = x.shape[dim], from = x.strides[dim], to = y.strides[dim];
  if (x.shape.numel() == 0) return;
  dispatch_floating(x.dtype, "softmax", [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_lines(
        x.shape, dim, costly_grain,
        [&](std::int64_t i, std::int64_t j) {
          const OutRow<T> out(y.as<T>() + i, n, to);
          const InRow<T> in(x.as<T>() + j, n, from);
          const auto f = n <= short_row<T> ? &short_softmax<T> : &long_softmax<T>;
          f(out.get(), in.get(), n, log);
        },
        y.strides, x.strides);
  });
}

// dx = y (dy - Σ dy y), or with log: dx = dy - e^y Σ dy
void Cpu::softmax_backward(const Array& dx, const Array& y, const Array& dy, int dim,
                           bool log) const {
  const std::int64_t n = y.shape[dim];
  if (y.shape.numel() == 0) return;
  dispatch_floating(y.dtype, "softmax_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_lines(
        y.shape, dim, log ? costly_grain : cheap_grain,
        [&](std::int64_t i, std::int64_t j, std::int64_t k) {
          const OutRow<T> out(dx.as<T>() + i, n, dx.strides[dim]);
          const InRow<T> a(y.as<T>() + j, n, y.strides[dim]);
          const InRow<T> g(dy.as<T>() + k, n, dy.strides[dim]);
          const auto f = n <= short_row<T> ? &short_softmax_backward<T> : &long_softmax_backward<T>;
          f(out.get(), a.get(), g.get(), n, log);
        },
        dx.strides, y.strides, dy.strides);
  });
}

}  // namespace labgrad
