#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/engine.h"
#include "tests/engine/ops/golden_ops.h"

using namespace labgrad;
using tests::check_golden;
using tests::difference;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Tensor leaf(const NestedList& values) {
  return tensor(values, {.dtype = f64, .requires_grad = true});
}

std::vector<std::int64_t> dims_of(const Json& attrs) { return golden::integers(attrs.at("dim")); }

}  // namespace

TEST_CASE("sum and mean: golden values and gradients") {
  CHECK(check_golden("sum", [](const Json& attrs, tests::Named& in) {
          return sum(in["x"], dims_of(attrs), attrs.at("keepdim").as_bool());
        }) == 1);
  CHECK(check_golden("mean", [](const Json& attrs, tests::Named& in) {
          return mean(in["x"], dims_of(attrs), attrs.at("keepdim").as_bool());
        }) == 1);
}

TEST_CASE("reductions: dims, negative dims and keepdim shape the result") {
  const Tensor x = zeros({2, 3, 4});
  CHECK(sum(x).shape() == Shape{});
  CHECK(sum(x, {}, true).shape() == Shape{1, 1, 1});
  CHECK(sum(x, 1).shape() == Shape{2, 4});
  CHECK(sum(x, -1).shape() == Shape{2, 3});
  CHECK(sum(x, {0, -1}).shape() == Shape{3});
  CHECK(sum(x, {-1, 0}, true).shape() == Shape{1, 3, 1});
  CHECK(sum(x, std::vector<std::int64_t>{1, 2}).shape() == Shape{2});
  CHECK(sum(zeros({}), 0).shape() == Shape{});
  CHECK(var(x, 1, {.keepdim = true}).shape() == Shape{2, 1, 4});
  CHECK(norm(x, 2, {0, 1}).shape() == Shape{4});
  CHECK(logsumexp(x, {1}).shape() == Shape{2, 4});
  CHECK(prod(x, 0).shape() == Shape{3, 4});
  CHECK(any(x, 2, true).shape() == Shape{2, 3, 1});
  CHECK_THROWS_WITH_AS(sum(x, 3), doctest::Contains("sum: dim 3 is out of range"), Error);
  CHECK_THROWS_WITH_AS(
      mean(x, {1, -2}),
      doctest::Contains("mean: dimension 1 of a tensor of shape (2, 3, 4) is named twice"), Error);
}

TEST_CASE(
    "reductions: gradients have exactly their input's shape, also where sizes are 1 already") {
  const Tensor x = rand({1, 3}, {.dtype = f64}).requires_grad_();
  const Tensor y = rand({1, 1, 3}, {.dtype = f64}).requires_grad_();
  sum(x + y).backward();
  CHECK(x.grad().shape() == Shape{1, 3});
  CHECK(y.grad().shape() == Shape{1, 1, 3});
  const Tensor z = rand({1, 2, 1}, {.dtype = f64}).requires_grad_();
  sum(mean(z, 0), -1).backward(ones({2}, {.dtype = f64}));
  CHECK(z.grad().shape() == Shape{1, 2, 1});
}

TEST_CASE("sum, mean, prod: dtypes and empty tensors") {
  CHECK(sum(tensor({true, true, false})).dtype() == i64);
  CHECK(sum(tensor({true, true, false})).item() == 2);
  CHECK(sum(tensor({1, 2})).dtype() == i64);
  CHECK(prod(tensor({2, 3, 4, 5, 6})).item() == 720);
  CHECK(prod(tensor({2, 3})).dtype() == i64);
  CHECK_THROWS_WITH_AS(mean(tensor({1, 2})),
                       doctest::Contains("mean: needs a floating dtype (f32 or f64), got i64 (2,)"),
                       Error);
  CHECK(sum(zeros({0})).item() == 0);
  CHECK(std::isnan(mean(zeros({0})).item()));
  CHECK(prod(zeros({0})).item() == 1);
  CHECK(sum(zeros({2, 0}), 1).to_vector() == std::vector<double>{0, 0});
  CHECK(sum(zeros({0, 2}), 1).shape() == Shape{0});
}

TEST_CASE("prod: the gradient is right where factors are 0") {
  const Tensor none = leaf({2, 3, 4}), one = leaf({2, 0, 4}), two = leaf({0, 0, 4});
  CHECK(difference(grad(prod(none), none), {12, 8, 6}) == "");
  CHECK(difference(grad(prod(one), one), {0, 8, 0}) == "");
  CHECK(difference(grad(prod(two), two), {0, 0, 0}, {.vacuous = true}) == "");
}

TEST_CASE("var and std: corrections, and gradient 0 for a constant row") {
  const Tensor x = leaf({1, 2, 4});
  CHECK(difference(var(x), {7.0 / 3}) == "");
  CHECK(difference(var(x, {}, {.correction = 0}), {14.0 / 9}) == "");
  CHECK(difference(labgrad::std(x), {std::sqrt(7.0 / 3)}) == "");
  CHECK(std::isnan(var(leaf({3})).item()));
  // 0.1 added up three times and divided by 3 is not 0.1, which must not show.
  for (DType dtype : {f32, f64}) {
    const Tensor row = full({2, 3}, 0.1, {.dtype = dtype, .requires_grad = true});
    const Tensor s = labgrad::std(row, 1);
    CHECK(s.to_vector() == std::vector<double>{0, 0});
    sum(s).backward();
    CHECK(row.grad().to_vector() == std::vector<double>(6, 0));
  }
  // The composed form has no such convention.
  const Tensor row = full({3}, 0.5, {.dtype = f64, .requires_grad = true});
  CHECK(isfinite(grad(sqrt(var(row)), row)).to_vector() == std::vector<double>{0, 0, 0});
}

TEST_CASE("norm: kinds, and gradient 0 at the zero vector") {
  const Tensor x = leaf({{3, -4}, {0, 0}});
  CHECK(difference(norm(x, 2, 1), {5, 0}) == "");
  CHECK(difference(norm(x, 1, 1), {7, 0}) == "");
  CHECK(difference(norm(x, inf, 1), {4, 0}) == "");
  CHECK(difference(norm(x, 3, 1), {std::cbrt(91.0), 0}) == "");
  CHECK(norm(x).item() == 5);
  CHECK(difference(grad(sum(norm(x, 2, 1)), x), {0.6, -0.8, 0, 0}) == "");
  CHECK(difference(grad(sum(norm(x, 3, 1)), x),
                   {9 / std::pow(91.0, 2.0 / 3), -16 / std::pow(91.0, 2.0 / 3), 0, 0}) == "");
  // The composed form: 0/0, as the chain rule says.
  const Tensor zero = leaf({0, 0});
  CHECK(isnan(grad(sqrt(sum(square(zero))), zero)).to_vector() == std::vector<double>{1, 1});
  for (double p : {1.0, 1.5, inf})
    CHECK(grad(norm(zero, p), zero).to_vector() == std::vector<double>{0, 0});
  // Squares beyond the range of f32, and below it.
  for (double size : {1e30, 1e-30}) {
    const Tensor far = tensor({3 * size, -4 * size}, {.requires_grad = true});
    CHECK(norm(far).dtype() == f32);
    CHECK(difference(norm(far) / size, {5}, {.rtol = 1e-6}) == "");
    CHECK(difference(grad(norm(far), far), {0.6, -0.8}, {.rtol = 1e-6}) == "");
    CHECK(difference(norm(far, 3) / size, {std::cbrt(91.0)}, {.rtol = 1e-6}) == "");
  }
  CHECK_THROWS_WITH_AS(norm(x, 0.5), doctest::Contains("norm: p is 0.5"), Error);
}

TEST_CASE("logsumexp: large numbers, rows of -inf") {
  const Tensor x = leaf({{1000, 1001, 1002}, {-20000, -20001, -20000}, {-inf, -inf, -inf}});
  const Tensor y = logsumexp(x, 1);
  CHECK(difference(y, {1002.4076059644443, -19999.137994951, -inf}, {.rtol = 1e-9}) == "");
  const Tensor dx = grad(sum(y), x);
  CHECK(difference(narrow(dx, 0, 0, 1),
                   {0.09003057317038046, 0.24472847105479764, 0.6652409557748218}) == "");
  CHECK(difference(narrow(dx, 0, 2, 1), {0, 0, 0}, {.vacuous = true}) == "");
}

TEST_CASE("cumsum, any, all") {
  const Tensor x = leaf({{1, 2, 3}, {4, 5, 6}});
  CHECK(difference(cumsum(x, 1), {1, 3, 6, 4, 9, 15}) == "");
  CHECK(difference(cumsum(x, 0), {1, 2, 3, 5, 7, 9}) == "");
  CHECK(difference(grad(sum(cumsum(x, 1)), x), {3, 2, 1, 3, 2, 1}) == "");
  CHECK(cumsum(tensor({true, true}), 0).dtype() == i64);
  const Tensor m = tensor({{true, false}, {true, true}});
  CHECK(any(m, 1).to_vector() == std::vector<double>{1, 1});
  CHECK(all(m, 1).to_vector() == std::vector<double>{0, 1});
  CHECK(all(m).dtype() == boolean);
  CHECK(any(zeros({0})).item() == 0);
  CHECK(all(zeros({0})).item() == 1);
  CHECK(any(tensor({0.0, 0.5})).item() == 1);
}
