// What depends on the order along a dimension: the position of the largest, running sums, sorting.
// Lines are divided among threads.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/cpu/cpu.h"
#include "engine/cpu/elementwise.h"
#include "engine/cpu/fold.h"
#include "engine/cpu/rows.h"

namespace labgrad {

using namespace cpu;

namespace {

// The first position of the value that a reduction of the row gives, NaN included: two quick passes
// instead of one that carries the position along.
template <class T>
std::int64_t position_of_extreme(const T* row, std::int64_t n, bool largest) {
  const T extreme =
      largest ? Fold<Reduction::max, T>::run(row, n) : Fold<Reduction::min, T>::run(row, n);
  if (extreme != extreme) {
    std::int64_t k = 0;
    while (row[k] == row[k]) ++k;
    return k;
  }
  return std::find(row, row + n, extreme) - row;
}

// NaN is the largest.
template <class T>
bool less(T a, T b) {
  return a < b || (b != b && a == a);
}

}  // namespace

// best = the first k at which x_k beats all before it; a NaN beats every number
void Cpu::arg_reduce(bool largest, const Array& values, const Array& indices, const Array& x,
                     int dim) const {
  if (x.shape.rank() == 0 || x.shape.numel() == 0)
    return Naive::arg_reduce(largest, values, indices, x, dim);
  const std::int64_t n = x.shape[dim];
  const Strides none = Strides::filled(x.shape.rank(), 0);
  dispatch(x.dtype, [&](auto tag) {
    using T = Stored<typename decltype(tag)::type>;
    parallel_lines(
        x.shape, dim, cheap_grain,
        [&](std::int64_t i, std::int64_t j, std::int64_t start) {
          const InRow<T> row(x.as<const T>() + start, n, x.strides[dim]);
          const std::int64_t best = position_of_extreme(row.get(), n, largest);
          if (values.data) values.as<T>()[i] = row.get()[best];
          if (indices.data) indices.as<std::int64_t>()[j] = best;
        },
        values.data ? values.strides : none, indices.data ? indices.strides : none, x.strides);
  });
}

// out_k = x_0 + ... + x_k, or x_k + ... + x_{n-1} if reverse
void Cpu::cumsum(const Array& out, const Array& x, int dim, bool reverse) const {
  if (x.shape.rank() == 0 || x.dtype == boolean) return Naive::cumsum(out, x, dim, reverse);
  const std::int64_t n = x.shape[dim];
  dispatch(x.dtype, [&](auto tag) {
    using F = Fold<Reduction::sum, typename decltype(tag)::type>;
    using T = typename F::Element;
    const std::int64_t to = out.strides[dim], from = x.strides[dim];
    parallel_lines(
        x.shape, dim, cheap_grain,
        [&](std::int64_t i, std::int64_t j) {
          T* o = out.as<T>() + i;
          const T* a = x.as<const T>() + j;
          typename F::Total total = 0;
          for (std::int64_t q = 0; q < n; ++q) {
            const std::int64_t k = reverse ? n - 1 - q : q;
            total += static_cast<typename F::Total>(a[k * from]);
            o[k * to] = static_cast<T>(total);
          }
        },
        out.strides, x.strides);
  });
}

// values_k = x[indices_k], in order; equal elements keep their order
void Cpu::sort(const Array& values, const Array& indices, const Array& x, int dim,
               bool descending) const {
  if (x.shape.rank() == 0) return Naive::sort(values, indices, x, dim, descending);
  const std::int64_t n = x.shape[dim];
  dispatch(x.dtype, [&](auto tag) {
    using T = Stored<typename decltype(tag)::type>;
    parallel_lines(
        x.shape, dim, cheap_grain / 16,
        [&](std::int64_t i, std::int64_t j, std::int64_t l) {
          // Values beside their positions: a comparison then reads no other memory.
          std::vector<std::pair<T, std::int64_t>> pairs(static_cast<std::size_t>(n));
          const T* a = x.as<const T>() + l;
          for (std::int64_t k = 0; k < n; ++k)
            pairs[static_cast<std::size_t>(k)] = {a[k * x.strides[dim]], k};
          std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& p, const auto& q) {
            return descending ? less(q.first, p.first) : less(p.first, q.first);
          });
          for (std::int64_t k = 0; k < n; ++k) {
            const auto& [value, position] = pairs[static_cast<std::size_t>(k)];
            values.as<T>()[i + k * values.strides[dim]] = value;
            indices.as<std::int64_t>()[j + k * indices.strides[dim]] = position;
          }
        },
        values.strides, indices.strides, x.strides);
  });
}

}  // namespace labgrad
