#include <doctest/doctest.h>

#include "engine/engine.h"
#include "tests/engine/ops/golden_ops.h"

using namespace labgrad;
using tests::check_golden;
using tests::difference;

TEST_CASE("layer_norm: golden values and gradients") {
  const auto run = [](const Json& attrs, tests::Named& in) {
    const std::vector<std::int64_t> sizes = golden::integers(attrs.at("normalized_shape"));
    return layer_norm(in["x"], Shape(std::span<const std::int64_t>(sizes)), in["weight"],
                      in["bias"], attrs.at("eps").as_double());
  };
  CHECK(check_golden("layer_norm", run) == 3);
}

TEST_CASE("layer_norm: a constant row gives the bias, and finite gradients") {
  for (DType dtype : {f32, f64}) {
    const Tensor x = full({2, 4}, 0.1, {.dtype = dtype, .requires_grad = true});
    const Tensor w = full({4}, 2.0, {.dtype = dtype, .requires_grad = true});
    const Tensor b = arange(0, 4, {.dtype = dtype, .requires_grad = true});
    const Tensor y = layer_norm(x, {4}, w, b);
    CHECK(difference(y, {0, 1, 2, 3, 0, 1, 2, 3}, {.atol = 1e-6}) == "");
    sum(y * y).backward();
    CHECK(all(isfinite(x.grad())).item<bool>());
    CHECK(difference(w.grad(), {0, 0, 0, 0}, {.atol = 1e-5, .vacuous = true}) == "");
  }
}

TEST_CASE("layer_norm: the fused and the recorded gradient agree, in any layout") {
  Generator generator(2);
  const Tensor x = transpose(randn({5, 3}, generator, {.dtype = f64})).requires_grad_();
  const Tensor w = randn({5}, generator, {.dtype = f64}).requires_grad_();
  const Tensor dy = randn({3, 5}, generator, {.dtype = f64});
  const Tensor y = layer_norm(x, {5}, w);
  const Tensors fused = grad({y}, {x, w}, {dy}, {.retain_graph = true});
  const Tensors recorded = grad({y}, {x, w}, {dy}, {.create_graph = true});
  CHECK(difference(fused[0], recorded[0]) == "");
  CHECK(difference(fused[1], recorded[1]) == "");
}

TEST_CASE("layer_norm: errors") {
  const Tensor x = zeros({2, 3, 4});
  CHECK_THROWS_WITH_AS(
      layer_norm(x, {3}),
      doctest::Contains("normalized_shape (3,) is not the end of the input's shape (2, 3, 4)"),
      Error);
  CHECK_THROWS_WITH_AS(
      layer_norm(x, {4}, ones({3})),
      doctest::Contains(("layer_norm: weight is f32 (3,) on " +
                         std::string(name_of(default_device())) + ", expected f32 (4,)")
                            .c_str()),
      Error);
  CHECK_THROWS_WITH_AS(layer_norm(x, {4}, {}, ones({4}, {.dtype = f64})),
                       doctest::Contains("layer_norm: bias is f64 (4,)"), Error);
  CHECK_THROWS_WITH_AS(layer_norm(x, {}), doctest::Contains("normalized_shape ()"), Error);
}
