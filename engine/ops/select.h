#pragma once
// Choices between elements: where, masks, bounds.

#include <optional>

#include "engine/tensor.h"

namespace labgrad {

// condition ? a : b, elementwise with broadcasting; condition is bool. Only the branch taken gets a
// gradient; but a branch that is infinite or NaN where it is not taken still makes 0 · inf = NaN in
// its own backward: clean the input first, where(x > 0, sqrt(where(x > 0, x, 1)), x).
// Errors: condition is not bool; shapes that do not broadcast.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b,
             Caller caller = Caller::here());
Tensor where(const Tensor& condition, Scalar a, const Tensor& b, Caller caller = Caller::here());
Tensor where(const Tensor& condition, const Tensor& a, Scalar b, Caller caller = Caller::here());

// x with `value` where mask (bool) is true; both broadcast. No gradient where it is filled.
// Errors: mask is not bool; a real value for an integer tensor.
Tensor masked_fill(const Tensor& x, const Tensor& mask, Scalar value,
                   Caller caller = Caller::here());

// min(max(x, lo), hi); a bound left out (std::nullopt) does not bind. The derivative is 1 inside
// and at the bounds, 0 outside; NaN stays NaN. Whole numbers with a real bound become f32.
Tensor clamp(const Tensor& x, std::optional<Scalar> lo, std::optional<Scalar> hi = std::nullopt);

// The larger (smaller) of a and b, elementwise with broadcasting; NaN if either is. Where they are
// equal, each gets half of the gradient.
Tensor maximum(const Tensor& a, const Tensor& b, Caller caller = Caller::here());
Tensor minimum(const Tensor& a, const Tensor& b, Caller caller = Caller::here());
Tensor maximum(const Tensor& a, Scalar b, Caller caller = Caller::here());
Tensor minimum(const Tensor& a, Scalar b, Caller caller = Caller::here());

}  // namespace labgrad
