// The specification itself, against results worked out by hand.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/kernels.h"
#include "engine/philox.h"
#include "tests/engine/arrays.h"

using namespace labgrad;
using namespace labgrad::test;

namespace {

const Kernels& specified() { return kernels(Device::naive); }

constexpr double inf = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

// A dense array that owns its elements.
template <class T>
struct Owned {
  explicit Owned(const Shape& shape) : buffer(dtype_of<T>, shape), array(buffer.array) {}
  Owned(const Shape& shape, const std::vector<T>& elements) : Owned(shape) {
    for (std::size_t i = 0; i < elements.size(); ++i)
      array.as<T>()[i] = static_cast<T>(elements[i]);
  }
  operator const Array&() const { return array; }
  std::vector<T> get() const { return values<T>(array); }

  Buffer buffer;
  Array array;
};
using F64 = Owned<double>;
using I64 = Owned<std::int64_t>;
using Bool = Owned<bool>;

double map(Unary f, double x) {
  F64 in({1}, {x}), out({1});
  specified().map(f, out, in);
  return out.get()[0];
}
std::int64_t zip(Binary f, std::int64_t x, std::int64_t y) {
  I64 a({1}, {x}), b({1}, {y}), out({1});
  specified().zip(f, out, a, b);
  return out.get()[0];
}
double zip(Binary f, double x, double y) {
  F64 a({1}, {x}), b({1}, {y}), out({1});
  specified().zip(f, out, a, b);
  return out.get()[0];
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-12 * (1 + std::abs(b)); }
bool close(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!close(a[i], b[i])) return false;
  return true;
}

}  // namespace

TEST_CASE("naive: functions of one argument") {
  CHECK(map(Unary::neg, 3) == -3);
  CHECK(map(Unary::abs, -3) == 3);
  CHECK(map(Unary::sign, -3) == -1);
  CHECK(map(Unary::sign, 0) == 0);
  CHECK(std::isnan(map(Unary::sign, not_a_number)));
  CHECK(map(Unary::square, -3) == 9);
  CHECK(map(Unary::reciprocal, 4) == 0.25);
  CHECK(map(Unary::sqrt, 9) == 3);
  CHECK(map(Unary::rsqrt, 4) == 0.5);
  CHECK(close(map(Unary::exp, 1), 2.718281828459045));
  CHECK(close(map(Unary::log, 10), 2.302585092994046));
  CHECK(close(map(Unary::log1p, 1e-15), 1e-15));
  CHECK(close(map(Unary::sin, 1), 0.8414709848078965));
  CHECK(close(map(Unary::cos, 1), 0.5403023058681398));
  CHECK(close(map(Unary::tanh, 1), 0.7615941559557649));
  CHECK(close(map(Unary::sigmoid, 1), 0.7310585786300049));
  CHECK(map(Unary::sigmoid, -800) == 0);
  CHECK(map(Unary::sigmoid, 800) == 1);
  CHECK(map(Unary::relu, -2) == 0);
  CHECK(map(Unary::relu, 2) == 2);
  CHECK(std::isnan(map(Unary::relu, not_a_number)));
  CHECK(close(map(Unary::erf, 0.5), 0.5204998778130465));
  CHECK(close(map(Unary::gelu, 1), 0.8413447460685429));
  CHECK(map(Unary::gelu, -inf) == 0);
  CHECK(close(map(Unary::softplus, 0), 0.6931471805599453));
  CHECK(map(Unary::softplus, 1000) == 1000);
  CHECK(map(Unary::floor, -1.5) == -2);
  Bool out({4}), truth({2}, {true, false}), negated({2});
  specified().map(Unary::is_finite, out, F64({4}, {1, inf, -inf, not_a_number}));
  CHECK(out.get() == std::vector<bool>{true, false, false, false});
  specified().map(Unary::logical_not, negated, truth);
  CHECK(negated.get() == std::vector<bool>{false, true});
  CHECK_THROWS_AS(specified().map(Unary::exp, I64({1}, {1}), I64({1}, {1})), Error);
}

TEST_CASE("naive: functions of two arguments") {
  CHECK(zip(Binary::sub, 2.0, 3.0) == -1);
  CHECK(zip(Binary::div, 1.0, -0.0) == -inf);
  CHECK(zip(Binary::pow, 0.0, 0.0) == 1);
  CHECK(zip(Binary::maximum, 1.0, 2.0) == 2);
  CHECK(zip(Binary::minimum, 1.0, 2.0) == 1);
  for (Binary f : {Binary::maximum, Binary::minimum}) {
    CHECK(std::isnan(zip(f, not_a_number, 1.0)));
    CHECK(std::isnan(zip(f, 1.0, not_a_number)));
  }
  using integer = std::int64_t;
  constexpr integer low = std::numeric_limits<integer>::min();
  CHECK(zip(Binary::div, integer{-7}, integer{2}) == -3);
  CHECK(zip(Binary::div, integer{7}, integer{0}) == 0);
  CHECK(zip(Binary::div, low, integer{-1}) == low);
  CHECK(zip(Binary::pow, integer{-3}, integer{3}) == -27);
  CHECK(zip(Binary::pow, integer{2}, integer{-1}) == 0);
  CHECK(zip(Binary::pow, integer{-1}, integer{-3}) == -1);
  CHECK(zip(Binary::pow, integer{0}, integer{-1}) == 0);
  CHECK(zip(Binary::add, low, integer{-1}) == std::numeric_limits<integer>::max());

  const Bool p({4}, {false, false, true, true}), q({4}, {false, true, false, true});
  const F64 x({4}, {1, 2, 2, not_a_number}), y({4}, {2, 1, 2, not_a_number});
  auto truth = [](Binary f, const Array& a, const Array& b) {
    Bool out({4});
    specified().zip(f, out, a, b);
    return out.get();
  };
  using Truth = std::vector<bool>;
  CHECK(truth(Binary::logical_and, p, q) == Truth{false, false, false, true});
  CHECK(truth(Binary::logical_or, p, q) == Truth{false, true, true, true});
  CHECK(truth(Binary::logical_xor, p, q) == Truth{false, true, true, false});
  CHECK(truth(Binary::eq, x, y) == Truth{false, false, true, false});
  CHECK(truth(Binary::ne, x, y) == Truth{true, true, false, true});
  CHECK(truth(Binary::lt, x, y) == Truth{true, false, false, false});
  CHECK(truth(Binary::le, x, y) == Truth{true, false, true, false});
  CHECK(truth(Binary::gt, x, y) == Truth{false, true, false, false});
  CHECK(truth(Binary::ge, x, y) == Truth{false, true, true, false});
}

TEST_CASE("naive: fill, conversion, where, clamp") {
  I64 whole({5});
  specified().copy(whole, F64({5}, {-1.7, 1.7, not_a_number, 1e30, -inf}));
  CHECK(whole.get() == std::vector<std::int64_t>{-1, 1, 0, std::numeric_limits<std::int64_t>::max(),
                                                 std::numeric_limits<std::int64_t>::min()});
  Bool truth({3});
  specified().copy(truth, F64({3}, {0, 0.5, not_a_number}));
  CHECK(truth.get() == std::vector<bool>{false, true, true});
  specified().fill_i64(whole, 9007199254740993);
  CHECK(whole.get()[4] == 9007199254740993);
  F64 out({3});
  specified().where(out, truth, F64({3}, {not_a_number, 2, 3}),
                    F64({3}, {4, not_a_number, not_a_number}));
  CHECK(out.get() == std::vector<double>{4, 2, 3});
  specified().clamp(out, F64({3}, {-5, 0.5, 5}), -1, 1);
  CHECK(out.get() == std::vector<double>{-1, 0.5, 1});
  specified().fill(out, 2.5);
  CHECK(out.get() == std::vector<double>{2.5, 2.5, 2.5});
}

TEST_CASE("naive: reductions") {
  const F64 x({2, 3}, {1, 2, 3, 4, 5, 7});
  auto reduced = [&](Reduction f, const Shape& shape) {
    F64 out(shape);
    specified().reduce(f, out, x);
    return out.get();
  };
  using V = std::vector<double>;
  CHECK(reduced(Reduction::sum, {2, 1}) == V{6, 16});
  CHECK(reduced(Reduction::sum, {1, 3}) == V{5, 7, 10});
  CHECK(reduced(Reduction::prod, {1, 1}) == V{840});
  CHECK(reduced(Reduction::max, {2, 1}) == V{3, 7});
  CHECK(reduced(Reduction::min, {1, 1}) == V{1});

  F64 empty({1});
  const F64 nothing({0});
  const std::vector<std::pair<Reduction, double>> identities{
      {Reduction::sum, 0}, {Reduction::prod, 1}, {Reduction::max, -inf}, {Reduction::min, inf}};
  for (auto [f, identity] : identities) {
    specified().reduce(f, empty, nothing);
    CHECK(empty.get()[0] == identity);
  }
  Bool truth({1});
  specified().reduce(Reduction::any, truth, Bool({3}, {false, true, false}));
  CHECK(truth.get()[0] == true);
  specified().reduce(Reduction::all, truth, Bool({3}, {true, true, false}));
  CHECK(truth.get()[0] == false);
  specified().reduce(Reduction::all, truth, Bool({0}));
  CHECK(truth.get()[0] == true);

  // 2^24 + 1 has no place in f32, so a sum in f32 would stay at 2^24.
  Owned<float> total({1}), ones({3}, {16777216.0f, 1.0f, 1.0f});
  specified().reduce(Reduction::sum, total, ones);
  CHECK(total.get()[0] == 16777218.0f);
}

TEST_CASE("naive: positions of the largest and smallest; running sums; sorting") {
  F64 best({2, 1});
  I64 at({2, 1});
  const F64 x({2, 4}, {3, 5, 5, 1, 2, not_a_number, 9, not_a_number});
  specified().arg_reduce(true, best, at, x, 1);
  CHECK(at.get() == std::vector<std::int64_t>{1, 1});
  CHECK(best.get()[0] == 5);
  CHECK(std::isnan(best.get()[1]));
  specified().arg_reduce(false, Array{}, at, x, 1);
  CHECK(at.get() == std::vector<std::int64_t>{3, 1});

  F64 sums({2, 2});
  const F64 y({2, 2}, {1, 2, 3, 4});
  specified().cumsum(sums, y, 0, false);
  CHECK(sums.get() == std::vector<double>{1, 2, 4, 6});
  specified().cumsum(sums, y, 1, true);
  CHECK(sums.get() == std::vector<double>{3, 2, 7, 4});

  F64 sorted({5});
  I64 from({5});
  const F64 z({5}, {2, not_a_number, 1, 2, -inf});
  specified().sort(sorted, from, z, 0, false);
  CHECK(from.get() == std::vector<std::int64_t>{4, 2, 0, 3, 1});
  specified().sort(sorted, from, z, 0, true);
  CHECK(from.get() == std::vector<std::int64_t>{1, 0, 3, 2, 4});
  CHECK(sorted.get()[4] == -inf);
}

TEST_CASE("naive: the matrix product") {
  const F64 a({2, 3}, {1, 2, 3, 4, 5, 6}), b({3, 2}, {1, 0, 2, 1, 0, 3});
  F64 c({2, 2}, {10, 20, 30, 40});
  specified().gemm(c, a, b, true);
  CHECK(c.get() == std::vector<double>{15, 31, 44, 63});
  specified().gemm(c, a, b, false);
  CHECK(c.get() == std::vector<double>{5, 11, 14, 23});
  specified().gemm(c, F64({2, 0}), F64({0, 2}), false);
  CHECK(c.get() == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("naive: softmax and layer norm") {
  const F64 x({2, 2}, {0, std::log(3.0), -inf, -inf}), dy({2, 2}, {1, 2, 0, 0});
  F64 y({2, 2}), dx({2, 2});
  specified().softmax(y, x, 1, false);
  CHECK(close({y.get()[0], y.get()[1]}, {0.25, 0.75}));
  CHECK(std::isnan(y.get()[2]));
  specified().softmax_backward(dx, y, dy, 1, false);  // Σ dy y = 1.75
  CHECK(close({dx.get()[0], dx.get()[1]}, {0.25 * (1 - 1.75), 0.75 * (2 - 1.75)}));
  specified().softmax(y, x, 1, true);
  CHECK(close({y.get()[0], y.get()[1]}, {std::log(0.25), std::log(0.75)}));
  specified().softmax_backward(dx, y, dy, 1, true);
  CHECK(close({dx.get()[0], dx.get()[1]}, {1 - 0.25 * 3, 2 - 0.75 * 3}));

  // μ = 2, σ² = 1, eps = 3: r = 1/2.
  const F64 row({1, 2}, {1, 3}), w({2}, {2, 4}), b({2}, {10, 20}), g({1, 2}, {1, 1});
  F64 out({1, 2}), mean({1, 1}), rstd({1, 1}), back({1, 2});
  specified().layer_norm(out, mean, rstd, row, w, b, 3);
  CHECK(out.get() == std::vector<double>{9, 22});
  CHECK(mean.get()[0] == 2);
  CHECK(rstd.get()[0] == 0.5);
  // dy w = (2, 4), h = (-1/2, 1/2), means 3 and 1/2: dx = (2 - 3 + 1/4, 4 - 3 - 1/4) / 2.
  F64 dw({2}), db({2});
  specified().layer_norm_backward(back, dw, db, g, row, mean, rstd, w);
  CHECK(back.get() == std::vector<double>{-0.375, 0.375});
  CHECK(dw.get() == std::vector<double>{-0.5, 0.5});
  CHECK(db.get() == std::vector<double>{1, 1});
}

TEST_CASE("naive: indices") {
  const F64 x({3, 2}, {1, 2, 3, 4, 5, 6});
  const I64 positions({2, 2}, {2, 0, 1, 1}), list({3}, {2, 0, 2});
  F64 picked({2, 2}), slices({3, 2}), columns({3, 3});
  using V = std::vector<double>;
  specified().gather(picked, x, positions, 0);
  CHECK(picked.get() == V{5, 2, 3, 4});
  specified().index_select(slices, x, list, 0);
  CHECK(slices.get() == V{5, 6, 1, 2, 5, 6});
  specified().index_select(columns, x, I64({3}, {1, 1, 0}), 1);
  CHECK(columns.get() == V{2, 2, 1, 4, 4, 3, 6, 6, 5});
  F64 total({3, 2}, {0, 0, 0, 0, 0, 0});
  specified().scatter_add(total, positions, F64({2, 2}, {1, 2, 4, 8}), 0);
  CHECK(total.get() == V{0, 2, 4, 8, 1, 0});
  specified().fill(total, 0);
  specified().index_add(total, list, x, 0);
  CHECK(total.get() == V{3, 4, 0, 0, 6, 8});
}

TEST_CASE("naive: a dropout mask keeps where the uniform number is at least p") {
  F64 mask({1000});
  specified().dropout_mask(mask, 42, 0.2);
  double kept = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    CHECK(mask.get()[i] == (philox_uniform(42, i) >= 0.2 ? 1.25 : 0.0));
    kept += mask.get()[i] != 0;
  }
  CHECK(std::abs(kept - 800) < 60);  // 4.7 standard deviations
}

TEST_CASE("naive: steps of the optimisers") {
  const F64 g({1}, {0.5});
  F64 w({1}, {2}), buffer({1}, {not_a_number});
  SgdStep sgd{.lr = 0.1,
              .momentum = 0.5,
              .dampening = 0.25,
              .weight_decay = 0.25,
              .nesterov = false,
              .first = true};
  specified().sgd_step(w, g, buffer, sgd);  // b = 0.5 + 0.25 · 2 = 1
  CHECK(close(w.get()[0], 1.9));
  sgd.first = false;
  sgd.nesterov = true;
  specified().sgd_step(w, g, buffer, sgd);  // g = 0.975, b = 0.5 + 0.73125, step 0.975 + b/2
  CHECK(close(buffer.get()[0], 1.23125));
  CHECK(close(w.get()[0], 1.9 - 0.1 * (0.975 + 0.5 * 1.23125)));

  F64 a({1}, {2}), m({1}, {0}), v({1}, {0});
  AdamStep adam{.lr = 0.1,
                .beta1 = 0.9,
                .beta2 = 0.99,
                .eps = 0,
                .weight_decay = 0.5,
                .decoupled = true,
                .t = 1};
  specified().adam_step(a, g, m, v, adam);  // w (1 - 0.05) - 0.1 sign g
  CHECK(close(a.get()[0], 1.8));
  CHECK(close(m.get()[0], 0.05));
  CHECK(close(v.get()[0], 0.0025));
  adam.decoupled = false;
  adam.t = 2;
  specified().adam_step(a, g, m, v, adam);  // g = 0.5 + 0.9
  const double m2 = 0.9 * 0.05 + 0.1 * 1.4, v2 = 0.99 * 0.0025 + 0.01 * 1.96;
  CHECK(close(a.get()[0], 1.8 - 0.1 * (m2 / 0.19) / std::sqrt(v2 / 0.0199)));
}
