#include "engine/ops/attention.h"

#include <doctest/doctest.h>

#include "engine/engine.h"
#include "tests/check_close.h"

using namespace labgrad;
using namespace labgrad::tests;

TEST_CASE("additive_scores: the fused gradients are those of the ops they stand for") {
  manual_seed(2);
  Tensors x{randn({3, 2, 5}, {.dtype = f64}), randn({3, 4, 5}, {.dtype = f64}),
            randn({5}, {.dtype = f64})};
  for (Tensor& input : x) input.requires_grad_();
  const Tensor dy = randn({3, 2, 4}, {.dtype = f64});
  const Tensor fused = additive_scores(x[0], x[1], x[2]);
  fused.backward(dy);
  Tensors gradients;
  for (Tensor& input : x) {
    gradients.push_back(input.grad());
    input.zero_grad();
  }
  const Tensor composed = matmul(tanh(unsqueeze(x[0], 2) + unsqueeze(x[1], 1)), x[2]);
  CHECK(difference(fused, composed) == "");
  composed.backward(dy);
  for (std::size_t i = 0; i < 3; ++i) CHECK(difference(gradients[i], x[i].grad()) == "");
}

TEST_CASE("additive_scores: errors") {
  CHECK_THROWS_WITH_AS(
      additive_scores(ones({2, 1, 3}), ones({2, 4, 5}), ones({3})),
      doctest::Contains(("k f32 (2, 4, 5) on " + std::string(name_of(default_device())) +
                         ", v f32 (3,) on " + std::string(name_of(default_device())) + "; expected")
                            .c_str()),
      Error);
}
