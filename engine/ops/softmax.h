#pragma once
// Softmax along one dimension: numbers into a distribution.

#include "engine/tensor.h"

namespace labgrad {

// y_i = e^(x_i) / Σ_k e^(x_k) along dim, shifted by the maximum so that no size of x overflows. A
// row of nothing but -inf gives NaN. Error: x is not floating; dim.
Tensor softmax(const Tensor& x, std::int64_t dim, Caller caller = Caller::here());
// y_i = x_i - log Σ_k e^(x_k).
Tensor log_softmax(const Tensor& x, std::int64_t dim, Caller caller = Caller::here());

// Softmax over those entries alone where keep (bool, broadcast against x) is true; the others are
// exactly 0 and get gradient 0, whatever x holds there. A row in which nothing is kept is all 0,
// with gradient 0 (PyTorch: NaN). Errors: keep is not bool, or does not broadcast to x's shape.
Tensor masked_softmax(const Tensor& x, const Tensor& keep, std::int64_t dim,
                      Caller caller = Caller::here());

}  // namespace labgrad
