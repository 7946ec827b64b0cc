#pragma once
// Tensors joined and taken apart, padded, and cut to triangles.

#include <vector>

#include "engine/tensor.h"

namespace labgrad {

// One after the other along an existing dimension. Dtypes meet as in arithmetic.
// Error: no tensors; shapes that differ in another dimension.
Tensor cat(const Tensors& xs, std::int64_t dim = 0, Caller caller = Caller::here());
// Side by side along a new dimension at position dim. Error: no tensors; shapes differ.
Tensor stack(const Tensors& xs, std::int64_t dim = 0, Caller caller = Caller::here());

// The parts are views of x, and one node of the graph whatever their number: a loop over T steps
// costs time proportional to T in backward, too.
//
// Parts of `size` along dim, the last one smaller if need be. Error: size below 1.
Tensors split(const Tensor& x, std::int64_t size, std::int64_t dim = 0,
              Caller caller = Caller::here());
// Parts of these sizes. Error: their sum is not x's size.
Tensors split(const Tensor& x, const std::vector<std::int64_t>& sizes, std::int64_t dim = 0,
              Caller caller = Caller::here());
// At most n parts of equal size, the last one smaller if need be. Error: n below 1.
Tensors chunk(const Tensor& x, std::int64_t n, std::int64_t dim = 0,
              Caller caller = Caller::here());
// All slices along dim, without that dimension: the inverse of stack. Error: rank 0.
Tensors unbind(const Tensor& x, std::int64_t dim = 0);

// x with `value` around it. widths are (before, after) of the last dimension, then of the one
// before it, and so on: pad(x, {1, 2}) widens the last dimension by 3. Negative widths cut off.
// Error: an odd number of widths, more than x's dimensions, cutting off more than there is, a real
// value for an integer tensor.
Tensor pad(const Tensor& x, const std::vector<std::int64_t>& widths, Scalar value = 0,
           Caller caller = Caller::here());

// The lower triangle of the last two dimensions, zeros elsewhere: column - row <= diagonal.
Tensor tril(const Tensor& x, std::int64_t diagonal = 0);
// The upper one: column - row >= diagonal. Error of both: rank below 2.
Tensor triu(const Tensor& x, std::int64_t diagonal = 0);

}  // namespace labgrad
