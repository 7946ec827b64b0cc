#pragma once
// Products of matrices and vectors.

#include "engine/tensor.h"

namespace labgrad {

// a[..., m, k] · b[..., k, n] = y[..., m, n]; the leading dimensions broadcast. A vector a is a row
// (1, k) and a vector b a column (k, 1), and that 1 is left out of the result. k = 0 gives zeros.
// f32, f64 or i64. Error: a number (rank 0), bool, different dtypes, sizes that do not fit.
Tensor matmul(const Tensor& a, const Tensor& b, Caller caller = Caller::here());

// y = x·Wᵀ + b with x[..., in], W[out, in], b[out] (or undefined: no bias), y[..., out].
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              Caller caller = Caller::here());

// y[i, j] = a[i] b[j] of two vectors.
Tensor outer(const Tensor& a, const Tensor& b, Caller caller = Caller::here());
// Σ_i a[i] b[i] of two vectors of one length: a number.
Tensor dot(const Tensor& a, const Tensor& b, Caller caller = Caller::here());

}  // namespace labgrad
