#include <doctest/doctest.h>

#include <limits>

#include "engine/engine.h"
#include "tests/engine/ops/golden_ops.h"

using namespace labgrad;
using tests::check_golden;
using tests::difference;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Tensor leaf(const NestedList& values, DType dtype = f64) {
  return tensor(values, {.dtype = dtype, .requires_grad = true});
}

}  // namespace

TEST_CASE("softmax and log_softmax: golden values and gradients") {
  CHECK(check_golden("softmax", [](const Json& attrs, tests::Named& in) {
          return softmax(in["x"], attrs.at("dim").as_int());
        }) == 3);
  CHECK(check_golden("log_softmax", [](const Json& attrs, tests::Named& in) {
          return log_softmax(in["x"], attrs.at("dim").as_int());
        }) == 3);
}

TEST_CASE("softmax: large values, a row of length 1, no rows, one number") {
  for (DType dtype : {f32, f64}) {
    const tests::Tolerance close{.rtol = 1e-6};
    CHECK(difference(softmax(leaf({1000, 1001, 1002}, dtype), 0),
                     {0.09003057317038046, 0.24472847105479764, 0.6652409557748218}, close) == "");
    CHECK(difference(softmax(leaf({-20000, -20001}, dtype), 0),
                     {0.7310585786300049, 0.2689414213699951}, close) == "");
    CHECK(difference(log_softmax(leaf({-20000, -20001}, dtype), -1),
                     {-0.31326168751822286, -1.3132616875182228}, close) == "");
  }
  CHECK(softmax(zeros({3, 1}), 1).to_vector() == std::vector<double>{1, 1, 1});
  CHECK(softmax(zeros({0, 3}), 1).shape() == Shape{0, 3});
  CHECK(softmax(zeros({3, 0}), 1).shape() == Shape{3, 0});
  CHECK(softmax(tensor(2.0), 0).item() == 1);
  CHECK(isnan(softmax(tensor({-inf, -inf}), 0)).to_vector() == std::vector<double>{1, 1});
}

TEST_CASE("softmax: errors") {
  CHECK_THROWS_WITH_AS(softmax(tensor({1, 2}), 0),
                       doctest::Contains("softmax: needs a floating dtype"), Error);
  CHECK_THROWS_WITH_AS(log_softmax(zeros({2}), 1),
                       doctest::Contains("log_softmax: dim 1 is out of range"), Error);
}

TEST_CASE("masked_softmax: golden values; the mask says where attending is allowed") {
  // PyTorch's rows without anything to keep are NaN; ours are 0, and have a test of their own.
  const auto run = [](const Json& attrs, tests::Named& in) {
    const Tensor keep = !in["mask"];
    const Tensor y = masked_softmax(in["x"], keep, attrs.at("dim").as_int());
    if (all(any(keep, attrs.at("dim").as_int())).item<bool>()) return y;
    return where(any(keep, attrs.at("dim").as_int(), true), y, std::nan(""));
  };
  CHECK(check_golden("masked_softmax", run) == 3);
}

TEST_CASE("masked_softmax: a row without anything to keep is 0, with gradient 0") {
  for (DType dtype : {f32, f64}) {
    const Tensor x = leaf({{1, 2, 3}, {4, 5, 6}, {7, inf, 9}}, dtype);
    const Tensor keep = tensor({{true, true, false}, {false, false, false}, {true, false, true}});
    const Tensor y = masked_softmax(x, keep, 1);
    CHECK(difference(y,
                     {0.2689414213699951, 0.7310585786300049, 0, 0, 0, 0, 0.11920292202211755, 0,
                      0.8807970779778823},
                     {.rtol = 1e-6}) == "");
    const Tensor dy = tensor({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, {.dtype = dtype});
    const Tensor dx = grad(y, x, dy, {.retain_graph = true});
    const double a = 0.2689414213699951 * 0.7310585786300049;
    const double b = 2 * 0.11920292202211755 * 0.8807970779778823;
    CHECK(difference(dx, {-a, a, 0, 0, 0, 0, -b, 0, b}, {.rtol = 1e-5, .atol = 1e-7}) == "");
    // The recorded backward pass runs other code.
    CHECK(difference(grad(y, x, dy, {.create_graph = true}), dx.to_vector(),
                     {.rtol = 1e-5, .atol = 1e-7}) == "");
  }
}

TEST_CASE("masked_softmax: causal and padding masks together") {
  const Tensor causal = tril(ones({4, 4})) > 0;
  const Tensor tokens = tensor({{false, true, true, false}});  // the first and the last are padding
  const Tensor scores = randn({2, 4, 4}, {.dtype = f64}).requires_grad_();
  const Tensor y = masked_softmax(scores, causal & tokens, -1);
  CHECK(all(isfinite(y)).item<bool>());
  CHECK(difference(sum(y, -1), {0, 1, 1, 1, 0, 1, 1, 1}) == "");
  CHECK(all(isfinite(grad(sum(y * y), scores))).item<bool>());
}

TEST_CASE("masked_softmax: errors") {
  CHECK_THROWS_WITH_AS(masked_softmax(zeros({2, 3}), ones({2, 3}), 1),
                       doctest::Contains("masked_softmax: keep must be bool"), Error);
  CHECK_THROWS_WITH_AS(masked_softmax(zeros({3}), ones({2, 3}) > 0, 0),
                       doctest::Contains("keep of shape (2, 3) does not broadcast"), Error);
}

// A running maximum that started at -1e4, or a clamp at -64, gave 0/0.
TEST_CASE("softmax: its relatives at large values, and exact zeros where -inf masks") {
  for (DType dtype : {f32, f64})
    for (Device device : {Device::cpu, Device::naive}) {
      const tests::Tolerance close{.rtol = 1e-6};
      const Tensor x = to(leaf({{1000, 1001, 1002}, {-20000, -20001, -inf}}, dtype), device);
      const std::vector<double> p{0.09003057317038046, 0.24472847105479764, 0.6652409557748218,
                                  0.7310585786300049,  0.2689414213699951,  0};
      CHECK(difference(softmax(x, 1), p, close) == "");
      CHECK(softmax(x, 1).at({1, 2}) == 0);
      CHECK(difference(exp(log_softmax(x, 1)), p, close) == "");
      CHECK(difference(masked_softmax(x, x > -inf, 1), p, close) == "");
      CHECK(difference(cross_entropy(x, to(tensor({2, 1}), device), {.reduction = Reduce::none}),
                       {0.4076059644443803, 1.3132616875182228}, close) == "");
      const Tensor scores = to(leaf({{1, 2}, {3, 4}}, dtype), device);
      const Tensor future = to(tensor({{false, true}, {false, false}}), device);
      const Tensor y = softmax(masked_fill(scores, future, -inf), 1);
      CHECK(y.at({0, 0}) == 1);
      CHECK(y.at({0, 1}) == 0);
      const Tensor dx = grad(sum(square(y)), scores);
      CHECK(all(isfinite(dx)).item<bool>());
      CHECK(dx.at({0, 0}) == 0);
      CHECK(dx.at({0, 1}) == 0);
    }
}
