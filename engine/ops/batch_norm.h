#pragma once
// Normalisation of channels over a batch.

#include "engine/tensor.h"

namespace labgrad {

struct BatchNormOptions {
  bool training = false;  // statistics of the batch; else the running ones
  double momentum = 0.1;  // weight of the new statistics in the running ones
  double eps = 1e-5;      // inside the root
};

// y = (x - μ) / √(σ² + eps) ⊙ weight + bias for each channel, dimension 1 of x (N, C, ...). Ioffe
// and Szegedy, arXiv:1502.03167.
//
// Training: μ and σ² are the mean and variance (divided by the count) of x over all dimensions but
// 1, and the running statistics move towards them, in place and outside the graph:
//   running = (1 - momentum) running + momentum new, the new variance divided by the count - 1.
// Evaluation: μ and σ² are running_mean and running_var.
// The statistics, weight and bias have shape (C,). weight and bias may be undefined, for 1 and 0;
// so may the statistics in training.
// Errors: rank, dtype or shapes; in training fewer than two values in a channel; in evaluation no
// running statistics.
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight = {}, const Tensor& bias = {}, BatchNormOptions options = {},
                  Caller caller = Caller::here());

}  // namespace labgrad
