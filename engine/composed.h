#pragma once

#include <functional>

#include "engine/tensor.h"

namespace labgrad {

// What a fused op's backward does when somebody will differentiate it again: the gradients of f,
// the same function written with ops, by the inputs xs, as recorded functions of xs and dy.
// Undefined where xs[i] is, or needs none.
Tensors composed_gradients(const std::function<Tensor(const Tensors& xs)>& f, const Tensors& xs,
                           const Tensor& dy);

}  // namespace labgrad
