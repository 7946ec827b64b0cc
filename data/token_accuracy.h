#pragma once
// How many tokens of a translation are right, place by place.

#include <cstdint>

#include "engine/tensor.h"

namespace labgrad::data {

// Over some batches of predicted and true ids.
struct TokenAccuracy {
  std::int64_t batches = 0;
  double matches_per_step = 0;  // summed over batches
  std::int64_t right = 0;       // places that are not <pad> and predicted rightly
  std::int64_t tokens = 0;      // places that are not <pad>; <eos> is a token

  // Adds a batch: ids (S, B) of i64, from the first word on (without <sos>).
  // Error: shapes differ or are not (S, B), S = 0, or another dtype.
  void add(const Tensor& predicted, const Tensor& target);

  // As the tutorial counts: matches, places of <pad> among them, divided by the steps S and not by
  // S·B, so that it lies between 0 and the batch size; the mean over batches. The tutorial prints
  // whole numbers because its division drops the rest.
  double as_in_tutorial() const;
  // right / tokens: between 0 and 1, padding left out. NaN if there is no token.
  double per_token() const;
};

}  // namespace labgrad::data
