#include "engine/ops/batch_norm.h"

#include <doctest/doctest.h>

#include "engine/backward.h"
#include "engine/create.h"
#include "engine/ops.h"
#include "tests/check_close.h"
#include "tests/engine/ops/golden_ops.h"

using namespace labgrad;
using tests::check_golden_outputs;
using tests::difference;
using tests::Named;

TEST_CASE("batch_norm: golden values, running statistics and gradients") {
  const auto run = [](const Json& attrs, Named& in) {
    Tensor mean = in["running_mean"].detach(), var = in["running_var"].detach();
    const Tensor y = batch_norm(in["x"], mean, var, in["weight"], in["bias"],
                                {.training = attrs.at("training").as_bool(),
                                 .momentum = attrs.at("momentum").as_double(),
                                 .eps = attrs.at("eps").as_double()});
    return Named{{"out", y}, {"running_mean", mean}, {"running_var", var}};
  };
  CHECK(check_golden_outputs("batch_norm", run) == 3);
}

TEST_CASE("batch_norm: the running variance is the unbiased one, the output's is not") {
  const Tensor x = reshape(tensor({1.0, 3.0}), {2, 1});
  Tensor mean = zeros({1}), var = zeros({1});
  const Tensor y = batch_norm(x, mean, var, {}, {}, {.training = true, .momentum = 0.5, .eps = 0});
  CHECK(mean.item() == 1);
  CHECK(var.item() == 1);  // half of 2 = ((1-2)² + (3-2)²) / (2 - 1)
  CHECK(y.to_vector() == std::vector<double>{-1, 1});
}

TEST_CASE("batch_norm: the recorded backward is the fused one, in training and evaluation") {
  Generator generator(8);
  const TensorOptions options{.dtype = f64, .requires_grad = true};
  const Tensor x = randn({3, 4, 2, 5}, generator, options);
  const Tensor w = randn({4}, generator, options), b = randn({4}, generator, options);
  const Tensor dy = randn(x.shape(), generator, {.dtype = f64});
  Tensor mean = randn({4}, generator, {.dtype = f64}), var = full({4}, 0.7, {.dtype = f64});
  for (bool training : {true, false}) {
    const Tensor y = batch_norm(x, training ? Tensor() : mean, training ? Tensor() : var, w, b,
                                {.training = training});
    const Tensors fused = grad({y}, {x, w, b}, {dy}, {.retain_graph = true});
    const Tensors recorded = grad({y}, {x, w, b}, {dy}, {.create_graph = true});
    for (std::size_t i = 0; i < 3; ++i) CHECK(difference(fused[i], recorded[i]) == "");
  }
}

TEST_CASE("batch_norm: large means leave the variance its digits") {
  Generator generator(9);
  const Tensor x = randn({64, 2, 8, 8}, generator) + 1e4;
  Tensor mean = zeros({2}), var = zeros({2});
  const Tensor y = batch_norm(x, mean, var, {}, {}, {.training = true, .momentum = 1});
  CHECK(difference(var, ones({2}), {.rtol = 0.05}) == "");
  CHECK(difference(var, labgrad::var(to(x, f64), {0, 2, 3}), {.rtol = 1e-3}) == "");
}

TEST_CASE("batch_norm: changed statistics are found when an evaluated graph needs them") {
  Tensor x = ones({2, 1}, {.requires_grad = true}), w = ones({1}, {.requires_grad = true});
  Tensor mean = zeros({1}), var = ones({1});
  const Tensor y = batch_norm(x, mean, var, w);
  batch_norm(tensor({{1.0}, {2.0}}), mean, var, {}, {}, {.training = true});
  CHECK_THROWS_WITH_AS(sum(y).backward(), doctest::Contains("batch_norm"), Error);
}

TEST_CASE("batch_norm: errors") {
  const auto complains = [](auto f, const char* text) {
    CHECK_THROWS_WITH_AS(f(), doctest::Contains(text), Error);
  };
  const Tensor x = ones({1, 3}), c = ones({3});
  complains([&] { return batch_norm(x, c, c, {}, {}, {.training = true}); },
            "an input of shape (1, 3) has 1 values in a channel");
  complains([&] { return batch_norm(ones({3}), c, c); }, "needs a floating input (N, C, ...)");
  complains([&] { return batch_norm(x, {}, {}); }, "evaluation needs running_mean");
  complains([&] { return batch_norm(x, ones({2}), c); },
            ("running_mean is f32 (2,) on " + std::string(name_of(default_device())) +
             ", expected f32 (3,)")
                .c_str());
  complains([&] { return batch_norm(x, c, c, ones({3}, {.dtype = f64})); }, "weight is f64 (3,)");
}
