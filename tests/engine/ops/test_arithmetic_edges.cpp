// Arithmetic where the formula of the gradient has a hole: 0/0, 0 · inf, ln of a negative number.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/engine.h"
#include "tests/check_close.h"

using namespace labgrad;
using tests::difference;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr tests::Tolerance zeros_too{.vacuous = true};

struct Place {
  DType dtype;
  Device device;
};
const Place places[] = {{f32, Device::cpu}, {f64, Device::cpu}, {f64, Device::naive}};

Tensor leaf(const std::vector<double>& values, const Place& place) {
  return from_values(values, {static_cast<std::int64_t>(values.size())},
                     {.dtype = place.dtype, .device = place.device, .requires_grad = true});
}

}  // namespace

// x² at 0 had the gradient NaN: it was computed as y ln x.
TEST_CASE("arithmetic: powers at zero") {
  for (const Place& place : places) {
    CAPTURE(name_of(place.dtype));
    CAPTURE(name_of(place.device));
    const Tensor x = leaf({0, 0, 0, 0, 0, 0}, place);
    const Tensor y = leaf({2, 1, 0, 3, 0.5, -1}, place);
    const Tensor z = pow(x, y);
    CHECK(z.to_vector() == std::vector<double>{0, 0, 1, 0, 0, inf});
    const Tensors d = grad({sum(z)}, {x, y});
    CHECK(d[0].to_vector() == std::vector<double>{0, 1, 0, 0, inf, -inf});
    CHECK(d[1].to_vector() == std::vector<double>{0, 0, 0, 0, 0, -inf});

    // Constant exponents, also of higher order.
    const Tensor zero = leaf({0}, place);
    CHECK(difference(grad(pow(zero, 2), zero), {0}, zeros_too) == "");
    CHECK(difference(grad(pow(zero, 2.0), zero), {0}, zeros_too) == "");
    CHECK(difference(grad(pow(zero, 0), zero), {0}, zeros_too) == "");
    Tensor d2 = grad(pow(zero, 2), zero, {}, {.create_graph = true});
    d2 = grad(d2, zero, {}, {.create_graph = true});
    CHECK(difference(d2, {2}) == "");
    CHECK(difference(grad(d2, zero), {0}, zeros_too) == "");
    const Tensor base = full({1}, 0, {.dtype = place.dtype, .device = place.device});
    const Tensor exponent = leaf({2}, place);
    CHECK(difference(grad(pow(base, exponent), exponent), {0}, zeros_too) == "");
    CHECK(difference(grad(square(zero), zero), {0}, zeros_too) == "");
  }
}

// The logarithm of a negative base was taken although nobody had asked for its gradient.
TEST_CASE("arithmetic: powers of a negative base") {
  for (const Place& place : places) {
    const Tensor x = leaf({-2, -0.5}, place);
    CHECK(difference(pow(x, 3), {-8, -0.125}) == "");
    CHECK(difference(grad(sum(pow(x, 3)), x), {12, 0.75}) == "");
    CHECK(difference(grad(sum(pow(x, -2.0)), x), {0.25, 16}) == "");
    const Tensor exponents = tensor({2, 4});
    CHECK(difference(grad(sum(pow(x, to(exponents, place.device))), x), {-4, -0.5}) == "");
    CHECK(isnan(pow(x, 0.5)).to_vector() == std::vector<double>{1, 1});
  }
}

TEST_CASE("arithmetic: whole numbers to a power") {
  CHECK(pow(tensor({2, -3}), 3).to_vector() == std::vector<double>{8, -27});
  CHECK(pow(tensor({2, 3}), 0).dtype() == i64);
  CHECK_THROWS_WITH_AS(pow(tensor({2, 4}), -1),
                       doctest::Contains("pow: whole numbers to a negative power"), Error);
  CHECK_THROWS_AS(pow(tensor({2, 4}), tensor({0, -1})), Error);
  CHECK(difference(pow(tensor({2, 4}), -1.0), {0.5, 0.25}) == "");
  CHECK(pow(zeros({0}, {.dtype = i64}), 2).numel() == 0);
}

TEST_CASE("arithmetic: bool") {
  const Tensor a = tensor({true, true, false}), b = tensor({true, false, false});
  CHECK((a + b).to_vector() == std::vector<double>{1, 1, 0});
  CHECK((a * b).to_vector() == std::vector<double>{1, 0, 0});
  CHECK((1 - a).to_vector() == std::vector<double>{0, 0, 1});
  CHECK_THROWS_WITH_AS(a - b, doctest::Contains("sub: bool has no difference"), Error);
  CHECK_THROWS_WITH_AS(-a, doctest::Contains("neg: bool has no sign"), Error);
}

TEST_CASE("arithmetic: division by zero") {
  for (const Place& place : places) {
    const Tensor a = leaf({1, -1}, place), b = leaf({0, 0}, place);
    CHECK((a / b).to_vector() == std::vector<double>{inf, -inf});
    CHECK(grad(sum(a / b), a).to_vector() == std::vector<double>{inf, inf});
    CHECK(isnan(b / b).to_vector() == std::vector<double>{1, 1});
  }
  CHECK((tensor({1, -1}) / 0).to_vector() == std::vector<double>{inf, -inf});  // as f32
}

// A double beside an f32 parameter turned the parameter's gradient, and then all, into f64.
TEST_CASE("arithmetic: a number beside f32 leaves f32, forward and backward") {
  const Tensor x = tensor({{0.5, 1.5}, {2.5, 3.5}}, {.requires_grad = true});
  const Tensor d = full({}, 3.0, {.dtype = f64});
  const bool mask_values[] = {true, false};
  const Tensor mask = from_values(std::span<const bool>(mask_values), {2});
  for (const Tensor& y : {x + 1.5,
                          1.5 + x,
                          x - 1.5,
                          1.5 - x,
                          x * 1.5,
                          1.5 * x,
                          x / 1.5,
                          1.5 / x,
                          x + 2,
                          x / 2,
                          pow(x, 1.5),
                          pow(x, 2),
                          x * d,
                          x / d,
                          d - x,
                          pow(x, d),
                          maximum(x, 1.0),
                          minimum(x, 1.0),
                          clamp(x, 1.0, 2.0),
                          where(mask, x, 0.5),
                          masked_fill(x, mask, 0.5),
                          pad(x, {1, 1}, 0.5),
                          mean(x),
                          var(x),
                          labgrad::std(x),
                          norm(x),
                          norm(x, 3),
                          logsumexp(x, 1),
                          dropout(x, 0.5),
                          layer_norm(x, {2}),
                          mse_loss(x, zeros({2, 2})),
                          cross_entropy(x, tensor({0, 1}), {.label_smoothing = 0.1})}) {
    CAPTURE(y.grad_fn());
    CHECK(y.dtype() == f32);
    CHECK(grad(sum(y), x).dtype() == f32);
  }
}
