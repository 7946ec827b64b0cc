#pragma once
// Normalisation of rows.

#include "engine/tensor.h"

namespace labgrad {

// y = (x - μ) / sqrt(σ² + eps) ⊙ weight + bias, with the mean μ and the variance σ² (divided by the
// count) over the last dimensions, whose sizes are normalized_shape. weight and bias have that
// shape; leave them undefined for 1 and 0. Ba, Kiros and Hinton, arXiv:1607.06450.
// Errors: normalized_shape is not the end of x's shape; weight or bias differ; x is not floating.
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5, Caller caller = Caller::here());

}  // namespace labgrad
