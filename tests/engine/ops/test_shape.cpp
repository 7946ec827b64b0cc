#include "engine/ops/shape.h"

#include <doctest/doctest.h>

#include <limits>

#include "engine/engine.h"
#include "tests/check_close.h"

using namespace labgrad;
using labgrad::tests::difference;

namespace {

// 0, 1, 2, ... in row-major order.
Tensor counting(const Shape& shape) {
  return reshape(arange(shape.numel(), {.dtype = f64}), shape);
}

// dx for y = f(x) and dy = 1, 2, 3, ...
template <class F>
Tensor gradient_of(const F& f, const Tensor& at) {
  const Tensor x = at.detach().requires_grad_();
  const Tensor y = f(x);
  return grad(y, x, counting(y.shape()) + 1);
}

}  // namespace

TEST_CASE("reshape is a view where the strides allow it, and a copy where not") {
  const Tensor x = counting({2, 3, 4});
  const Tensor flat = reshape(x, {4, -1});
  CHECK(flat.shape() == Shape{4, 6});
  CHECK(flat.shares_storage(x));
  CHECK(flat.at({1, 2}) == 8);

  const Tensor swapped = transpose(x, 0, 1);  // (3, 2, 4) with strides (4, 12, 1)
  CHECK(reshape(swapped, {3, 2, 2, 2}).shares_storage(x));
  CHECK(difference(reshape(swapped, {3, 2, 2, 2}), reshape(contiguous(swapped), {3, 2, 2, 2})) ==
        "");
  const Tensor copied = reshape(swapped, {6, 4});
  CHECK_FALSE(copied.shares_storage(x));
  CHECK(difference(copied, contiguous(swapped).to_vector()) == "");

  // Strides of 0 merge with each other and with nothing else.
  const Tensor repeated = expand(counting({2, 1, 1}), {2, 3, 4});
  CHECK(view(repeated, {2, 12}).strides()[1] == 0);
  CHECK(difference(reshape(repeated, {24}), packed(repeated).to_vector()) == "");
  CHECK_FALSE(reshape(repeated, {24}).shares_storage(repeated));

  // Every second row, every third column: evenly spaced within, not across.
  const Tensor spaced = slice(slice(counting({4, 9}), 0, 0, to_end, 2), 1, 0, to_end, 3);
  CHECK(view(spaced, {2, 1, 3, 1}).shares_storage(spaced));
  CHECK(difference(reshape(spaced, {6}), {0, 3, 6, 18, 21, 24}) == "");
}

TEST_CASE("reshape and view say what does not fit") {
  const Tensor x = counting({2, 3});
  CHECK_THROWS_WITH_AS(reshape(x, {4, 2}),
                       doctest::Contains("shape (2, 3) has 6 elements, which do not fill (4, 2)"),
                       Error);
  CHECK_THROWS_WITH_AS(reshape(x, {4, -1}), doctest::Contains("do not fill (4, -1)"), Error);
  CHECK_THROWS_WITH_AS(reshape(x, {-1, -1}), doctest::Contains("only one size can be -1"), Error);
  CHECK_THROWS_WITH_AS(reshape(x, {-2, 3}), doctest::Contains("negative size"), Error);
  CHECK_THROWS_WITH_AS(reshape(zeros({0, 3}), {0, -1}), doctest::Contains("any size"), Error);
  CHECK_THROWS_WITH_AS(reshape(x, {std::int64_t{1} << 40, std::int64_t{1} << 40}),
                       doctest::Contains("more elements than can be counted"), Error);
  CHECK_THROWS_WITH_AS(view(transpose(x), {6}), doctest::Contains("use reshape"), Error);
  CHECK_THROWS_WITH_AS(reshape(x, {5}), doctest::Contains("test_shape.cpp"), Error);
  CHECK(reshape(zeros({0, 3}), {3, 0, 2}).shape() == Shape{3, 0, 2});
  CHECK(reshape(counting({1, 1}), {}).rank() == 0);
}

TEST_CASE("flatten joins a range of dimensions") {
  const Tensor x = counting({2, 3, 4, 5});
  CHECK(flatten(x).shape() == Shape{120});
  CHECK(flatten(x, 1).shape() == Shape{2, 60});
  CHECK(flatten(x, 1, -2).shape() == Shape{2, 12, 5});
  CHECK(flatten(x, 0, 1).shape() == Shape{6, 4, 5});
  CHECK(flatten(counting({})).shape() == Shape{1});
  CHECK_THROWS_WITH_AS(flatten(x, 2, 1), doctest::Contains("comes after the last"), Error);
  CHECK_THROWS_WITH_AS(flatten(x, 4), doctest::Contains("flatten"), Error);
}

TEST_CASE("transpose, t, permute and movedim read the same elements in another order") {
  const Tensor x = counting({2, 3, 4});
  CHECK(transpose(x).shape() == Shape{2, 4, 3});
  CHECK(transpose(x, 0, -1).at({3, 2, 1}) == x.at({1, 2, 3}));
  CHECK(permute(x, {2, 0, -2}).shape() == Shape{4, 2, 3});
  CHECK(permute(x, {2, 0, 1}).at({3, 1, 2}) == x.at({1, 2, 3}));
  CHECK(permute(x, {2, 0, 1}).shares_storage(x));
  CHECK(movedim(x, 0, -1).shape() == Shape{3, 4, 2});
  CHECK(movedim(x, -1, 0).at({3, 1, 2}) == x.at({1, 2, 3}));
  CHECK(t(counting({3})).shape() == Shape{3});
  CHECK(t(counting({2, 3})).at({2, 1}) == 5);

  CHECK_THROWS_WITH_AS(t(x), doctest::Contains("at most two dimensions"), Error);
  CHECK_THROWS_WITH_AS(transpose(counting({3})), doctest::Contains("at least two"), Error);
  CHECK_THROWS_WITH_AS(permute(x, {0, 1}), doctest::Contains("(0, 1) does not name each"), Error);
  CHECK_THROWS_WITH_AS(permute(x, {0, 1, -2}), doctest::Contains("once"), Error);
  CHECK_THROWS_WITH_AS(transpose(x, 0, 3), doctest::Contains("transpose"), Error);
}

TEST_CASE("slice follows Python's x[start:stop:step]") {
  const Tensor x = counting({10});
  CHECK(difference(slice(x, 0, 2, 5), {2, 3, 4}) == "");
  CHECK(difference(slice(x, 0, 2), {2, 3, 4, 5, 6, 7, 8, 9}) == "");
  CHECK(difference(slice(x, 0, -3), {7, 8, 9}) == "");
  CHECK(difference(slice(x, 0, 1, -1, 3), {1, 4, 7}) == "");
  CHECK(difference(slice(x, -1, -100, 100, 4), {0, 4, 8}) == "");
  CHECK(difference(slice(x, 0, 9, to_end, to_end), std::vector<double>{9}) == "");
  CHECK(slice(x, 0, 5, 2).shape() == Shape{0});
  CHECK(slice(x, 0, 20, 30).shape() == Shape{0});
  CHECK(slice(x, 0, 2, 5).shares_storage(x));
  CHECK(slice(x, 0, 2, 5).offset() == 2);
  CHECK(slice(zeros({0, 5}), 1, 2, 4).shape() == Shape{0, 2});
  CHECK_THROWS_WITH_AS(slice(x, 0, 0, 5, 0), doctest::Contains("step must be at least 1"), Error);
  CHECK_THROWS_WITH_AS(slice(counting({}), 0, 0, 1), doctest::Contains("slice"), Error);
}

TEST_CASE("narrow and select check their bounds") {
  const Tensor x = counting({3, 4});
  CHECK(difference(narrow(x, 1, 1, 2), {1, 2, 5, 6, 9, 10}) == "");
  CHECK(difference(narrow(x, -1, -2, 2), {2, 3, 6, 7, 10, 11}) == "");
  CHECK(narrow(x, 0, 3, 0).shape() == Shape{0, 4});
  CHECK(difference(select(x, 0, 1), {4, 5, 6, 7}) == "");
  CHECK(difference(select(x, -1, -1), {3, 7, 11}) == "");
  CHECK(select(counting({3}), 0, 2).item() == 2);
  CHECK(select(x, 1, 2).offset() == 2);

  CHECK_THROWS_WITH_AS(narrow(x, 1, 3, 2),
                       doctest::Contains("2 elements from 3 on do not lie in dimension 1"), Error);
  CHECK_THROWS_AS(narrow(x, 0, 0, -1), Error);
  CHECK_THROWS_AS(narrow(x, 0, -4, 1), Error);
  CHECK_THROWS_AS(narrow(x, 0, 1, std::numeric_limits<std::int64_t>::max()), Error);
  CHECK_THROWS_WITH_AS(
      select(x, 0, 3),
      doctest::Contains("index 3 is out of range at dimension 0 of a tensor of shape (3, 4); "
                        "permitted are -3 .. 2"),
      Error);
  CHECK_THROWS_AS(select(x, 0, -4), Error);
  CHECK_THROWS_AS(select(counting({}), 0, 0), Error);
}

TEST_CASE("squeeze and unsqueeze drop and add sizes of 1") {
  const Tensor x = counting({1, 3, 1, 2});
  CHECK(squeeze(x).shape() == Shape{3, 2});
  CHECK(squeeze(x, 0).shape() == Shape{3, 1, 2});
  CHECK(squeeze(x, -2).shape() == Shape{1, 3, 2});
  CHECK(squeeze(x, 1).shape() == x.shape());
  CHECK(squeeze(counting({}), 0).rank() == 0);
  CHECK(unsqueeze(x, 0).shape() == Shape{1, 1, 3, 1, 2});
  CHECK(unsqueeze(x, -1).shape() == Shape{1, 3, 1, 2, 1});
  CHECK(unsqueeze(counting({}), 0).shape() == Shape{1});
  CHECK(unsqueeze(x, 4).is_contiguous());
  CHECK(unsqueeze(transpose(squeeze(x)), 1).at({1, 0, 2}) == 5);
  CHECK_THROWS_AS(unsqueeze(x, 5), Error);
  CHECK_THROWS_AS(unsqueeze(x, -6), Error);
}

TEST_CASE("flip reverses, in storage of its own") {
  const Tensor x = counting({2, 3});
  CHECK(difference(flip(x, {1}), {2, 1, 0, 5, 4, 3}) == "");
  CHECK(difference(flip(x, {0, -1}), {5, 4, 3, 2, 1, 0}) == "");
  CHECK(difference(flip(transpose(x), {0}), {2, 5, 1, 4, 0, 3}) == "");
  CHECK(difference(flip(x, {}), x) == "");
  CHECK_FALSE(flip(x, {}).shares_storage(x));
  CHECK(flip(zeros({0, 3}), {0, 1}).shape() == Shape{0, 3});
  CHECK_THROWS_WITH_AS(flip(x, {1, -1}), doctest::Contains("named twice"), Error);
}

TEST_CASE("the gradient of a view lands where the element came from") {
  const Tensor x = counting({2, 3});
  CHECK(difference(gradient_of(
                       [](const Tensor& a) {
                         return reshape(a, {3, 2});
                       },
                       x),
                   {1, 2, 3, 4, 5, 6}) == "");
  CHECK(difference(gradient_of([](const Tensor& a) { return transpose(a); }, x),
                   {1, 3, 5, 2, 4, 6}) == "");
  CHECK(difference(gradient_of([](const Tensor& a) { return view(a, {6}); }, x),
                   {1, 2, 3, 4, 5, 6}) == "");
  CHECK(difference(gradient_of([](const Tensor& a) { return slice(a, 1, 0, to_end, 2); }, x),
                   {1, 0, 2, 3, 0, 4}) == "");
  CHECK(difference(gradient_of([](const Tensor& a) { return select(a, 1, -1); }, x),
                   {0, 0, 1, 0, 0, 2}) == "");
  CHECK(difference(gradient_of([](const Tensor& a) { return narrow(a, 0, 1, 1); }, x),
                   {0, 0, 0, 1, 2, 3}) == "");
  CHECK(difference(gradient_of([](const Tensor& a) { return flip(a, {0}); }, x),
                   {4, 5, 6, 1, 2, 3}) == "");
  CHECK(difference(gradient_of([](const Tensor& a) { return squeeze(unsqueeze(a, 1)); }, x),
                   {1, 2, 3, 4, 5, 6}) == "");
  CHECK(difference(gradient_of([](const Tensor& a) { return slice(a, 0, 2, 2); }, x),
                   {0, 0, 0, 0, 0, 0}, {.vacuous = true}) == "");
  CHECK(difference(gradient_of(
                       [](const Tensor& a) {
                         return permute(a, {2, 0, 1});
                       },
                       counting({1, 2, 3})),
                   {1, 3, 5, 2, 4, 6}) == "");
  CHECK(difference(gradient_of(
                       [](const Tensor& a) {
                         return place(a, {2, 7}, 1, 1, 2);
                       },
                       x),
                   {2, 4, 6, 9, 11, 13}) == "");
}

TEST_CASE("two views of one tensor add up their gradients") {
  Tensor x = counting({4}).requires_grad_();
  const Tensor y = slice(x, 0, 0, 3) * slice(x, 0, 1, 4);  // x0 x1, x1 x2, x2 x3
  y.backward(tensor({1.0, 1.0, 1.0}, {.dtype = f64}));
  CHECK(difference(x.grad(), {1, 2, 4, 2}) == "");
}
