#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/engine.h"
#include "tests/engine/ops/golden_ops.h"

using namespace labgrad;
using tests::check_golden;
using tests::difference;

namespace {

Tensor leaf(const NestedList& values) {
  return tensor(values, {.dtype = f64, .requires_grad = true});
}

}  // namespace

TEST_CASE("where: chooses, broadcasts, and sends each gradient to its branch") {
  const Tensor a = leaf({{1, 2, 3}, {4, 5, 6}}), b = leaf({10, 20, 30});
  const Tensor c = tensor({{true}, {false}});
  const Tensor y = where(c, a, b);
  CHECK(difference(y, {1, 2, 3, 10, 20, 30}) == "");
  sum(y * y).backward();
  CHECK(difference(a.grad(), {2, 4, 6, 0, 0, 0}) == "");
  CHECK(b.grad().shape() == Shape{3});
  CHECK(difference(b.grad(), {20, 40, 60}) == "");
  CHECK(where(c, 1, tensor({2, 3})).dtype() == i64);
  CHECK_THROWS_WITH_AS(where(a, a, b), doctest::Contains("where: the condition must be bool"),
                       Error);
}

TEST_CASE("where: a bad branch not taken is harmless in the forward pass") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(difference(where(tensor({true, false}), tensor({1.0, nan}), tensor({nan, 2.0})), {1, 2}) ==
        "");
}

TEST_CASE("where: the backward pass needs its input cleaned first") {
  const Tensor x = leaf({-1, -4});
  // 0 · NaN from the branch not taken: documented, as in PyTorch.
  CHECK(isnan(grad(sum(where(x > 0, sqrt(x), x)), x)).to_vector() == std::vector<double>{1, 1});
  const Tensor clean = where(x > 0, sqrt(where(x > 0, x, 1)), x);
  CHECK(difference(grad(sum(clean), x), {1, 1}) == "");
  // The same of a division by zero.
  const Tensor a = leaf({1, 2}), b = leaf({0, 4});
  CHECK(difference(where(b == 0, 5, a / b), {5, 0.5}) == "");
  CHECK(isnan(grad(sum(where(b == 0, 5, a / b)), b)).to_vector() == std::vector<double>{1, 0});
  const Tensor quotient = where(b == 0, 5, a / where(b == 0, 1, b));
  const Tensors d = grad({sum(quotient)}, {a, b});
  CHECK(difference(d[0], {0, 0.25}) == "");
  CHECK(difference(d[1], {0, -0.125}) == "");
}

TEST_CASE("masked_fill: golden values; no gradient where it is filled; errors") {
  const auto run = [](const Json& attrs, tests::Named& in) {
    return masked_fill(in["x"], in["mask"], attrs.at("value").as_double());
  };
  CHECK(check_golden("masked_fill", run) == 1);
  CHECK(masked_fill(tensor({1, 2}), tensor({true, false}), 7).to_vector() ==
        std::vector<double>{7, 2});
  CHECK_THROWS_WITH_AS(masked_fill(tensor({1, 2}), tensor({true, false}), 0.5),
                       doctest::Contains("masked_fill: the value is a real number"), Error);
  CHECK_THROWS_WITH_AS(masked_fill(tensor({1, 2}), tensor({1, 0}), 0),
                       doctest::Contains("masked_fill: the mask must be bool, got i64"), Error);
}

TEST_CASE("clamp: values, slope 1 at the bounds, one bound, integers, NaN") {
  const Tensor x = leaf({-2, -1, 0, 1, 2});
  const Tensor y = clamp(x, -1, 1);
  CHECK(difference(y, {-1, -1, 0, 1, 1}) == "");
  CHECK(difference(grad(sum(y), x), {0, 1, 1, 1, 0}) == "");
  CHECK(difference(clamp(x, std::nullopt, 0.5), {-2, -1, 0, 0.5, 0.5}) == "");
  CHECK(difference(clamp(x, 0.5), {0.5, 0.5, 0.5, 1, 2}) == "");
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  CHECK(clamp(tensor({large}), 0).item<std::int64_t>() == large);
  CHECK(clamp(tensor({large + 4}), std::nullopt, large).item<std::int64_t>() == large);
  const Tensor whole = clamp(tensor({-5, 5}), 0, 3);
  CHECK(whole.dtype() == i64);
  CHECK(whole.to_vector() == std::vector<double>{0, 3});
  CHECK(clamp(tensor({-5, 5}), 0.5).dtype() == f32);
  CHECK(std::isnan(clamp(tensor({std::nan("")}), 0, 1).item()));
}

TEST_CASE("maximum and minimum: values, halves at ties, NaN, broadcasting") {
  const Tensor a = leaf({1, 2, 3}), b = leaf({3, 2, 1});
  const Tensor dy = tensor({1.0, 10.0, 100.0}, {.dtype = f64});
  CHECK(difference(maximum(a, b), {3, 2, 3}) == "");
  CHECK(difference(minimum(a, b), {1, 2, 1}) == "");
  CHECK(difference(grad(maximum(a, b), a, dy), {0, 5, 100}) == "");
  CHECK(difference(grad(maximum(a, b), b, dy), {1, 5, 0}) == "");
  CHECK(difference(grad(minimum(a, b), a, dy), {1, 5, 0}) == "");
  CHECK(difference(grad(minimum(a, b), b, dy), {0, 5, 100}) == "");
  CHECK(difference(maximum(a, 2.5), {2.5, 2.5, 3}) == "");
  CHECK(maximum(zeros({2, 1}), zeros({3})).shape() == Shape{2, 3});
  CHECK(maximum(tensor({1}), tensor({2.5})).dtype() == f32);
  const Tensor nan = tensor({std::nan("")});
  CHECK(std::isnan(maximum(nan, 1).item()));
  CHECK(std::isnan(minimum(tensor({1.0}), nan).item()));
  CHECK_THROWS_WITH_AS(maximum(zeros({2}), zeros({3})),
                       doctest::Contains("maximum: shapes (2,) and (3,) do not broadcast"), Error);
}
