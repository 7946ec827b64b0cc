#pragma once
// Dropout: Srivastava et al., JMLR 15 (2014) 1929-1958, in the form that scales while training.

#include "engine/random.h"
#include "engine/tensor.h"

namespace labgrad {

// While training each element becomes 0 with probability p, else x / (1 - p), so that the mean
// stays; otherwise, and for p = 0, x itself. The gradient goes through the same mask. One key is
// drawn from the generator (none if p = 0 or not training); the mask depends on the key and the
// element's position alone, not on device or threads. Error: p outside [0, 1]; x is not floating.
Tensor dropout(const Tensor& x, double p, bool training = true,
               Generator& generator = default_generator());

}  // namespace labgrad
