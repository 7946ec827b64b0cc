#pragma once
// What the ops that normalise by channels begin with.

#include "engine/ops/batch_norm.h"
#include "engine/ops/raw.h"

namespace labgrad {

struct ChannelStatistics {
  Tensor mean, variance;  // μ, σ² (C,)
  Tensor r;               // 1/√(σ² + eps)
};

// The statistics by which batch_norm (engine/ops/batch_norm.h) normalises x: in training those of
// the batch, and the running ones are moved towards them; in evaluation the running ones.
// Errors: those of batch_norm, in the name of `op`.
ChannelStatistics channel_statistics(const char* op, const Tensor& x, const Tensor& running_mean,
                                     const Tensor& running_var, const Tensor& weight,
                                     const Tensor& bias, const BatchNormOptions& options,
                                     const Caller& caller);

}  // namespace labgrad
