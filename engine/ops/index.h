#pragma once
// Elements chosen by a tensor of positions: i64 in 0 .. size-1, never negative. Others are errors
// that name value, place and range; so are shapes that do not fit and dtypes that cannot be added.

#include <optional>

#include "engine/tensor.h"

namespace labgrad {

// y[i][j][k] = x[index[i][j][k]][j][k] for dim 0, and so on. index has x's rank and, but along dim,
// no size above x's; y has the shape of index.
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index,
              Caller caller = Caller::here());
// x, and y[index[i][j][k]][j][k] += src[i][j][k] for dim 0, and so on; positions may repeat. Where
// src is larger than index, the rest of it is not used.
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src,
                   Caller caller = Caller::here());

// The slices index[0], index[1], ... of x along dim; index has rank 1.
Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index,
                    Caller caller = Caller::here());
// x, and its slice index[i] along dim += slice i of src; positions may repeat.
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src,
                 Caller caller = Caller::here());

// Rows of weight[V, D]: y[..., D] for indices[...]. The row padding_idx gets no gradient (negative:
// from the end).
Tensor embedding(const Tensor& weight, const Tensor& indices,
                 std::optional<std::int64_t> padding_idx = {}, Caller caller = Caller::here());

// 1 at the index, 0 elsewhere, along a new last dimension; i64. classes = -1: the largest index
// plus one.
Tensor one_hot(const Tensor& indices, std::int64_t classes = -1, Caller caller = Caller::here());

struct Ordered {
  Tensor values;
  Tensor indices;  // i64: the positions along dim in x; without gradient
};
// Stable: equal values keep their order. NaN counts as the largest.
Ordered sort(const Tensor& x, std::int64_t dim = -1, bool descending = false);
// The k largest (or smallest) along dim, the most extreme first.
// Error: k is negative or above the size.
Ordered topk(const Tensor& x, std::int64_t k, std::int64_t dim = -1, bool largest = true,
             Caller caller = Caller::here());

}  // namespace labgrad
