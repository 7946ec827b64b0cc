#pragma once
// Keeping gradients within bounds, between backward() and step().

#include "engine/tensor.h"

namespace labgrad::optim {

// Scales all gradients by min(1, max_norm / (n + 1e-6)), n = √Σ g² over all of them, and returns n
// as it was before.                                            Pascanu et al. 2013 [clip.norm]
// Parameters without a gradient are passed over; one listed twice (tied weights) counts once.
// Error: max_norm is not above 0; n is not finite (the gradients are then left as they are).
double clip_grad_norm_(const Tensors& parameters, double max_norm);

// Brings every element of every gradient into [-limit, limit]. Error: limit is not above 0.
void clip_grad_value_(const Tensors& parameters, double limit);

}  // namespace labgrad::optim
