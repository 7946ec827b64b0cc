#include "engine/gradcheck.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/select.h"
#include "engine/philox.h"

using namespace labgrad;

namespace {

Tensor numbers(const Shape& shape, const std::vector<double>& values) {
  Tensor x = empty(shape, f64, Device::cpu);
  std::copy(values.begin(), values.end(), x.writable_span<double>().begin());
  return x;
}

Tensor some(const Shape& shape, double lowest = -1, std::uint64_t key = 3) {
  std::vector<double> v(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = lowest + 2 * philox_uniform(key, i);
  return numbers(shape, v);
}

// a ⊙ b whose gradients are the given functions.
template <class Da, class Db>
TensorFunction product_with(Da da, Db db) {
  return [=](const Tensors& x) {
    const Tensor &a = x[0], &b = x[1];
    Tensor y;
    {
      NoGrad no_grad;
      y = a * b;
    }
    return differentiable("product", y, wrt(a, [=](const Tensor& dy) { return da(dy, a, b); }),
                          wrt(b, [=](const Tensor& dy) { return db(dy, a, b); }));
  };
}

const auto right_a = [](const Tensor& dy, const Tensor&, const Tensor& b) { return dy * b; };
const auto right_b = [](const Tensor& dy, const Tensor& a, const Tensor&) { return dy * a; };

std::string message_of(const TensorFunction& f, const Tensors& inputs,
                       GradcheckOptions options = {}) {
  if (options.op == "f") options.op = "product";
  return check_gradients(f, inputs, options).message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("gradcheck accepts right gradients, with room to spare") {
  const Tensors ab{some({2, 3}), some({3})};
  const GradcheckReport report = gradcheck(product_with(right_a, right_b), ab);
  CHECK(report.ok());
  CHECK(report.compared == 6 * 9);
  CHECK(report.relative_error < 1e-9);
  CHECK(gradgradcheck(product_with(right_a, right_b), ab).relative_error < 1e-9);
}

TEST_CASE("gradcheck rejects wrong rules and names op, input, element and both values") {
  const Tensor a = numbers({2, 2}, {1, 2, 3, 4}), b = numbers({2, 2}, {5, 6, 7, 8});
  const auto b_wrong = [&](auto db) { return message_of(product_with(right_a, db), {a, b}); };

  // A factor of 1.001 stands out most where the value is largest.
  CHECK(b_wrong([](const Tensor& dy, const Tensor& x, const Tensor&) { return dy * x * 1.001; }) ==
        "gradcheck of 'product': input 1, element (1, 1), by output 0, element (1, 1): "
        "analytic 4.004, numeric 4 (off by 0.004, allowed 4.01e-06)");
  // Sign.
  CHECK(has(b_wrong([](const Tensor& dy, const Tensor& x, const Tensor&) { return -dy * x; }),
            "input 1, element (1, 1), by output 0, element (1, 1): analytic -4, numeric 4"));
  // No gradient at all: the rule's body deleted.
  CHECK(has(b_wrong([](const Tensor& dy, const Tensor&, const Tensor&) { return dy * 0; }),
            "analytic 0, numeric 4"));
  // The other operand.
  CHECK(has(b_wrong([](const Tensor& dy, const Tensor&, const Tensor& y) { return dy * y; }),
            "analytic 5, numeric 1"));
  // It ignores dy.
  CHECK(has(b_wrong([](const Tensor&, const Tensor& x, const Tensor&) { return x; }),
            "analytic 4, numeric 0"));
  // NaN is no gradient.
  CHECK(has(b_wrong([](const Tensor& dy, const Tensor& x, const Tensor&) {
              return dy * x * std::nan("");
            }),
            "analytic nan, numeric"));
  CHECK_THROWS_AS(gradcheck(product_with(right_b, right_b), {a, b}), Error);
}

TEST_CASE("gradcheck rejects a missing term and a missing sum over a broadcast") {
  // y = x³ as x ⊙ x²: two terms, one forgotten.
  const TensorFunction cube = [](const Tensors& x) { return x[0].detach() * x[0] * x[0]; };
  CHECK(has(check_gradients(cube, {some({3})}).message, "input 0, element"));
  // The gradient of one row in place of the sum over all.
  const auto first_row = [](const Tensor& dy, const Tensor& a, const Tensor&) {
    return alias(packed(dy * a), {1, 3}, {3, 1});
  };
  CHECK(has(message_of(product_with(right_a, first_row), {some({2, 3}), some({1, 3})}),
            "input 1, element (0, "));
}

TEST_CASE("gradcheck rejects rules that are right only for a cotangent of ones, or of one 1") {
  const Tensors ab{some({2, 3}), some({2, 3})};
  // dy² is 0 or 1 where dy is.
  const auto square = [](const Tensor& dy, const Tensor&, const Tensor& b) { return dy * dy * b; };
  CHECK(has(message_of(product_with(square, right_b), ab), "input 0, element"));
  // A gradient that doesn't vanish with dy.
  const auto constant = [](const Tensor& dy, const Tensor&, const Tensor& b) {
    return dy * b + 1e-9;
  };
  CHECK(has(message_of(product_with(constant, right_b), ab), "for a cotangent of zeros analytic"));
}

TEST_CASE("gradcheck rejects a backward pass that differs from run to run, or from who asks") {
  const Tensors ab{some({2, 3}), some({2, 3})};
  int calls = 0;
  const auto unsteady = [&calls](const Tensor& dy, const Tensor&, const Tensor& b) {
    return dy * b * (1 + 1e-14 * ++calls);
  };
  CHECK(has(message_of(product_with(unsteady, right_b), ab), "a second backward pass"));

  const auto nosy = [](const Tensor& dy, const Tensor&, const Tensor& b) {
    return b.requires_grad() ? dy * b : dy * b * (1 + 1e-14);
  };
  CHECK(has(message_of(product_with(nosy, right_b), ab),
            "the gradient by input 0 differs when that is the only input that needs one"));

  int evaluations = 0;
  const TensorFunction random = [&](const Tensors& x) { return x[0] * (1 + ++evaluations); };
  CHECK(has(check_gradients(random, {some({2})}).message, "called twice"));
}

TEST_CASE("gradcheck sees a large Jacobian along random directions and still names the element") {
  const Tensors ab{some({20, 30}, 2), some({30}, 2)};
  const GradcheckReport report = gradcheck(product_with(right_a, right_b), ab);
  CHECK(report.compared == 3);
  // One element of 600 is wrong by 1 in 1000.
  std::vector<double> factor(600, 1);
  factor[2 * 30 + 10] = 1.001;
  const Tensor nearly_one = numbers({20, 30}, factor);
  const auto one_off = [=](const Tensor& dy, const Tensor&, const Tensor& b) {
    return dy * b * nearly_one;
  };
  const std::string message = message_of(product_with(one_off, right_b), ab);
  CHECK(has(message, "gradcheck of 'product': input 0, element (2, 10), for a random cotangent: "));
  CHECK(has(message, "numeric"));
}

TEST_CASE("gradgradcheck rejects a wrong second derivative under a right first one") {
  // y = x³ with dx = 3 x² dy, whose square is hidden from the graph.
  const TensorFunction cube = [](const Tensors& in) {
    const Tensor& x = in[0];
    NoGrad no_grad;
    const Tensor y = x * x * x;
    const EnableGrad enable;
    return differentiable(
        "cube", y, wrt(x, [x](const Tensor& dy) { return dy * 3.0 * x.detach() * x.detach(); }));
  };
  CHECK(check_gradients(cube, {some({3})}).ok());
  const GradcheckReport second = check_second_gradients(cube, {some({3}, 1)}, {.op = "cube"});
  CHECK(has(second.message, "gradgradcheck of 'cube': input 0, element ("));
  CHECK(has(second.message, "by the gradient by input 0, element ("));
  CHECK(has(second.message, "analytic 0, numeric"));

  // A wrong derivative by dy.
  const auto detached = [](const Tensor& dy, const Tensor&, const Tensor& b) {
    return dy.detach() * b;
  };
  CHECK(has(check_second_gradients(product_with(detached, right_b), {some({2}), some({2})}).message,
            "cotangent 0, element"));
}

TEST_CASE("gradcheck refuses f32 and functions without a gradient") {
  const TensorFunction twice = [](const Tensors& x) { return x[0] + x[0]; };
  const auto refusal = [&](const Tensors& inputs) {
    try {
      gradcheck(twice, inputs, {.op = "twice"});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  CHECK(has(refusal({to(some({2}), f32)}),
            "gradcheck of 'twice': input 0 is f32, whose rounding errors hide wrong gradients; "
            "convert it with to(x, f64)"));
  CHECK(has(refusal({to(some({2}), i64)}), "no input is f64"));
  const TensorFunction same = [](const Tensors& x) { return x[0] == x[0]; };
  CHECK_THROWS_AS(gradcheck(same, {some({2})}), Error);
  // An op that drops its gradient without a word: the numbers tell.
  const TensorFunction dropped = [](const Tensors& x) { return x[0].detach() * 2; };
  CHECK(has(check_gradients(dropped, {some({2})}).message, "analytic 0, numeric 2"));
}

TEST_CASE("gradcheck at a kink asks for a value between the slopes, if told to") {
  const auto abs_with = [](double at_zero) {
    return TensorFunction([=](const Tensors& in) {
      const Tensor& x = in[0];
      NoGrad no_grad;
      const Tensor y = where(x < 0, -x, x);
      const EnableGrad enable;
      return differentiable("abs", y, wrt(x, [=](const Tensor& dy) {
                              return dy * where(x < 0, -1.0, where(x > 0, 1.0, x + at_zero));
                            }));
    });
  };
  const Tensor x = numbers({3}, {-2, 0, 0.5});
  CHECK(check_gradients(abs_with(0.5), {x}, {.kinks = true}).ok());
  CHECK_FALSE(check_gradients(abs_with(0.5), {x}).ok());
  CHECK(has(check_gradients(abs_with(1.5), {x}, {.kinks = true}).message, "element (1,)"));
}
