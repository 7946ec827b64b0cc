#include "engine/ops/join.h"

#include <doctest/doctest.h>

#include "engine/engine.h"
#include "tests/engine/ops/golden_ops.h"

using namespace labgrad;
using labgrad::tests::check_golden;
using labgrad::tests::difference;
using labgrad::tests::Named;

namespace {

Tensor counting(const Shape& shape, double first = 0) {
  return reshape(arange(shape.numel(), {.dtype = f64}), shape) + first;
}

}  // namespace

TEST_CASE("cat joins along any dimension") {
  const Tensor a = counting({2, 2}), b = counting({2, 1}, 10);
  CHECK(difference(cat({a, b}, 1), {0, 1, 10, 2, 3, 11}) == "");
  CHECK(difference(cat({a, transpose(b)}, -2), {0, 1, 2, 3, 10, 11}) == "");
  CHECK(difference(cat({transpose(a), a}), {0, 2, 1, 3, 0, 1, 2, 3}) == "");
  CHECK(cat({a, zeros({0, 2}, {.dtype = f64})}).shape() == Shape{2, 2});
  CHECK(cat({tensor({1, 2}), tensor({0.5})}).dtype() == f32);
  CHECK_THROWS_WITH_AS(
      cat({a, b}, 0),
      doctest::Contains("tensor 1 has shape (2, 1), tensor 0 has (2, 2); they may differ only in "
                        "dimension 0"),
      Error);
  CHECK_THROWS_WITH_AS(cat({}), doctest::Contains("at least one tensor"), Error);
  CHECK_THROWS_WITH_AS(cat({tensor(1), tensor(2)}), doctest::Contains("use stack"), Error);
  CHECK_THROWS_AS(cat({a, a}, 2), Error);
}

TEST_CASE("stack makes a new dimension") {
  const Tensor a = counting({3}), b = counting({3}, 10);
  CHECK(difference(stack({a, b}), {0, 1, 2, 10, 11, 12}) == "");
  CHECK(difference(stack({a, b}, -1), {0, 10, 1, 11, 2, 12}) == "");
  CHECK(stack({tensor(1.0), tensor(2.0)}).shape() == Shape{2});
  CHECK(stack({zeros({0, 2}), zeros({0, 2})}, 1).shape() == Shape{0, 2, 2});
  CHECK_THROWS_WITH_AS(stack({a, counting({2})}),
                       doctest::Contains("tensor 1 has shape (2,), tensor 0 has (3,)"), Error);
}

TEST_CASE("split, chunk and unbind cut as PyTorch does") {
  const Tensor x = counting({5, 2});
  const Tensors twos = split(x, 2);
  REQUIRE(twos.size() == 3);
  CHECK(difference(twos[1], {4, 5, 6, 7}) == "");
  CHECK(twos[2].shape() == Shape{1, 2});
  CHECK(twos[2].shares_storage(x));
  const Tensors parts = split(x, {1, 0, 4}, 0);
  CHECK(parts[1].shape() == Shape{0, 2});
  CHECK(difference(parts[2], {2, 3, 4, 5, 6, 7, 8, 9}) == "");

  // 5 in 4 chunks are parts of 2: three of them, not four.
  CHECK(chunk(x, 4).size() == 3);
  CHECK(chunk(x, 5).size() == 5);
  CHECK(chunk(x, 9).size() == 5);
  CHECK(chunk(x, 2, -1)[1].shape() == Shape{5, 1});
  CHECK(split(zeros({0, 2}), 3).size() == 1);

  const Tensors columns = unbind(x, 1);
  REQUIRE(columns.size() == 2);
  CHECK(difference(columns[1], {1, 3, 5, 7, 9}) == "");
  CHECK(difference(stack(unbind(x, -2)), x) == "");
  CHECK(unbind(zeros({0, 2})).empty());

  CHECK_THROWS_WITH_AS(split(x, {2, 2}, 0),
                       doctest::Contains("sizes that add up to 4 for dimension 0"), Error);
  CHECK_THROWS_WITH_AS(split(x, {7, -2}, 0), doctest::Contains("negative"), Error);
  CHECK_THROWS_AS(split(x, 0), Error);
  CHECK_THROWS_AS(chunk(x, 0), Error);
  CHECK_THROWS_AS(unbind(tensor(1.0)), Error);
}

TEST_CASE("gradients go through cat, stack, split and unbind") {
  Tensor a = counting({2, 2}).requires_grad_(), b = counting({2, 1}).requires_grad_();
  const Tensor c = counting({2, 1});  // needs none
  cat({a, c, b}, 1).backward(counting({2, 4}, 1));
  CHECK(difference(a.grad(), {1, 2, 5, 6}) == "");
  CHECK(difference(b.grad(), {4, 8}) == "");

  Tensor p = counting({2}).requires_grad_();
  stack({p, p * 2}, 1).backward(counting({2, 2}, 1));
  CHECK(difference(p.grad(), {1 + 2 * 2, 3 + 2 * 4}) == "");

  // Parts that nothing uses count as zero.
  Tensor x = counting({5}).requires_grad_();
  split(x, 2)[1].backward(counting({2}, 1));
  CHECK(difference(x.grad(), {0, 0, 1, 2, 0}) == "");
  unbind(x)[4].backward();
  CHECK(difference(x.grad(), {0, 0, 1, 2, 1}) == "");
}

TEST_CASE("a loop over unbound steps leaves one node for all of them") {
  const std::int64_t steps = 50;
  Tensor x = counting({steps, 2}).requires_grad_();
  const std::int64_t before = live_nodes();
  const Tensors xs = unbind(x);
  CHECK(live_nodes() == before + 1);
  Tensor h = xs[0];
  for (std::size_t i = 1; i < xs.size(); ++i) h = h * 0.5 + xs[i];
  h.backward(ones({2}, {.dtype = f64}));
  CHECK(x.grad().at({steps - 1, 0}) == 1);
  CHECK(x.grad().at({steps - 4, 1}) == 0.125);
}

TEST_CASE("pad counts from the last dimension, and negative widths cut") {
  const Tensor x = counting({2, 2}, 1);
  CHECK(difference(pad(x, {1, 2}), {0, 1, 2, 0, 0, 0, 3, 4, 0, 0}) == "");
  CHECK(difference(pad(x, {0, 0, 1, 0}, 9), {9, 9, 1, 2, 3, 4}) == "");
  CHECK(difference(pad(x, {-1, 1, 0, 1}, -1), {2, -1, 4, -1, -1, -1}) == "");
  CHECK(difference(pad(transpose(x), {1, 0}), {0, 1, 3, 0, 2, 4}) == "");
  CHECK(difference(pad(x, {-2, 1, 0, 0}, 7), {7, 7}) == "");
  CHECK(difference(pad(x, {}), x) == "");
  CHECK(pad(zeros({0, 2}), {0, 0, 1, 1}).shape() == Shape{2, 2});
  CHECK_THROWS_WITH_AS(pad(x, {1}), doctest::Contains("1 widths"), Error);
  CHECK_THROWS_AS(pad(x, {0, 0, 0, 0, 1, 1}), Error);
  CHECK_THROWS_WITH_AS(pad(x, {-3, 0}), doctest::Contains("cut off more than dimension 1"), Error);
  CHECK_THROWS_AS(pad(x, {-3, 3}), Error);

  Tensor y = counting({2, 3}).requires_grad_();
  pad(y, {-1, 1, 1, 0}).backward(counting({3, 3}, 1));
  CHECK(difference(y.grad(), {0, 4, 5, 0, 7, 8}) == "");
}

TEST_CASE("pad refuses a real value for whole numbers") {
  CHECK(pad(tensor({1, 2}), {1, 0}, 7).to_vector() == std::vector<double>{7, 1, 2});
  const std::int64_t large = (std::int64_t{1} << 53) + 1;  // no double holds it
  CHECK(pad(tensor({1}), {1, 0}, large).to_vector<std::int64_t>()[0] == large);
  CHECK_THROWS_WITH_AS(pad(tensor({1, 2}), {1, 0}, 0.5),
                       doctest::Contains("pad: the value is a real number, the tensor i64 (2,)"),
                       Error);
}

TEST_CASE("tril and triu keep a triangle of each matrix") {
  const Tensor x = counting({2, 3}, 1);
  CHECK(difference(tril(x), {1, 0, 0, 4, 5, 0}) == "");
  CHECK(difference(tril(x, 1), {1, 2, 0, 4, 5, 6}) == "");
  CHECK(difference(triu(x), {1, 2, 3, 0, 5, 6}) == "");
  CHECK(difference(triu(x, -1), x) == "");
  CHECK(difference(triu(x, 2), {0, 0, 3, 0, 0, 0}) == "");
  CHECK(tril(ones({2, 2}, {.dtype = boolean})).dtype() == boolean);
  CHECK(difference(tril(expand(x, {2, 2, 3})), {1, 0, 0, 4, 5, 0, 1, 0, 0, 4, 5, 0}) == "");
  // An infinity outside the triangle is left out, not multiplied by 0.
  CHECK(difference(tril(full({2, 2}, INFINITY)), {INFINITY, 0, INFINITY, INFINITY}) == "");
  Tensor y = counting({2, 2}).requires_grad_();
  triu(y, 1).backward(counting({2, 2}, 1));
  CHECK(difference(y.grad(), {0, 2, 0, 0}) == "");
  CHECK_THROWS_AS(tril(tensor({1.0, 2.0})), Error);
}

TEST_CASE("cat agrees with PyTorch") {
  CHECK(check_golden("cat", [](const Json& attrs, Named& in) {
          return cat({in["a"], in["b"]}, attrs.at("dim").as_int());
        }) == 1);
}
