// The two halves of the cross-entropy: forward a row of scores becomes two numbers, backward a row
// of gradients. Each row is read from memory once and, backward, written once; what a second look
// needs is in the first cache (5,893 classes of the translation are 23 KiB). log softmax and
// gather, with their gradients, read or write as many numbers seven times, and not three. Rows are
// divided among threads.

#include <algorithm>
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

// z_0 = max x and Σ e^(x - z_0), or 1 where z_0 is infinite: inf - inf would be NaN.
template <class T>
struct Sum {
  T shift, total;
};

template <class T>
Sum<T> short_sum_exp(const T* x, std::int64_t n) {
  Sum<T> z{};
  with_row_shape<T>(n, [&]<int L, int K>() {
    using V = Vec<T, L>;
    const auto row = Row<T, L, K>::load(x, n, none<T>);
    const T s = row.largest();
    z = {s, std::isinf(s) ? T(1) : row.map([s](V v) { return exp_to_one(v - s); }).total()};
  });
  return z;
}

template <class T>
Sum<T> long_sum_exp(const T* x, std::int64_t n) {
  using V = Vec<T>;
  constexpr int w = lanes<T>;
  const std::int64_t count = n / w;
  const V end = load_end(x, n, none<T>);
  const T s = largest(x, count, end);
  if (std::isinf(s)) return {s, T(1)};
  // This row is near now and keeps the core busy: meanwhile the next one comes.
  const V sums = sum_vectors<T>(count, [&](auto k) {
    __builtin_prefetch(x + n + k * w, 0, 2);
    return exp_to_one(load(x + k * w) - s);
  });
  return {s, sum_lanes(sums + exp_to_one(end - s))};
}

template <class T>
struct LogSum {
  T shift, log;
};

// How far ahead of a store its line is asked for, where rows are long.
constexpr std::int64_t lines_ahead = 16;

// dx = s (e^((x - z_0) - z_1) - [k == target]). A short row that is no multiple of the register is
// quicker whole than with an end that is read and written in parts.
template <class T>
void row_backward(T* dx, const T* x, LogSum<T> z, std::int64_t target, T s, std::int64_t n) {
  if (s == 0) {
    std::fill(dx, dx + n, T(0));
    return;
  }
  if (n <= short_row<T>) {
    with_row_shape<T>(n, [&]<int L, int K>() {
      using V = Vec<T, L>;
      Row<T, L, K>::load(x, n, T(0))
          .map([=](V v) { return V(exp_to_one((v - z.shift) - z.log) * s); })
          .store_to(dx, n);
    });
  } else {
    constexpr int w = lanes<T>;
    const auto gradient = [=](Vec<T> v) { return Vec<T>(exp_to_one((v - z.shift) - z.log) * s); };
    std::int64_t i = 0;
    for (; i + w <= n; i += w) {
      __builtin_prefetch(x + n + i, 0, 2);
      __builtin_prefetch(dx + i + lines_ahead * w, 1);
      store(dx + i, gradient(load(x + i)));
    }
    if (i < n) store_part(dx + i, gradient(load_part(x + i, n - i)), n - i);
  }
  dx[target] -= s;
}

}  // namespace

void Cpu::log_sum_exp(const Array& z, const Array& x, int dim) const {
  const std::int64_t n = x.shape[dim];
  if (x.shape.numel() == 0) return Naive::log_sum_exp(z, x, dim);
  Array second = z;
  second.shape[dim] = 1;
  second.data += z.strides[dim] * static_cast<std::int64_t>(size_of(z.dtype));
  dispatch_floating(x.dtype, "log_sum_exp", [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_lines(
        x.shape, dim, costly_grain,
        [&](std::int64_t i, std::int64_t j) {
          const InRow<T> row(x.as<T>() + j, n, x.strides[dim]);
          const auto f = n <= short_row<T> ? &short_sum_exp<T> : &long_sum_exp<T>;
          const Sum<T> sum = f(row.get(), n);
          z.as<T>()[i] = sum.shift;
          second.as<T>()[i] = sum.total;
        },
        z.strides, x.strides);
  });
  map(Unary::log, second, second);  // of all rows, as vectors
}

void Cpu::cross_entropy_backward(const Array& dx, const Array& x, const Array& z,
                                 const Array& target, const Array& s, int dim) const {
  const std::int64_t n = x.shape[dim];
  if (x.shape.numel() == 0) return;
  dispatch_floating(x.dtype, "cross_entropy_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_lines(
        x.shape, dim, costly_grain,
        [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l, std::int64_t m) {
          const OutRow<T> out(dx.as<T>() + i, n, dx.strides[dim]);
          const InRow<T> row(x.as<T>() + j, n, x.strides[dim]);
          row_backward<T>(out.get(), row.get(), {z.as<T>()[k], z.as<T>()[k + z.strides[dim]]},
                          target.as<std::int64_t>()[l], s.as<T>()[m], n);
        },
        dx.strides, x.strides, z.strides, target.strides, s.strides);
  });
}

}  // namespace labgrad
