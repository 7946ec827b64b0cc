// Reading and adding at indices.
//
// Adding sorts the indices first, so that those that name the same place lie in one stretch, in
// their old order. The thread at the beginning of a stretch sums all of it: no two threads write
// one element, and a sum has the same bits each time.

#include "engine/cuda/cuda.h"
#include "engine/cuda/layout.h"
#include "engine/cuda/order.h"
#include "engine/naive/formulas.h"
#include "engine/naive/walk.h"

namespace labgrad {

using namespace naive;

namespace {

// out[i, j, k] = x[index[i, j, k], j, k]
template <class T>
__global__ void gather_kernel(Memory<T> out, Memory<const T> x, Memory<const std::int64_t> index,
                              Layout<3> layout, std::int64_t step) {
  for (std::int64_t i = first_index(); i < layout.numel; i += index_step()) {
    const Offsets<3> o = layout[i];
    out[o.at[0]] = x[o.at[1] + index[o.at[2]] * step];
  }
}

struct Steps {  // along dim
  std::int64_t out, index, src;
};

// out[v, j, k] += Σ_i src[i, j, k] over the i with index[i, j, k] == v, in their order. lines: the
// (j, k), with where each begins in out, index, src and among the sorted indices.
template <class T>
__global__ void scatter_add_kernel(Memory<T> out, Memory<const std::int64_t> index,
                                   Memory<const T> src, Memory<const std::int64_t> order,
                                   Layout<4> lines, std::int64_t n, Steps steps) {
  for (std::int64_t w = first_index(); w < n * lines.numel; w += index_step()) {
    const Offsets<4> at = lines[w % lines.numel];
    auto place = [&](std::int64_t p) {
      return index[at.at[1] + order[at.at[3] + p] * steps.index];
    };
    std::int64_t p = w / lines.numel;
    const std::int64_t v = place(p);
    if (p > 0 && place(p - 1) == v) continue;  // not the beginning of a stretch
    T total = out[at.at[0] + v * steps.out];
    for (; p < n && place(p) == v; ++p)
      total = plus(total, src[at.at[2] + order[at.at[3] + p] * steps.src]);
    out[at.at[0] + v * steps.out] = total;
  }
}

Strides held(Strides strides, int dim) {
  strides[dim] = 0;
  return strides;
}

// order: for each line of `shape` along dim, the positions in the order of their indices.
void add_at(const Array& out, const Array& index, const Array& src, const Shape& shape, int dim,
            const Array& order, const Strides& order_strides) {
  const Layout<4> lines =
      row_major(without(shape, dim), {&out.strides, &index.strides, &src.strides, &order_strides});
  const Steps steps{out.strides[dim], index.strides[dim], src.strides[dim]};
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch("scatter_add", scatter_add_kernel<T>, grid_of(shape.numel()), block_size,
           Memory<T>(out, "out"), Memory<const std::int64_t>(index, "index"),
           Memory<const T>(src, "src"), Memory<const std::int64_t>(order, "order"), lines,
           shape[dim], steps);
  });
}

void gather_along(const Array& out, const Array& x, const Array& index, const Strides& along,
                  int dim) {
  const Strides x_strides = held(x.strides, dim);
  const Layout<3> layout = row_major(out.shape, {&out.strides, &x_strides, &along});
  if (layout.numel == 0) return;
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch("gather", gather_kernel<T>, grid_of(layout.numel), block_size, Memory<T>(out, "out"),
           Memory<const T>(x, "x"), Memory<const std::int64_t>(index, "index"), layout,
           x.strides[dim]);
  });
}

// The strides of a rank 1 index, read as if it lay along dim of an array of the given rank.
Strides along(const Array& index, int rank, int dim) {
  Strides strides = Strides::filled(rank, 0);
  strides[dim] = index.strides[0];
  return strides;
}

}  // namespace

void Cuda::gather(const Array& out, const Array& x, const Array& index, int dim) const {
  gather_along(out, x, index, index.strides, dim);
}

// out[i, j, k] = x[index[i], j, k]
void Cuda::index_select(const Array& out, const Array& x, const Array& index, int dim) const {
  gather_along(out, x, index, along(index, out.shape.rank(), dim), dim);
}

void Cuda::scatter_add(const Array& out, const Array& index, const Array& src, int dim) const {
  if (index.shape.numel() == 0) return;
  const Sorted sorted(index, dim, false);
  Strides of_order = contiguous_strides(without(index.shape, dim));  // line after line
  for (int d = 0; d < index.shape.rank(); ++d) of_order[d] *= index.shape[dim];
  add_at(out, index, src, index.shape, dim, sorted.order, of_order);
}

// out[index[i], j, k] += src[i, j, k]
void Cuda::index_add(const Array& out, const Array& index, const Array& src, int dim) const {
  if (src.shape.numel() == 0) return;
  const int rank = src.shape.rank();
  const Sorted sorted(index, 0, false);
  const Array spread{index.data, i64, src.shape, along(index, rank, dim)};
  add_at(out, spread, src, src.shape, dim, sorted.order, Strides::filled(rank, 0));
}

}  // namespace labgrad
