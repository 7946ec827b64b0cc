// Softmax and layer normalisation. A row of at most four vectors is loaded once and stays in
// registers; a longer one is a few passes over memory that stays in the first cache. Rows are
// divided among threads.

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
  const T s = max_lanes(fold_vectors(
      count, end, [](V a, V b) { return max(a, b); }, [&](auto k) { return load(x + k * w); }));
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

// w or b as a dense row; `otherwise` everywhere if it is absent.
template <class T>
class Parameter {
 public:
  Parameter(const Array& a, std::int64_t n, T otherwise) : copy_(is_dense(a) ? 0 : n) {
    data_ = is_dense(a) ? a.as<const T>() : copy_.get();
    for (std::int64_t k = 0; !is_dense(a) && k < n; ++k)
      copy_.get()[k] = a.data ? a.as<T>()[k * a.strides[0]] : otherwise;
  }
  const T* get() const { return data_; }

 private:
  static bool is_dense(const Array& a) { return a.data && a.strides[0] == 1; }
  Scratch<T> copy_;
  const T* data_;
};

template <class T>
struct Moments {
  T mean, rstd;
};

// The mean is taken in two steps: m, rounded, from the sum, and then the mean of d = x - m, which
// is small and so exact where |mean| is much larger than the deviation.
//   variance = mean(d²) - mean(d)²
template <class T>
Moments<T> short_layer_norm(T* y, const T* x, const T* w, const T* b, std::int64_t n, double eps) {
  Moments<T> result{};
  with_row_shape<T>(n, [&]<int L, int K>() {
    using V = Vec<T, L>;
    using R = Row<T, L, K>;
    const T count = static_cast<T>(n);
    const R row = R::load(x, n, T(0));
    const T m = row.total() / count;
    const R d = row.map([m](V v) { return v - m; }).padded(n, T(0));
    const T rest = d.total() / count;
    const T mean_square = d.map([](V v) { return v * v; }).total() / count;
    const T r = 1 / std::sqrt(mean_square - rest * rest + static_cast<T>(eps));
    const R h = d.map([=](V v) { return (v - rest) * r; });
    h.zip(R::load(w, n, T(0)), [](V v, V wk) { return v * wk; })
        .zip(R::load(b, n, T(0)), [](V v, V bk) { return v + bk; })
        .store_to(y, n);
    result = {m + rest, r};
  });
  return result;
}

template <class T>
Moments<T> long_layer_norm(T* y, const T* x, const T* w, const T* b, std::int64_t n, double eps) {
  using V = Vec<T>;
  constexpr int width = lanes<T>;
  const std::int64_t full = n / width;
  const T count = static_cast<T>(n);
  const V x_end = load_end(x, n, T(0));
  const T m =
      sum_lanes(sum_vectors<T>(full, [&](auto k) { return load(x + k * width); }) + x_end) / count;
  const V d_end = hide(x_end - m, width - n % width, T(0));
  V squares = d_end * d_end;
  const V sums = sum_vectors<T>(full, [&](auto k) {
    const V d = load(x + k * width) - m;
    squares += d * d;
    return d;
  });
  const T rest = sum_lanes(sums + d_end) / count;
  const T r = 1 / std::sqrt(sum_lanes(squares) / count - rest * rest + static_cast<T>(eps));
  for (std::int64_t k = 0; k < full; ++k) {
    const V h = ((load(x + k * width) - m) - rest) * r;
    store(y + k * width, h * load(w + k * width) + load(b + k * width));
  }
  store_end(y, n, (d_end - rest) * r * load_end(w, n, T(0)) + load_end(b, n, T(0)));
  return {m + rest, r};
}

// g = dy w,  h = (x - μ) r:  dx = r (g - Σ g / n - h Σ g h / n)
template <class T>
void short_layer_norm_backward(T* dx, const T* dy, const T* x, const T* w, T mu, T r,
                               std::int64_t n) {
  with_row_shape<T>(n, [&]<int L, int K>() {
    using V = Vec<T, L>;
    using R = Row<T, L, K>;
    const T count = static_cast<T>(n);
    const R g = R::load(dy, n, T(0)).zip(R::load(w, n, T(0)), [](V a, V b) { return a * b; });
    const R h = R::load(x, n, mu).map([=](V v) { return (v - mu) * r; });
    const T mean_g = g.total() / count;
    const T mean_gh = g.zip(h, [](V a, V b) { return a * b; }).total() / count;
    g.zip(h, [=](V a, V b) { return r * (a - mean_g - b * mean_gh); }).store_to(dx, n);
  });
}

template <class T>
void long_layer_norm_backward(T* dx, const T* dy, const T* x, const T* w, T mu, T r,
                              std::int64_t n) {
  using V = Vec<T>;
  constexpr int width = lanes<T>;
  const std::int64_t full = n / width;
  auto g = [&](std::int64_t k) { return load(dy + k * width) * load(w + k * width); };
  auto h = [&](std::int64_t k) { return (load(x + k * width) - mu) * r; };
  const V g_end = load_end(dy, n, T(0)) * load_end(w, n, T(0));
  const V h_end = (load_end(x, n, mu) - mu) * r;
  const T mean_g = sum_lanes(sum_vectors<T>(full, g) + g_end) / static_cast<T>(n);
  const T mean_gh =
      sum_lanes(sum_vectors<T>(full, [&](auto k) { return g(k) * h(k); }) + g_end * h_end) /
      static_cast<T>(n);
  auto result = [&](V a, V b) { return r * (a - mean_g - b * mean_gh); };
  for (std::int64_t k = 0; k < full; ++k) store(dx + k * width, result(g(k), h(k)));
  store_end(dx, n, result(g_end, h_end));
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

// μ = Σ x / n,  r = 1/sqrt(Σ (x - μ)² / n + eps),  y = (x - μ) r w + b
void Cpu::layer_norm(const Array& y, const Array& mean, const Array& rstd, const Array& x,
                     const Array& w, const Array& b, double eps) const {
  const int last = x.shape.rank() - 1;
  const std::int64_t n = x.shape[last];
  if (x.shape.numel() == 0) return Naive::layer_norm(y, mean, rstd, x, w, b, eps);
  dispatch_floating(x.dtype, "layer_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Parameter<T> weight(w, n, T(1)), bias(b, n, T(0));
    parallel_lines(
        x.shape, last, cheap_grain,
        [&](std::int64_t i, std::int64_t j, std::int64_t l, std::int64_t m) {
          const OutRow<T> out(y.as<T>() + i, n, y.strides[last]);
          const InRow<T> row(x.as<T>() + j, n, x.strides[last]);
          const auto f = n <= short_row<T> ? &short_layer_norm<T> : &long_layer_norm<T>;
          const Moments<T> of = f(out.get(), row.get(), weight.get(), bias.get(), n, eps);
          mean.as<T>()[l] = of.mean;
          rstd.as<T>()[m] = of.rstd;
        },
        y.strides, x.strides, mean.strides, rstd.strides);
  });
}

void Cpu::layer_norm_backward(const Array& dx, const Array& dy, const Array& x, const Array& mean,
                              const Array& rstd, const Array& w) const {
  const int last = x.shape.rank() - 1;
  const std::int64_t n = x.shape[last];
  if (x.shape.numel() == 0) return;
  dispatch_floating(x.dtype, "layer_norm_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Parameter<T> weight(w, n, T(1));
    parallel_lines(
        x.shape, last, cheap_grain,
        [&](std::int64_t i, std::int64_t k, std::int64_t j, std::int64_t l, std::int64_t m) {
          const OutRow<T> out(dx.as<T>() + i, n, dx.strides[last]);
          const InRow<T> dy_row(dy.as<T>() + k, n, dy.strides[last]);
          const InRow<T> x_row(x.as<T>() + j, n, x.strides[last]);
          const auto f =
              n <= short_row<T> ? &short_layer_norm_backward<T> : &long_layer_norm_backward<T>;
          f(out.get(), dy_row.get(), x_row.get(), weight.get(), mean.as<T>()[l], rstd.as<T>()[m],
            n);
        },
        dx.strides, dy.strides, x.strides, mean.strides, rstd.strides);
  });
}

}  // namespace labgrad
