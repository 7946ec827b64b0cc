#include "engine/ops/matmul.h"

#include <doctest/doctest.h>

#include "engine/engine.h"
#include "tests/engine/ops/golden_ops.h"

using namespace labgrad;
using labgrad::tests::check_golden;
using labgrad::tests::difference;
using labgrad::tests::Named;

namespace {

// Small whole numbers, so that every product is exact.
Tensor numbers(const Shape& shape, Generator& g, DType dtype = f64) {
  return to(randint(-4, 5, shape, g), dtype);
}

// Σ_k a_ik b_kj, from the elements one by one.
Tensor product(const Tensor& a, const Tensor& b) {
  Tensor y = zeros({a.size(0), b.size(1)}, {.dtype = f64, .device = Device::cpu});
  auto out = y.writable_span<double>();
  std::size_t at = 0;
  for (std::int64_t i = 0; i < a.size(0); ++i)
    for (std::int64_t j = 0; j < b.size(1); ++j, ++at)
      for (std::int64_t k = 0; k < a.size(1); ++k) out[at] += a.at({i, k}) * b.at({k, j});
  return to(y, default_device());
}

struct Gradients {
  Tensor y, da, db;
};

Gradients through_matmul(const Tensor& a, const Tensor& b, const Tensor& dy) {
  const Tensor x = a.detach().requires_grad_(), w = b.detach().requires_grad_();
  const Tensor y = matmul(x, w);
  const Tensors d = grad({y}, {x, w}, {dy});
  return {y.detach(), d[0], d[1]};
}

}  // namespace

TEST_CASE("matmul of matrices, in each dtype and layout") {
  Generator g(1);
  const Tensor a = numbers({3, 5}, g), b = numbers({5, 4}, g);
  const Tensor want = product(a, b);
  CHECK(difference(matmul(a, b), want) == "");
  CHECK(difference(matmul(to(a, f32), to(b, f32)), want) == "");
  CHECK(matmul(to(a, i64), to(b, i64)).dtype() == i64);
  CHECK(difference(matmul(to(a, i64), to(b, i64)), want) == "");
  CHECK(difference(matmul(transpose(contiguous(transpose(a))), flip(flip(b, {0}), {0})), want) ==
        "");
  CHECK(difference(matmul(zeros({2, 0}), zeros({0, 3})), zeros({2, 3}), {.vacuous = true}) == "");
  CHECK(matmul(zeros({0, 2}), zeros({2, 3})).shape() == Shape{0, 3});
}

TEST_CASE("matmul of vectors gains and loses a dimension") {
  const Tensor v = tensor({1.0, 2.0, 3.0}), m = tensor({{1.0, 0.0, 2.0}, {0.0, 1.0, -1.0}});
  CHECK(matmul(v, v).rank() == 0);
  CHECK(matmul(v, v).item() == 14);
  CHECK(difference(matmul(m, v), {7, -1}) == "");
  CHECK(difference(matmul(v, transpose(m)), {7, -1}) == "");
  const Tensor batch = stack({m, m * 2});
  CHECK(matmul(batch, v).shape() == Shape{2, 2});
  CHECK(difference(matmul(batch, v), {7, -1, 14, -2}) == "");
  CHECK(matmul(v, transpose(batch)).shape() == Shape{2, 2});
  CHECK(difference(matmul(v, transpose(batch)), {7, -1, 14, -2}) == "");
  CHECK(dot(v, v).item() == 14);
  CHECK(difference(outer(v, tensor({1.0, 10.0})), {1, 10, 2, 20, 3, 30}) == "");
}

TEST_CASE("matmul broadcasts leading dimensions") {
  Generator g(2);
  const Tensor a = numbers({2, 1, 3, 4}, g), b = numbers({5, 4, 2}, g);
  const Tensor y = matmul(a, b);
  CHECK(y.shape() == Shape{2, 5, 3, 2});
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 5; ++j)
      CHECK(difference(select(select(y, 0, i), 0, j),
                       product(select(select(a, 0, i), 0, 0), select(b, 0, j)),
                       {.vacuous = true}) == "");
  const Tensor w = numbers({4, 2}, g);
  CHECK(difference(select(matmul(a, w), 0, 1), matmul(select(a, 0, 1), w)) == "");
  CHECK(matmul(numbers({3, 4}, g), b).shape() == Shape{5, 3, 2});
}

TEST_CASE("gradients of matmul in every arrangement of dimensions") {
  Generator g(3);
  struct Case {
    Shape a, b, y;
  };
  for (const Case& c :
       {Case{{3, 4}, {4, 2}, {3, 2}}, Case{{4}, {4, 2}, {2}}, Case{{3, 4}, {4}, {3}},
        Case{{4}, {4}, {}}, Case{{5, 3, 4}, {4, 2}, {5, 3, 2}}, Case{{3, 4}, {5, 4, 2}, {5, 3, 2}},
        Case{{2, 1, 3, 4}, {5, 4, 2}, {2, 5, 3, 2}}, Case{{5, 3, 4}, {4}, {5, 3}},
        Case{{4}, {5, 4, 2}, {5, 2}}, Case{{1, 3, 4}, {1, 4, 2}, {1, 3, 2}},
        Case{{2, 0, 4}, {4, 3}, {2, 0, 3}}}) {
    CAPTURE(c.a.str());
    CAPTURE(c.b.str());
    const Tensor a = numbers(c.a, g), b = numbers(c.b, g), dy = numbers(c.y, g);
    const Gradients d = through_matmul(a, b, dy);
    CHECK(d.y.shape() == c.y);
    CHECK(d.da.shape() == c.a);
    CHECK(d.db.shape() == c.b);
    // matmul is linear in a and in b: Σ dy ⊙ (u b) = Σ da ⊙ u for every u, here exactly.
    const Tensor u = numbers(c.a, g), v = numbers(c.b, g);
    auto inner = [](const Tensor& p, const Tensor& q) {
      double total = 0;
      const std::vector<double> x = p.to_vector(), y = q.to_vector();
      for (std::size_t i = 0; i < x.size(); ++i) total += x[i] * y[i];
      return total;
    };
    CHECK(inner(dy, matmul(u, b)) == inner(d.da, u));
    CHECK(inner(dy, matmul(a, v)) == inner(d.db, v));
  }
}

TEST_CASE("a transposed operand and an expanded gradient change nothing") {
  Generator g(4);
  for (const Shape& lead : {Shape{}, Shape{2}, Shape{2, 3}}) {
    CAPTURE(lead.str());
    Shape sa = lead, sb = lead;
    for (std::int64_t n : {3, 4}) sa.push_back(n);
    for (std::int64_t n : {4, 5}) sb.push_back(n);
    Shape sy = sa;
    sy[sy.rank() - 1] = 5;
    const Tensor a = numbers(sa, g), b = numbers(sb, g);
    const Tensor at = transpose(contiguous(transpose(a))), bt = transpose(contiguous(transpose(b)));
    const Tensor dy = ones(sy, {.dtype = f64});
    const Tensor expanded = expand(tensor(1.0, {.dtype = f64}), sy);
    const Gradients plain = through_matmul(a, b, dy), turned = through_matmul(at, bt, expanded);
    CHECK(difference(turned.y, plain.y) == "");
    CHECK(difference(turned.da, plain.da) == "");
    CHECK(difference(turned.db, plain.db) == "");
    const Tensor w = numbers({4, 5}, g), wt = transpose(contiguous(transpose(w)));
    const Gradients rows = through_matmul(a, w, dy), turned_rows = through_matmul(at, wt, expanded);
    CHECK(difference(turned_rows.y, rows.y) == "");
    CHECK(difference(turned_rows.da, rows.da) == "");
    CHECK(difference(turned_rows.db, rows.db) == "");
  }
}

TEST_CASE("linear is x W^T + b, with or without a bias") {
  Generator g(5);
  const Tensor w = numbers({2, 4}, g), b = numbers({2}, g);
  for (const Shape& shape : {Shape{4}, Shape{3, 4}, Shape{2, 3, 4}, Shape{0, 4}}) {
    CAPTURE(shape.str());
    Tensor x = numbers(shape, g).requires_grad_();
    Tensor weight = w.detach().requires_grad_(), bias = b.detach().requires_grad_();
    const Tensor y = linear(x, weight, bias), want = matmul(x, transpose(weight)) + bias;
    CHECK(difference(y, want, {.vacuous = shape[0] == 0}) == "");
    CHECK(difference(linear(x, weight), want - bias, {.vacuous = shape[0] == 0}) == "");
    const Tensor dy = numbers(y.shape(), g);
    const Tensors got = grad({y}, {x, weight, bias}, {dy});
    const Tensors expected = grad({want}, {x, weight, bias}, {dy});
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(difference(got[i], expected[i], {.vacuous = shape[0] == 0}) == "");
  }
  // Features that do not lie side by side in memory.
  const Tensor turned = transpose(numbers({4, 3, 2}, g), 0, 2);
  CHECK(difference(linear(turned, w, b), linear(contiguous(turned), w, b)) == "");
}

TEST_CASE("second derivatives of matmul and linear") {
  Generator g(6);
  Tensor x = numbers({2, 3}, g).requires_grad_(), w = numbers({3, 2}, g).requires_grad_();
  const Tensor u = numbers({2, 3}, g), dy = numbers({2, 2}, g);
  // d/dw Σ u ⊙ (dy wᵀ) = uᵀ dy, transposed as w is.
  for (int form = 0; form < 2; ++form) {
    const Tensor y = form == 0 ? matmul(x, w) : linear(x, transpose(w));
    const Tensor dx = grad(y, x, dy, {.create_graph = true});
    CHECK(difference(grad(dx, w, u), matmul(transpose(u), dy)) == "");
  }
}

TEST_CASE("matmul and linear name the sizes that do not fit") {
  const Tensor a = zeros({3, 4}), b = zeros({5, 6});
  CHECK_THROWS_WITH_AS(
      matmul(a, b), doctest::Contains("matmul: (3,4) x (5,6): inner sizes 4 and 5 differ"), Error);
  CHECK_THROWS_WITH_AS(matmul(a, b), doctest::Contains("test_matmul.cpp"), Error);
  CHECK_THROWS_WITH_AS(matmul(zeros({3}), zeros({4})), doctest::Contains("(3,) x (4,)"), Error);
  CHECK_THROWS_WITH_AS(matmul(a, tensor(1.0)), doctest::Contains("use *"), Error);
  CHECK_THROWS_WITH_AS(matmul(a, zeros({4, 2}, {.dtype = f64})),
                       doctest::Contains("dtypes f32 and f64 differ"), Error);
  CHECK_THROWS_WITH_AS(matmul(ones({2, 2}, {.dtype = boolean}), ones({2, 2}, {.dtype = boolean})),
                       doctest::Contains("bool"), Error);
  CHECK_THROWS_WITH_AS(matmul(zeros({2, 3, 4}), zeros({3, 4, 5})), doctest::Contains("matmul"),
                       Error);
  CHECK_THROWS_WITH_AS(linear(a, b), doctest::Contains("x[..., in] and W[out, in]"), Error);
  CHECK_THROWS_WITH_AS(linear(a, zeros({2, 4}), zeros({3})),
                       doctest::Contains("the bias has shape (3,), expected (2,)"), Error);
  CHECK_THROWS_AS(outer(a, zeros({3})), Error);
  CHECK_THROWS_AS(dot(zeros({3}), zeros({4})), Error);
}

TEST_CASE("matmul and linear agree with PyTorch") {
  CHECK(check_golden("matmul", [](const Json&, Named& in) { return matmul(in["a"], in["b"]); }) ==
        5);
  CHECK(check_golden("linear", [](const Json&, Named& in) {
          return linear(in["x"], in["weight"], in["bias"]);
        }) == 1);
}
