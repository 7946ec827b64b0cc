#pragma once
// A network of two layers without autograd: forward, and the gradients from the chain rule by hand.
//
// n points, H hidden units. X (n, 2), t (n, 1) with 0 or 1.

#include "engine/tensor.h"

namespace labgrad::labs::autograd {

struct PlainNetwork {
  Tensor W1, b1;  // (H, 2), (H)
  Tensor W2, b2;  // (1, H), (1)

  struct Pass {
    double loss;
    Tensor dW1, db1, dW2, db2;
  };
  // The loss and its gradients.
  Pass run(const Tensor& X, const Tensor& t) const;
  // W ← W - η ∂L/∂W, for all four.
  void step(const Pass& pass, double lr);
};

}  // namespace labgrad::labs::autograd
