// Softmax and layer normalisation: each row is a few passes over memory that stays in the first
// cache, in full vectors. The last, partial vector is padded with what does not change the result.
// Rows are divided among threads.

#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/cpu/cpu.h"
#include "engine/cpu/each_vector.h"
#include "engine/cpu/elementwise.h"
#include "engine/cpu/rows.h"
#include "engine/cpu/vec.h"
#include "engine/cpu/vec_math.h"

namespace labgrad {

using namespace cpu;

namespace {

// The sum of f(read) over a row whose padding contributes 0, in four chains.
template <class T, class F>
T sum_over(std::int64_t n, T pad, F&& f) {
  Vec<T> part[4] = {};
  unsigned turn = 0;
  each_vector<T>(0, n, pad, [&](auto read, auto) { part[turn++ & 3] += f(read); });
  return sum((part[0] + part[1]) + (part[2] + part[3]));
}

template <class T>
T largest(const T* x, std::int64_t n) {
  constexpr T lowest = -std::numeric_limits<T>::infinity();
  Vec<T> top = splat<Vec<T>>(lowest);
  each_vector<T>(0, n, lowest, [&](auto read, auto) { top = max(top, read(x)); });
  T lane[lanes<T>], result = lowest;
  store(lane, top);
  for (T v : lane) result = result > v || result != result ? result : v;
  return result;
}

template <class T>
void softmax_row(T* y, const T* x, std::int64_t n, bool log) {
  constexpr T none = -std::numeric_limits<T>::infinity();  // e^none = 0
  const T s = largest(x, n);
  if (log) {
    const T z = sum_over<T>(n, none, [&](auto read) { return exp(read(x) - s); });
    const T log_z = std::log(z);
    each_vector<T>(0, n, none, [&](auto read, auto write) { write(y, (read(x) - s) - log_z); });
    return;
  }
  Vec<T> part[4] = {};
  unsigned turn = 0;
  each_vector<T>(0, n, none, [&](auto read, auto write) {
    const Vec<T> e = exp(read(x) - s);
    part[turn++ & 3] += e;
    write(y, e);
  });
  const T scale = 1 / sum((part[0] + part[1]) + (part[2] + part[3]));
  each_vector<T>(0, n, T(0), [&](auto read, auto write) { write(y, read(y) * scale); });
}

template <class T>
void softmax_backward_row(T* dx, const T* y, const T* dy, std::int64_t n, bool log) {
  if (log) {
    const T total = sum_over<T>(n, T(0), [&](auto read) { return read(dy); });
    each_vector<T>(0, n, T(0),
                   [&](auto read, auto write) { write(dx, read(dy) - exp(read(y)) * total); });
  } else {
    const T total = sum_over<T>(n, T(0), [&](auto read) { return read(dy) * read(y); });
    each_vector<T>(0, n, T(0),
                   [&](auto read, auto write) { write(dx, read(y) * (read(dy) - total)); });
  }
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

struct Moments {
  double mean, variance;
};

// The mean is taken in two steps: m, rounded, from the sum, and the mean of x - m, which is small
// and so exact where |μ| is much larger than σ. With d = x - m, variance = mean(d²) - mean(d)².
template <class T>
Moments moments(const T* x, std::int64_t n, T& shift, T& rest) {
  const T count = static_cast<T>(n);
  const T m = sum_over<T>(n, T(0), [&](auto read) { return read(x); }) / count;
  Vec<T> sums[2] = {}, squares[2] = {};
  unsigned turn = 0;
  each_vector<T>(0, n, m, [&](auto read, auto) {
    const Vec<T> d = read(x) - m;
    sums[turn & 1] += d;
    squares[turn++ & 1] += d * d;
  });
  shift = m;
  rest = sum(sums[0] + sums[1]) / count;
  const double mean_square = double(sum(squares[0] + squares[1])) / double(n);
  return {double(m) + double(rest), mean_square - double(rest) * double(rest)};
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
          softmax_row(out.get(), InRow<T>(x.as<T>() + j, n, from).get(), n, log);
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
          softmax_backward_row(out.get(), a.get(), g.get(), n, log);
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
          T shift, rest;
          const Moments of = moments(row.get(), n, shift, rest);
          const T r = static_cast<T>(1 / std::sqrt(of.variance + eps));
          each_vector<T>(0, n, T(0), [&](auto read, auto write) {
            const Vec<T> h = ((read(row.get()) - shift) - rest) * r;
            write(out.get(), h * read(weight.get()) + read(bias.get()));
          });
          mean.as<T>()[l] = static_cast<T>(of.mean);
          rstd.as<T>()[m] = r;
        },
        y.strides, x.strides, mean.strides, rstd.strides);
  });
}

// g = dy w,  h = (x - μ) r:  dx = r (g - Σ g / n - h Σ g h / n)
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
          const T mu = mean.as<T>()[l], r = rstd.as<T>()[m];
          auto g = [&](auto read) { return read(dy_row.get()) * read(weight.get()); };
          auto h = [&](auto read) { return (read(x_row.get()) - mu) * r; };
          // The padding of dy and w is 0, so g is 0 there.
          Vec<T> sum_g[2] = {}, sum_gh[2] = {};
          unsigned turn = 0;
          each_vector<T>(0, n, T(0), [&](auto read, auto) {
            sum_g[turn & 1] += g(read);
            sum_gh[turn++ & 1] += g(read) * h(read);
          });
          const T mean_g = sum(sum_g[0] + sum_g[1]) / static_cast<T>(n);
          const T mean_gh = sum(sum_gh[0] + sum_gh[1]) / static_cast<T>(n);
          each_vector<T>(0, n, T(0), [&](auto read, auto write) {
            write(out.get(), r * (g(read) - mean_g - h(read) * mean_gh));
          });
        },
        dx.strides, dy.strides, x.strides, mean.strides, rstd.strides);
  });
}

}  // namespace labgrad
