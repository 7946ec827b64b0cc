#include "engine/ops/index.h"

#include <doctest/doctest.h>

#include <cmath>

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

TEST_CASE("gather reads along one dimension") {
  const Tensor x = counting({2, 3});
  CHECK(difference(gather(x, 1, tensor({{2, 0}, {1, 1}})), {2, 0, 4, 4}) == "");
  CHECK(difference(gather(x, 0, tensor({{1, 0, 1}})), {3, 1, 5}) == "");
  CHECK(difference(gather(transpose(x), -1, transpose(tensor({{1, 0, 1}}))), {3, 1, 5}) == "");
  CHECK(difference(gather(x, 1, tensor({{0, 1, 2, 2, 1}})), {0, 1, 2, 2, 1}) == "");
  CHECK(gather(counting({}, 3), 0, tensor(0)).item() == 3);

  Tensor p = counting({2, 3}).requires_grad_();
  gather(p, 1, tensor({{2, 0}, {1, 1}})).backward(counting({2, 2}, 1));
  CHECK(difference(p.grad(), {2, 0, 1, 0, 7, 0}) == "");
}

TEST_CASE("scatter_add adds where positions repeat, and leaves its input alone") {
  const Tensor x = counting({2, 3});
  const Tensor index = tensor({{0, 0, 2}, {1, 2, 1}});
  const Tensor y = scatter_add(x, 1, index, counting({2, 3}, 10));
  CHECK(difference(y, {0 + 10 + 11, 1, 2 + 12, 3, 4 + 13 + 15, 5 + 14}) == "");
  CHECK(difference(x, counting({2, 3})) == "");

  // A larger source: the rest is unused and gets no gradient.
  Tensor src = counting({2, 4}, 1).requires_grad_(), to_ = counting({2, 3}).requires_grad_();
  const Tensor part = scatter_add(to_, 1, tensor({{1, 1}}), src);
  CHECK(difference(part, {0, 1 + 1 + 2, 2, 3, 4, 5}) == "");
  part.backward(counting({2, 3}, 1));
  CHECK(difference(src.grad(), {2, 2, 0, 0, 0, 0, 0, 0}) == "");
  CHECK(difference(to_.grad(), counting({2, 3}, 1)) == "");
}

TEST_CASE("index_select and index_add choose whole slices") {
  const Tensor x = counting({3, 2});
  CHECK(difference(index_select(x, 0, tensor({2, 0, 2})), {4, 5, 0, 1, 4, 5}) == "");
  CHECK(difference(index_select(x, -1, tensor({1})), {1, 3, 5}) == "");
  CHECK(index_select(x, 0, zeros({0}, {.dtype = i64})).shape() == Shape{0, 2});
  CHECK(difference(index_add(x, 0, tensor({1, 1}), counting({2, 2}, 1)), {0, 1, 6, 9, 4, 5}) == "");

  Tensor p = counting({3, 2}).requires_grad_();
  index_select(p, 0, tensor({2, 0, 2})).backward(counting({3, 2}, 1));
  CHECK(difference(p.grad(), {3, 4, 0, 0, 1 + 5, 2 + 6}) == "");
  Tensor src = counting({2, 2}).requires_grad_();
  index_add(x, 0, tensor({2, 0}), src).backward(counting({3, 2}, 1));
  CHECK(difference(src.grad(), {5, 6, 1, 2}) == "");

  CHECK_THROWS_WITH_AS(index_select(x, 0, tensor({{0}})), doctest::Contains("one dimension"),
                       Error);
  CHECK_THROWS_AS(index_add(x, 0, tensor({1}), counting({2, 2})), Error);
}

TEST_CASE("embedding reads rows; the padding row gets no gradient") {
  Tensor w = counting({4, 2}).requires_grad_();
  const Tensor tokens = tensor({{1, 3}, {3, 0}});
  const Tensor y = embedding(w, tokens, 0);
  CHECK(y.shape() == Shape{2, 2, 2});
  CHECK(difference(y, {2, 3, 6, 7, 6, 7, 0, 1}) == "");
  y.backward(counting({2, 2, 2}, 1));
  CHECK(difference(w.grad(), {0, 0, 1, 2, 0, 0, 3 + 5, 4 + 6}) == "");

  w.zero_grad();
  embedding(w, tokens, -1).backward(counting({2, 2, 2}, 1));
  CHECK(difference(w.grad(), {7, 8, 1, 2, 0, 0, 0, 0}) == "");
  w.zero_grad();
  embedding(w, transpose(tokens)).backward(expand(tensor(1.0, {.dtype = f64}), {2, 2, 2}));
  CHECK(difference(w.grad(), {1, 1, 1, 1, 0, 0, 2, 2}) == "");

  CHECK(embedding(w, tensor(3)).shape() == Shape{2});
  CHECK_THROWS_WITH_AS(embedding(w, tensor({{0, 1}, {2, 4}})),
                       doctest::Contains("embedding: index 4 at position (1, 1) is out of range; "
                                         "permitted are 0 .. 3"),
                       Error);
  CHECK_THROWS_WITH_AS(embedding(w, tokens, 4), doctest::Contains("padding_idx 4"), Error);
  CHECK_THROWS_AS(embedding(select(w, 0, 0), tokens), Error);
}

TEST_CASE("indices out of range, of another dtype or shape are errors") {
  const Tensor x = counting({2, 3});
  CHECK_THROWS_WITH_AS(
      gather(x, 1, tensor({{0, 3}})),
      doctest::Contains("gather: index 3 at position (0, 1) is out of range; permitted are 0 .. 2"),
      Error);
  CHECK_THROWS_WITH_AS(gather(x, 0, tensor({{-1}})), doctest::Contains("index -1"), Error);
  CHECK_THROWS_WITH_AS(index_select(x, 0, tensor({0, 2})), doctest::Contains("position (1,)"),
                       Error);
  CHECK_THROWS_WITH_AS(gather(x, 1, tensor({{0.0}})),
                       doctest::Contains("must be i64, got f32 (1, 1)"), Error);
  CHECK_THROWS_WITH_AS(gather(x, 1, tensor({0})), doctest::Contains("the ranks must agree"), Error);
  CHECK_THROWS_AS(gather(x, 1, tensor({{0}, {0}, {0}})), Error);
  CHECK_THROWS_WITH_AS(gather(zeros({2, 0}), 1, tensor({{0}})), doctest::Contains("size 0"), Error);
  CHECK_THROWS_AS(scatter_add(x, 0, tensor({{2}}), counting({1, 1})), Error);
  CHECK_THROWS_WITH_AS(scatter_add(x, 0, tensor({{1}}), zeros({1, 1})),
                       doctest::Contains("f32 cannot be added to f64"), Error);
  CHECK_THROWS_AS(scatter_add(x, 0, tensor({{1, 1}}), counting({1, 1})), Error);
  // Also where the indices are a view that skips the good ones.
  CHECK_THROWS_AS(index_select(x, 0, slice(tensor({0, 5, 1, 7}), 0, 1, to_end, 2)), Error);
}

TEST_CASE("one_hot has a 1 at the index") {
  const Tensor y = one_hot(tensor({{1, 0}, {2, 1}}), 4);
  CHECK(y.shape() == Shape{2, 2, 4});
  CHECK(y.dtype() == i64);
  CHECK(difference(y, {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0}) == "");
  CHECK(one_hot(tensor({0, 2})).shape() == Shape{2, 3});
  CHECK(difference(one_hot(tensor(1), 2), {0, 1}) == "");
  CHECK_THROWS_WITH_AS(one_hot(tensor({0, 3}), 3), doctest::Contains("one_hot: index 3"), Error);
  CHECK_THROWS_AS(one_hot(tensor({1.0})), Error);
  CHECK_THROWS_AS(one_hot(zeros({0}, {.dtype = i64})), Error);
}

TEST_CASE("sort is stable, puts NaN last, and sends gradients back to their places") {
  const Ordered up = sort(tensor({{3.0, 1.0, 2.0}, {1.0, 0.0, 1.0}}));
  CHECK(difference(up.values, {1, 2, 3, 0, 1, 1}) == "");
  CHECK(difference(up.indices, {1, 2, 0, 1, 0, 2}) == "");
  const Ordered down = sort(tensor({1.0, 3.0, 1.0, 3.0}), 0, true);
  CHECK(difference(down.indices, {1, 3, 0, 2}) == "");
  const Ordered first = sort(tensor({{3, 1}, {1, 2}}), 0);
  CHECK(difference(first.values, {1, 1, 3, 2}) == "");
  CHECK(first.values.dtype() == i64);
  const Tensor with_nan = tensor({1.0, NAN, 0.0});
  CHECK(difference(sort(with_nan).indices, {2, 0, 1}) == "");
  CHECK(difference(sort(with_nan, 0, true).indices, {1, 0, 2}) == "");
  CHECK(sort(tensor(2.0)).values.item() == 2);

  Tensor x = tensor({3.0, 1.0, 2.0}, {.requires_grad = true});
  const Ordered s = sort(x);
  CHECK_FALSE(s.indices.requires_grad());
  s.values.backward(tensor({1.0, 2.0, 4.0}));
  CHECK(difference(x.grad(), {4, 1, 2}) == "");
}

TEST_CASE("topk gives the most extreme ones first") {
  Tensor x = tensor({{1.0, 5.0, 3.0}, {2.0, 2.0, 0.0}}, {.requires_grad = true});
  const Ordered best = topk(x, 2);
  CHECK(difference(best.values, {5, 3, 2, 2}) == "");
  CHECK(difference(best.indices, {1, 2, 0, 1}) == "");
  CHECK(difference(topk(x, 1, 0, false).values, {1, 2, 0}) == "");
  best.values.backward(tensor({{1.0, 2.0}, {3.0, 4.0}}));
  CHECK(difference(x.grad(), {0, 1, 2, 3, 4, 0}) == "");
  CHECK(topk(x, 0).values.shape() == Shape{2, 0});
  CHECK_THROWS_WITH_AS(topk(x, 4), doctest::Contains("4 of the 3 elements"), Error);
  CHECK_THROWS_AS(topk(x, -1), Error);
}

TEST_CASE("embedding agrees with PyTorch") {
  CHECK(check_golden("embedding", [](const Json& attrs, Named& in) {
          const Json& padding = attrs.at("padding_idx");
          if (padding.is_null()) return embedding(in["weight"], in["index"]);
          return embedding(in["weight"], in["index"], padding.as_int());
        }) == 2);
}
