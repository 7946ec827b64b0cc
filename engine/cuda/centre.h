#pragma once
// Deviations from a mean.

#include "engine/cuda/platform.h"
#include "engine/naive/formulas.h"

namespace labgrad {

// x - μ, for a μ that was summed up with more digits than T has: for x close to μ the difference
// from μ's leading digits is exact, and the others follow.
template <class T>
struct Centre {
  T high, low;

  explicit __device__ Centre(naive::Wide<T> mu)
      : high(static_cast<T>(mu)), low(static_cast<T>(mu - static_cast<naive::Wide<T>>(high))) {}
  __device__ T operator()(T x) const { return (x - high) - low; }
};

}  // namespace labgrad
