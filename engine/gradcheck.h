#pragma once
// Gradients compared with finite differences: the test of every op here, and the first thing to
// try when a new op does not learn.
//
//   gradcheck([](const Tensors& x) { return my_op(x[0], x[1]); }, {a, b}, {.op = "my_op"});
//
// For y = f(x) the numeric derivative is the central difference (f(x + h) - f(x - h)) / 2h, whose
// error is a few times h² and a few times 1e-16 / h: about 1e-11 in f64 with h = 1e-5. In f32 the
// two meet at 1e-4, which hides real mistakes, so f32 inputs are refused. See labs/autograd, 2.
//
// A check accepts |numeric - analytic| <= atol + rtol |numeric|, and asks more than that:
// - Each entry of the Jacobian, up to full_limit of them; of larger ones three random directions.
// - Cotangents are random and never all ones: the sum of a softmax is constant, and so is that of a
//   normalised row, so their gradients would be 0 whatever the rule.
// - A zero cotangent gives gradients of exactly 0.
// - The backward pass run twice gives the same bits, and so does each input asked for alone.
// - Gradients have their input's shape and dtype.
// NaN never passes.

#include <concepts>
#include <functional>
#include <string>

#include "engine/tensor.h"

namespace labgrad {

// What is checked: a function of tensors that returns one tensor or several.
class TensorFunction {
 public:
  template <class F>
  requires(!std::same_as<F, TensorFunction> && std::invocable<const F&, const Tensors&>)
      TensorFunction(F f)
      : f_([f = std::move(f)](const Tensors& x) -> Tensors {
          if constexpr (std::convertible_to<std::invoke_result_t<const F&, const Tensors&>, Tensor>)
            return {f(x)};
          else
            return f(x);
        }) {}
  Tensors operator()(const Tensors& x) const { return f_(x); }

 private:
  std::function<Tensors(const Tensors&)> f_;
};

struct GradcheckOptions {
  std::string op = "f";  // its name in messages
  double step = 1e-5;    // h
  double atol = 1e-8;
  double rtol = 1e-6;
  std::int64_t full_limit = 4096;  // entries of the Jacobian
  // At a kink (|x| at 0) also accept a value between the slopes on the two sides.
  bool kinks = false;
  std::uint64_t seed = 1;  // of cotangents and directions
};

struct GradcheckReport {
  // Empty if all is well. Else op, input, element, and the analytic and the numeric value.
  std::string message;
  // The largest |numeric - analytic| of an input's Jacobian over its largest |numeric|, worst of
  // all inputs.
  double relative_error = 0;
  std::int64_t compared = 0;  // entries, or directions

  bool ok() const { return message.empty(); }
};

// Checks df/dx for every f64 input; the other dtypes (indices, masks) are constants. The inputs may
// have any layout. f has to be the same function each time (a fixed seed for dropout) and smooth
// within h of the inputs. Error: an f32 input, no f64 input.
GradcheckReport check_gradients(const TensorFunction& f, const Tensors& inputs,
                                GradcheckOptions options = {});

// The same for second derivatives: checks the function (x, u) -> uᵀ df/dx, for random u. No looser
// bounds are needed: over the registry's samples the worst relative error is 4e-8 in either order.
GradcheckReport check_second_gradients(const TensorFunction& f, const Tensors& inputs,
                                       GradcheckOptions options = {});

// The two as one-liners. Error: the report's message, if a gradient is wrong.
GradcheckReport gradcheck(const TensorFunction& f, const Tensors& inputs,
                          GradcheckOptions options = {});
GradcheckReport gradgradcheck(const TensorFunction& f, const Tensors& inputs,
                              GradcheckOptions options = {});

}  // namespace labgrad
