#pragma once
// Functions of each element by itself, and choices between elements.

#include "engine/tensor.h"

namespace labgrad {

// Natural logarithm. log(0) = -inf, of a negative number NaN.
Tensor log(const Tensor& x);

// condition ? a : b, elementwise with broadcasting; condition is bool. Only the branch taken gets a
// gradient; but a branch that is infinite or NaN where it is not taken still makes 0 · inf = NaN in
// its own backward: clean the input first, where(x > 0, sqrt(where(x > 0, x, 1)), x).
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b,
             Caller caller = Caller::here());
Tensor where(const Tensor& condition, Scalar a, const Tensor& b, Caller caller = Caller::here());
Tensor where(const Tensor& condition, const Tensor& a, Scalar b, Caller caller = Caller::here());

}  // namespace labgrad
