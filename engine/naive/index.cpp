// Reading and adding at indices; sorting.

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/naive/formulas.h"
#include "engine/naive/naive.h"
#include "engine/naive/walk.h"

namespace labgrad {

using namespace naive;

namespace {

// The strides of x with 0 at dim, where an index takes the place of the position.
Strides held(Strides strides, int dim) {
  strides[dim] = 0;
  return strides;
}

// The strides of a rank 1 index, read as if it lay along dim of an array of the given rank.
Strides along(const Array& index, int rank, int dim) {
  Strides strides = Strides::filled(rank, 0);
  strides[dim] = index.strides[0];
  return strides;
}

}  // namespace

// out[i, j, k] = x[index[i, j, k], j, k]
void Naive::gather(const Array& out, const Array& x, const Array& index, int dim) const {
  const std::int64_t* at = index.as<std::int64_t>();
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* o = out.as<T>();
    const T* a = x.as<T>();
    walk(
        out.shape, [&](auto i, auto j, auto l) { o[i] = a[j + at[l] * x.strides[dim]]; },
        out.strides, held(x.strides, dim), index.strides);
  });
}

// out[index[i, j, k], j, k] += src[i, j, k]
void Naive::scatter_add(const Array& out, const Array& index, const Array& src, int dim) const {
  const std::int64_t* at = index.as<std::int64_t>();
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* a = src.as<T>();
    walk(
        index.shape,
        [&](auto i, auto l, auto j) {
          T& o = out.as<T>()[i + at[l] * out.strides[dim]];
          o = plus(o, a[j]);
        },
        held(out.strides, dim), index.strides, src.strides);
  });
}

// out[i, j, k] = x[index[i], j, k]
void Naive::index_select(const Array& out, const Array& x, const Array& index, int dim) const {
  const std::int64_t* at = index.as<std::int64_t>();
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* o = out.as<T>();
    const T* a = x.as<T>();
    walk(
        out.shape, [&](auto i, auto j, auto l) { o[i] = a[j + at[l] * x.strides[dim]]; },
        out.strides, held(x.strides, dim), along(index, out.shape.rank(), dim));
  });
}

// out[index[i], j, k] += src[i, j, k]
void Naive::index_add(const Array& out, const Array& index, const Array& src, int dim) const {
  const std::int64_t* at = index.as<std::int64_t>();
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* a = src.as<T>();
    walk(
        src.shape,
        [&](auto i, auto l, auto j) {
          T& o = out.as<T>()[i + at[l] * out.strides[dim]];
          o = plus(o, a[j]);
        },
        held(out.strides, dim), along(index, src.shape.rank(), dim), src.strides);
  });
}

// values_k = x[indices_k], in order; equal elements keep their order
void Naive::sort(const Array& values, const Array& indices, const Array& x, int dim,
                 bool descending) const {
  const std::int64_t n = x.shape[dim];
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        without(x.shape, dim),
        [&](auto i, auto j, auto l) {
          const T* a = x.as<T>() + l;
          auto less = [](T p, T q) {
            return p < q || (!is_nan(p) && is_nan(q));
          };  // NaN is the largest
          auto before = [&](std::int64_t p, std::int64_t q) {
            const T xp = a[p * x.strides[dim]], xq = a[q * x.strides[dim]];
            return descending ? less(xq, xp) : less(xp, xq);
          };
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(), before);
          for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t from = order[static_cast<std::size_t>(k)];
            values.as<T>()[i + k * values.strides[dim]] = a[from * x.strides[dim]];
            indices.as<std::int64_t>()[j + k * indices.strides[dim]] = from;
          }
        },
        values.strides, indices.strides, x.strides);
  });
}

}  // namespace labgrad
