#include <doctest/doctest.h>

#include <cmath>

#include "engine/engine.h"
#include "tests/check_close.h"

using namespace labgrad;
using tests::difference;

namespace {

Tensor leaf(const NestedList& values) {
  return tensor(values, {.dtype = f64, .requires_grad = true});
}

}  // namespace

TEST_CASE("max and min along a dimension: values, first index, gradient to the first") {
  const Tensor x = leaf({{1, 5, 5}, {7, 2, 2}});
  const Extremes most = max(x, 1), least = min(x, -1, true);
  CHECK(difference(most.values, {5, 7}) == "");
  CHECK(most.indices.dtype() == i64);
  CHECK(most.indices.to_vector() == std::vector<double>{1, 0});
  CHECK(least.values.shape() == Shape{2, 1});
  CHECK(difference(least.values, {1, 2}) == "");
  CHECK(least.indices.to_vector() == std::vector<double>{0, 1});
  const Tensor dy = tensor({3.0, 4.0}, {.dtype = f64});
  CHECK(difference(grad(most.values, x, dy), {0, 3, 0, 4, 0, 0}) == "");
  CHECK(difference(grad(least.values, x, reshape(dy, {2, 1})), {3, 0, 0, 0, 4, 0}) == "");
}

TEST_CASE("max and min over all: the first of equal ones gets the gradient") {
  const Tensor x = leaf({{1, 5}, {5, 1}});
  CHECK(max(x).shape() == Shape{});
  CHECK(max(x).item() == 5);
  CHECK(min(x).item() == 1);
  CHECK(difference(grad(max(x), x), {0, 1, 0, 0}) == "");
  CHECK(difference(grad(min(x), x), {1, 0, 0, 0}) == "");
  CHECK(max(tensor(3.0)).item() == 3);
  CHECK(max(transpose(tensor({{1, 2}, {3, 9}}))).item() == 9);
}

TEST_CASE("amax and amin: several dimensions, equal ones share the gradient") {
  const Tensor x = leaf({{1, 5}, {5, 1}});
  CHECK(difference(amax(x), {5}) == "");
  CHECK(difference(grad(amax(x), x), {0, 0.5, 0.5, 0}) == "");
  CHECK(difference(amin(x, 0), {1, 1}) == "");
  CHECK(amax(zeros({2, 3, 4}), {0, 2}, true).shape() == Shape{1, 3, 1});
}

TEST_CASE("argmax and argmin: positions, all layouts, NaN") {
  const Tensor x = tensor({{1, 9, 3}, {4, 0, 9}});
  CHECK(argmax(x).item() == 1);
  CHECK(argmin(x).item() == 4);
  CHECK(argmax(transpose(x)).item() == 2);
  CHECK(argmax(x, 0).to_vector() == std::vector<double>{1, 0, 1});
  CHECK(argmin(x, 1, true).shape() == Shape{2, 1});
  CHECK(argmax(tensor({1.0, std::nan(""), 3.0})).item() == 1);
  CHECK(std::isnan(max(tensor({1.0, std::nan(""), 3.0})).item()));
  CHECK(std::isnan(amin(tensor({1.0, std::nan(""), 3.0})).item()));
  CHECK(argmax(tensor({false, true})).item() == 1);
}

TEST_CASE("extremes of nothing are an error that names the op") {
  const Tensor none = zeros({2, 0});
  CHECK_THROWS_WITH_AS(max(none, 1),
                       doctest::Contains("max: dimension 1 of a tensor of shape (2, 0) has size 0"),
                       Error);
  CHECK_THROWS_WITH_AS(min(none), doctest::Contains("min: "), Error);
  CHECK_THROWS_WITH_AS(
      argmin(none), doctest::Contains("argmin: the tensor of shape (2, 0) has no elements"), Error);
  CHECK_THROWS_WITH_AS(amax(none, 1), doctest::Contains("amax: "), Error);
  CHECK(max(none, 0).values.shape() == Shape{0});
}

TEST_CASE("every reduction keeps the graph") {
  const Tensor x = leaf({{1, 2}, {3, 5}});
  for (const Tensor& y :
       {sum(x), mean(x), prod(x), var(x), labgrad::std(x), norm(x), max(x), min(x), amax(x),
        amin(x), max(x, 0).values, logsumexp(x, 1), cumsum(x, 1)}) {
    CAPTURE(y.grad_fn());
    CHECK(y.requires_grad());
    CHECK(sum(abs(grad(sum(y), x))).item() > 0);
  }
}
