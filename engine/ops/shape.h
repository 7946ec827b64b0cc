#pragma once
// The same elements under another shape. All but flip and place are views: they share the storage
// of x and copy nothing. Dimensions may be negative, counted from the end.

#include <limits>

#include "engine/tensor.h"

namespace labgrad {

// x's elements, in row-major order, under another shape: a view where the strides allow it, else a
// copy. One size may be -1: it is worked out from the others.
// Error: the number of elements differs; two sizes of -1.
Tensor reshape(const Tensor& x, const Shape& shape, Caller caller = Caller::here());
// The same, but never a copy. Error: also when x's strides do not allow a view.
Tensor view(const Tensor& x, const Shape& shape, Caller caller = Caller::here());
// Dimensions first .. last (inclusive) made one; rank 0 becomes (1,). Error: first after last.
Tensor flatten(const Tensor& x, std::int64_t first = 0, std::int64_t last = -1);

// Two dimensions exchanged.
Tensor transpose(const Tensor& x, std::int64_t dim0, std::int64_t dim1);
// The last two exchanged. Error: rank below 2.
Tensor transpose(const Tensor& x);
// Of a matrix; a vector or a number stays as it is. Error: rank above 2.
Tensor t(const Tensor& x);
// Dimension d of the result is dimension dims[d] of x. Error: dims is no permutation.
Tensor permute(const Tensor& x, const Shape& dims, Caller caller = Caller::here());
// One dimension moved to another place, the others in their order.
Tensor movedim(const Tensor& x, std::int64_t from, std::int64_t to);

// `length` elements along dim, from `start` on (negative: from the end). Error: out of range.
Tensor narrow(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t length,
              Caller caller = Caller::here());
// Every step-th element of start .. stop-1 along dim, as Python's x[start:stop:step]: negative
// bounds count from the end, and bounds beyond the ends are moved there. Error: step below 1.
inline constexpr std::int64_t to_end = std::numeric_limits<std::int64_t>::max();
Tensor slice(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t stop = to_end,
             std::int64_t step = 1);
// The index-th slice along dim, without that dimension. Error: out of range.
Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index,
              Caller caller = Caller::here());

// Without the dimensions of size 1; without dimension dim, if its size is 1.
Tensor squeeze(const Tensor& x);
Tensor squeeze(const Tensor& x, std::int64_t dim);
// With a dimension of size 1 before position dim, -rank-1 <= dim <= rank.
Tensor unsqueeze(const Tensor& x, std::int64_t dim);

// A copy with the order along each of dims reversed. Error: a dimension named twice.
Tensor flip(const Tensor& x, const Shape& dims);

// Zeros of the given shape, with x at the places start, start + step, ... along dim: the gradient
// of slice, and slice its own. x has that shape but along dim.
Tensor place(const Tensor& x, const Shape& shape, int dim, std::int64_t start, std::int64_t step);

}  // namespace labgrad
