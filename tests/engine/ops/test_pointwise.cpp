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
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Tensor leaf(const NestedList& values, DType dtype = f64) {
  return tensor(values, {.dtype = dtype, .requires_grad = true});
}

// dy/dx for dy = 1.
Tensor slope(Tensor (*f)(const Tensor&), const Tensor& x) { return grad(sum(f(x)), x); }

}  // namespace

TEST_CASE("pointwise: values agree with the C library's in both floating dtypes") {
  struct Case {
    const char* name;
    Tensor (*op)(const Tensor&);
    double (*formula)(double);
  };
  const Case cases[] = {
      {"abs", abs, [](double v) { return std::abs(v); }},
      {"sign", sign, [](double v) { return double(v > 0) - double(v < 0); }},
      {"floor", floor, [](double v) { return std::floor(v); }},
      {"exp", exp, [](double v) { return std::exp(v); }},
      {"log1p", [](const Tensor& x) { return log1p(abs(x)); },
       [](double v) { return std::log1p(std::abs(v)); }},
      {"log", [](const Tensor& x) { return log(abs(x)); },
       [](double v) { return std::log(std::abs(v)); }},
      {"sqrt", [](const Tensor& x) { return sqrt(abs(x)); },
       [](double v) { return std::sqrt(std::abs(v)); }},
      {"rsqrt", [](const Tensor& x) { return rsqrt(abs(x)); },
       [](double v) { return 1 / std::sqrt(std::abs(v)); }},
      {"square", square, [](double v) { return v * v; }},
      {"reciprocal", reciprocal, [](double v) { return 1 / v; }},
      {"sin", sin, [](double v) { return std::sin(v); }},
      {"cos", cos, [](double v) { return std::cos(v); }},
      {"tanh", tanh, [](double v) { return std::tanh(v); }},
      {"erf", erf, [](double v) { return std::erf(v); }},
      {"sigmoid", sigmoid, [](double v) { return 1 / (1 + std::exp(-v)); }},
      {"softplus", softplus, [](double v) { return std::log1p(std::exp(v)); }},
      {"relu", relu, [](double v) { return v > 0 ? v : 0; }},
      {"relu6", relu6, [](double v) { return v > 0 ? std::min(v, 6.0) : 0; }},
      {"gelu", gelu, [](double v) { return v * std::erfc(-v / std::sqrt(2.0)) / 2; }},
  };
  Generator generator(11);
  const Tensor x = 4 * randn({5, 7}, generator, {.dtype = f64});
  for (const Case& c : cases) {
    CAPTURE(c.name);
    std::vector<double> want;
    for (double v : x.to_vector()) want.push_back(c.formula(v));
    CHECK(difference(c.op(x), want) == "");
    // A layout that is not row-major gives the same.
    CHECK(difference(c.op(transpose(clone(transpose(x)))), want) == "");
    const Tensor narrow_x = to(x, f32);
    want.clear();
    for (double v : narrow_x.to_vector()) want.push_back(c.formula(v));
    const Tensor y = c.op(narrow_x);
    CHECK(y.dtype() == f32);
    CHECK(difference(y, want, {.rtol = 2e-6, .atol = 1e-6}) == "");
    CHECK(c.op(zeros({0, 3})).shape() == Shape{0, 3});
  }
}

TEST_CASE("pointwise: golden values and gradients of relu, tanh and sigmoid") {
  const auto run = [](Tensor (*f)(const Tensor&)) {
    return [f](const Json&, tests::Named& in) { return f(in["x"]); };
  };
  CHECK(check_golden("relu", run(relu)) == 1);
  CHECK(check_golden("tanh", run(tanh)) == 1);
  CHECK(check_golden("sigmoid", run(sigmoid)) == 1);
}

TEST_CASE("pointwise: kinks have the documented slope") {
  const Tensor x = leaf({-1, 0, 1});
  CHECK(difference(slope(abs, x), {-1, 0, 1}) == "");
  CHECK(difference(slope(relu, x), {0, 0, 1}) == "");
  CHECK(difference(slope(relu6, leaf({-1, 0, 3, 6, 7})), {0, 0, 1, 0, 0}) == "");
  CHECK(difference(slope(sign, x), {0, 0, 0}, {.vacuous = true}) == "");
  CHECK(difference(slope(floor, x), {0, 0, 0}, {.vacuous = true}) == "");
  CHECK(slope(sqrt, leaf({0})).to_vector() == std::vector<double>{inf});
}

TEST_CASE("pointwise: nothing overflows at large arguments, forward or backward") {
  for (DType dtype : {f32, f64}) {
    const tests::Tolerance close{.rtol = 1e-6, .atol = 1e-6};
    const Tensor x = leaf({-1000.0, -30.0, 30.0, 1000.0}, dtype);
    CHECK(difference(sigmoid(x), {0, 0, 1, 1}, close) == "");
    CHECK(difference(slope(sigmoid, x), {0, 0, 0, 0}, {.atol = 1e-6, .vacuous = true}) == "");
    CHECK(difference(softplus(x), {0, 0, 30, 1000}, close) == "");
    CHECK(difference(slope(softplus, x), {0, 0, 1, 1}, close) == "");
    CHECK(difference(tanh(x), {-1, -1, 1, 1}, close) == "");
    CHECK(difference(gelu(x), {0, 0, 30, 1000}, close) == "");
    CHECK(difference(slope(gelu, x), {0, 0, 1, 1}, close) == "");
  }
  CHECK(log1p(tensor({1e-20}, {.dtype = f64})).item() == 1e-20);
}

TEST_CASE("pointwise: NaN and infinities are found under the flags of the build") {
  for (DType dtype : {f32, f64}) {
    const Tensor x = tensor({1.0, not_a_number, inf, -inf}, {.dtype = dtype});
    CHECK(isnan(x).to_vector() == std::vector<double>{0, 1, 0, 0});
    CHECK(isinf(x).to_vector() == std::vector<double>{0, 0, 1, 1});
    CHECK(isfinite(x).to_vector() == std::vector<double>{1, 0, 0, 0});
    CHECK(isnan(relu(x)).to_vector() == std::vector<double>{0, 1, 0, 0});
  }
  CHECK(isnan(tensor({1, 2})).to_vector() == std::vector<double>{0, 0});
  CHECK(isfinite(tensor({1, 2})).to_vector() == std::vector<double>{1, 1});
}

TEST_CASE("pointwise: dtypes") {
  CHECK(abs(tensor({-2, 3})).dtype() == i64);
  CHECK(abs(tensor({-2, 3})).to_vector() == std::vector<double>{2, 3});
  CHECK(square(tensor({-2, 3})).to_vector() == std::vector<double>{4, 9});
  CHECK(floor(tensor({-2, 3})).dtype() == i64);
  CHECK_THROWS_WITH_AS(exp(tensor({1, 2})),
                       doctest::Contains("exp: needs a floating dtype (f32 or f64), got i64 (2,)"),
                       Error);
  CHECK_THROWS_WITH_AS(relu6(tensor({1})), doctest::Contains("relu6: needs a floating dtype"),
                       Error);
}
