#include "labs/autograd/plain_network.h"

#include "engine/ops.h"

namespace labgrad::labs::autograd {

PlainNetwork::Pass PlainNetwork::run(const Tensor& X, const Tensor& t) const {
  // z1 = X W1ᵀ + b1        A = tanh z1        z2 = A W2ᵀ + b2        p = σ(z2)
  const Tensor A = tanh(matmul(X, transpose(W1)) + b1);
  const Tensor z2 = matmul(A, transpose(W2)) + b2;
  const Tensor p = sigmoid(z2);
  // L = mean of -t ln p - (1 - t) ln(1 - p) = ln(1 + e^z2) - t z2
  const Tensor L = mean(softplus(z2) - t * z2);

  // δ2 = ∂L/∂z2 = (p - t) / n        ∂L/∂W2 = δ2ᵀ A        ∂L/∂b2 = Σ δ2
  const Tensor d2 = (p - t) / X.size(0);
  const Tensor dW2 = matmul(transpose(d2), A);
  const Tensor db2 = sum(d2, 0);
  // δ1 = ∂L/∂z1 = δ2 W2 ⊙ (1 - A²)        ∂L/∂W1 = δ1ᵀ X        ∂L/∂b1 = Σ δ1
  const Tensor d1 = matmul(d2, W2) * (1 - square(A));
  const Tensor dW1 = matmul(transpose(d1), X);
  const Tensor db1 = sum(d1, 0);
  return {L.item(), dW1, db1, dW2, db2};
}

void PlainNetwork::step(const Pass& pass, double lr) {
  W1.add_(pass.dW1, -lr);
  b1.add_(pass.db1, -lr);
  W2.add_(pass.dW2, -lr);
  b2.add_(pass.db2, -lr);
}

}  // namespace labgrad::labs::autograd
