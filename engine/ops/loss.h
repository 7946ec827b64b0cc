#pragma once
// Losses: how far predictions are from targets.
//
// Reduce says what becomes of the losses of the single rows: their mean, their sum, or none of it.

#include "engine/tensor.h"

namespace labgrad {

enum class Reduce { none, mean, sum };

struct CrossEntropyOptions {
  std::int64_t ignore_index = -100;  // rows with this target count for nothing
  Tensor weight = {};                // (C): the weight of each class; undefined: all 1
  double label_smoothing = 0;        // ε: the target distribution is (1 - ε) one-hot + ε / C
  Reduce reduction = Reduce::mean;
};

// -log softmax(logits) at the target [cross_entropy.1]. logits (N, C), (C) or (N, C, d1, ...);
// target i64 with the class dimension left out, or a distribution over the classes in the logits'
// shape and dtype. mean divides by the summed weights of the targets that are not ignored (given as
// distributions: by their number). If all are ignored the mean is 0, with gradients 0 (PyTorch:
// NaN). Errors: shapes, dtypes, a target out of range (its value, place and the range are named).
Tensor cross_entropy(const Tensor& logits, const Tensor& target, CrossEntropyOptions options = {},
                     Caller caller = Caller::here());

struct NllOptions {
  std::int64_t ignore_index = -100;
  Tensor weight = {};
  Reduce reduction = Reduce::mean;
};
// The same from log-probabilities (the result of log_softmax) [nll.1].
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, NllOptions options = {},
                Caller caller = Caller::here());

// (x - target)², averaged over all elements [mse.1]. Error: the shapes differ (nothing is
// broadcast: a (N) against (N, 1) would silently compare all pairs).
Tensor mse_loss(const Tensor& x, const Tensor& target, Reduce reduction = Reduce::mean,
                Caller caller = Caller::here());

}  // namespace labgrad
