// Along a dimension: running sums and sorting.

#include <limits>
#include <utility>

#include "engine/cuda/cuda.h"
#include "engine/cuda/layout.h"
#include "engine/cuda/order.h"
#include "engine/cuda/workspace.h"
#include "engine/naive/formulas.h"
#include "engine/naive/walk.h"

namespace labgrad {

using namespace naive;

namespace {

// out_k = x_0 + ... + x_k, or x_k + ... + x_{n-1} if reverse. A thread for each line: each sum
// needs the one before.
template <class T>
__global__ void cumsum_kernel(Memory<T> out, Memory<const T> x, Layout<2> lines, std::int64_t n,
                              std::int64_t out_step, std::int64_t step, bool reverse) {
  for (std::int64_t i = first_index(); i < lines.numel; i += index_step()) {
    const Offsets<2> at = lines[i];
    Wide<T> total = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t k = reverse ? n - 1 - j : j;
      total = plus(total, static_cast<Wide<T>>(x[at.at[1] + k * step]));
      out[at.at[0] + k * out_step] = static_cast<T>(total);
    }
  }
}

// Each position k holds a run of one element.
__global__ void begin_kernel(Memory<std::int64_t> order, std::int64_t n, std::int64_t numel) {
  for (std::int64_t i = first_index(); i < numel; i += index_step()) order[i] = i % n;
}

// One pass of merge sort, in which each element finds its own place: runs of `width` lie sorted
// side by side in a line, and of the two that are merged an element goes behind those of its own
// run that were before it and those of the other run that come before it, which a binary search
// counts. Equal ones of the left run come first, so the sort is stable.
template <class T>
__global__ void merge_kernel(Memory<std::int64_t> to, Memory<const std::int64_t> from,
                             Memory<const T> x, Layout<1> lines, std::int64_t n, std::int64_t step,
                             std::int64_t width, bool descending) {
  auto less = [](T p, T q) { return p < q || (!is_nan(p) && is_nan(q)); };  // NaN is the largest
  auto before = [&](T p, T q) { return descending ? less(q, p) : less(p, q); };
  for (std::int64_t i = first_index(); i < lines.numel * n; i += index_step()) {
    const std::int64_t line = i / n, k = i % n, at = lines[line].at[0];
    const std::int64_t run = k / width;
    const bool left = run % 2 == 0;
    const std::int64_t other = (left ? run + 1 : run - 1) * width;
    const std::int64_t mine = from[i];
    const T value = x[at + mine * step];
    std::int64_t low = other < n ? other : n, high = other + width < n ? other + width : n;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      const T there = x[at + from[line * n + middle] * step];
      const bool goes_first = left ? before(there, value) : !before(value, there);
      if (goes_first)
        low = middle + 1;
      else
        high = middle;
    }
    const std::int64_t others = other < n ? low - other : 0;
    const std::int64_t start = (left ? run : run - 1) * width;
    to[line * n + start + (k - run * width) + others] = mine;
  }
}

template <class T>
__global__ void sorted_kernel(Memory<T> values, Memory<std::int64_t> indices, Memory<const T> x,
                              Memory<const std::int64_t> order, Layout<3> lines, std::int64_t n,
                              Offsets<3> steps) {
  for (std::int64_t i = first_index(); i < lines.numel * n; i += index_step()) {
    const Offsets<3> at = lines[i / n];
    const std::int64_t k = i % n, from = order[i];
    values[at.at[0] + k * steps.at[0]] = x[at.at[2] + from * steps.at[2]];
    indices[at.at[1] + k * steps.at[1]] = from;
  }
}

}  // namespace

void Cuda::cumsum(const Array& out, const Array& x, int dim, bool reverse) const {
  const Layout<2> lines = row_major(without(x.shape, dim), {&out.strides, &x.strides});
  if (x.shape.numel() == 0) return;
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch("cumsum", cumsum_kernel<T>, grid_of(lines.numel, 64), 64, Memory<T>(out, "out"),
           Memory<const T>(x, "x"), lines, x.shape[dim], out.strides[dim], x.strides[dim], reverse);
  });
}

Sorted::Sorted(const Array& x, int dim, bool descending)
    : first_({x.shape.numel()}, i64), second_({x.shape.numel()}, i64) {
  const std::int64_t n = x.shape[dim], numel = x.shape.numel();
  const Layout<1> lines = row_major(without(x.shape, dim), {&x.strides});
  launch("begin", begin_kernel, grid_of(numel), block_size,
         Memory<std::int64_t>(first_.array(), "order"), n, numel);
  const Workspace *from = &first_, *to = &second_;
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t width = 1; width < n; width *= 2) {
      launch("merge", merge_kernel<T>, grid_of(numel), block_size,
             Memory<std::int64_t>(to->array(), "to"),
             Memory<const std::int64_t>(from->array(), "from"), Memory<const T>(x, "x"), lines, n,
             x.strides[dim], width, descending);
      std::swap(from, to);
    }
  });
  order = from->array();
}

void Cuda::sort(const Array& values, const Array& indices, const Array& x, int dim,
                bool descending) const {
  if (x.shape.numel() == 0) return;
  const Sorted sorted(x, dim, descending);
  const Layout<3> lines =
      row_major(without(x.shape, dim), {&values.strides, &indices.strides, &x.strides});
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch("sorted", sorted_kernel<T>, grid_of(x.shape.numel()), block_size,
           Memory<T>(values, "values"), Memory<std::int64_t>(indices, "indices"),
           Memory<const T>(x, "x"), Memory<const std::int64_t>(sorted.order, "order"), lines,
           x.shape[dim], Offsets<3>{{values.strides[dim], indices.strides[dim], x.strides[dim]}});
  });
}

}  // namespace labgrad
