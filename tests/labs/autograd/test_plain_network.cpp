#include "labs/autograd/plain_network.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/engine.h"

using namespace labgrad;
using labs::autograd::PlainNetwork;

TEST_CASE("plain network: its gradients are autograd's, and it records nothing") {
  Generator g(4);
  const TensorOptions options{.dtype = f64};
  PlainNetwork net{randn({5, 2}, g, options), randn({5}, g, options), randn({1, 5}, g, options),
                   randn({1}, g, options)};
  const Tensor X = randn({7, 2}, g, options);
  const Tensor t = to(rand({7, 1}, g, options) < 0.5, f64);

  const PlainNetwork::Pass pass = net.run(X, t);
  Tensors leaves = {clone(net.W1), clone(net.b1), clone(net.W2), clone(net.b2)};
  for (Tensor& leaf : leaves) leaf.requires_grad_();
  const Tensor z = linear(tanh(linear(X, leaves[0], leaves[1])), leaves[2], leaves[3]);
  const Tensor p = sigmoid(z);
  const Tensor loss = mean(-t * log(p) - (1 - t) * log(1 - p));
  loss.backward();

  CHECK(std::abs(pass.loss - loss.item()) < 1e-14);
  const Tensors by_hand = {pass.dW1, pass.db1, pass.dW2, pass.db2};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK_FALSE(by_hand[i].requires_grad());
    REQUIRE(by_hand[i].shape() == leaves[i].shape());
    CHECK(max(abs(by_hand[i] - leaves[i].grad())).item() < 1e-14);
  }
  const Tensor before = clone(net.W1);
  net.step(pass, 0.5);
  CHECK(max(abs(net.W1 - (before - 0.5 * pass.dW1))).item() < 1e-15);
}
