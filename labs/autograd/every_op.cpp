// Section 3: every differentiable op of the engine against finite differences, and four planted
// mistakes that the checker must see.

#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "engine/engine.h"
#include "engine/gradcheck.h"
#include "engine/samples.h"
#include "labs/autograd/sections.h"

namespace labgrad::labs::autograd {
namespace {

// The inputs of the case with the most elements: "(2, 3) (3,)".
std::string largest_inputs(const OpSample& row) {
  std::int64_t most = -1;
  std::string text;
  for (const SampleCase& each : row.cases) {
    std::int64_t elements = 0;
    std::string inputs;
    for (const SampleInput& input : each.inputs) {
      elements += input.shape.numel();
      inputs += (inputs.empty() ? "" : " ") + input.shape.str();
    }
    if (each.large || elements <= most) continue;
    most = elements;
    text = std::move(inputs);
  }
  return text;
}

std::int64_t checked_cases(const OpSample& row) {
  return std::count_if(row.cases.begin(), row.cases.end(),
                       [](const SampleCase& each) { return !each.large; });
}

void table_of_ops(Lab& lab) {
  const auto prediction = lab.predict(
      "How large is the largest relative error of a first derivative over all ops, as a power of "
      "ten? Section 2 has the error of the difference quotient itself. (Answer: the exponent.)");
  Table table({{"op"},
               {"largest inputs"},
               {"cases", "d"},
               {"compared", ",d"},
               {"1st order", ".1e"},
               {"2nd order", ".1e"}},
              "Largest relative error against central differences in f64");
  double worst_first = 0, worst_second = 0;
  std::int64_t rows = 0, compared = 0;
  std::vector<std::string> refused;
  for (const OpSample& row : op_samples()) {
    const GradcheckReport first = check_sample(row, 1), second = check_sample(row, 2);
    table.row(row.label(), largest_inputs(row), checked_cases(row),
              first.compared + second.compared, first.relative_error, second.relative_error);
    for (const GradcheckReport* report : {&first, &second})
      if (!report->ok()) refused.push_back(report->message);
    worst_first = std::max(worst_first, first.relative_error);
    worst_second = std::max(worst_second, second.relative_error);
    compared += first.compared + second.compared;
    ++rows;
  }
  lab.reveal(prediction, std::log10(worst_first), 1);
  lab.table(table);
  for (const std::string& message : refused) lab.add_paragraph(message);
  lab.say(
      "{} rows, {} derivatives, each compared by itself. The largest errors belong to functions "
      "with a pole within reach, 1/x or ln x: there the third derivative is large, and with it the "
      "truncation error h²/6 f''' of the difference quotient. It is not the gradient that is "
      "inexact.",
      rows, compared);
  lab.check_equal("rows with a gradient that the checker refuses", std::ssize(refused), 0);
  lab.check_less("first order, largest relative error of all ops", worst_first, 1e-6);
  lab.check_less("second order, largest relative error of all ops", worst_second, 1e-5);
}

// softmax with the gradient 0.
Tensor wrong_softmax(const Tensor& x) {
  NoGrad no_grad;
  const Tensor y = softmax(x, -1);
  EnableGrad record;
  return differentiable("wrong_softmax", y, wrt(x, [](const Tensor& dy) { return 0 * dy; }));
}

// eˣ with a gradient that is wrong: factor · dy ⊙ y.
Tensor wrong_exp(const Tensor& x, double factor) {
  NoGrad no_grad;
  const Tensor y = exp(x);
  EnableGrad record;
  return differentiable("wrong_exp", y, wrt(x, [factor](const Tensor& dy, const Tensor& value) {
                          return factor * dy * value;
                        }));
}

// x², but the gradient forgets one of the two equal factors.
Tensor wrong_square(const Tensor& x) {
  NoGrad no_grad;
  const Tensor y = square(x);
  EnableGrad record;
  return differentiable("wrong_square", y,
                        wrt(x, [x = save(x)](const Tensor& dy) { return dy * x; }));
}

void planted_mistakes(Lab& lab) {
  lab.say(
      "A check that never says no proves nothing. So the checker is given ops whose gradient is "
      "wrong on purpose. This is how an op of one's own is written, here with a factor that should "
      "be 1:");
  lab.show(
      "differentiable(\"wrong_exp\", y, wrt(x, [factor](const Tensor& dy, const Tensor& y) {\n"
      "  return factor * dy * y;\n"
      "}));");
  const Tensor x = linspace(-1, 1, 6, {.dtype = f64});
  Table table({{"planted mistake"}, {"relative error", ".1e"}, {"refused"}});
  std::string message;
  std::int64_t refused = 0;
  const auto plant = [&](const std::string& what, const std::string& op, const TensorFunction& f) {
    const GradcheckReport report = check_gradients(f, {x}, {.op = op});
    table.row(what, report.relative_error, report.ok() ? "no" : "yes");
    if (!report.ok()) ++refused;
    if (message.empty()) message = report.message;
  };
  plant("factor 1.001", "wrong_exp", [](const Tensors& in) { return wrong_exp(in[0], 1.001); });
  plant("the wrong sign", "wrong_exp", [](const Tensors& in) { return wrong_exp(in[0], -1); });
  plant("one of two terms missing", "wrong_square",
        [](const Tensors& in) { return wrong_square(in[0]); });
  plant("gradient 0 in place of the softmax's", "wrong_softmax",
        [](const Tensors& in) { return wrong_softmax(in[0]); });
  const GradcheckReport right = check_gradients(
      [](const Tensors& in) { return wrong_exp(in[0], 1); }, {x}, {.op = "wrong_exp"});
  table.row("none: factor 1", right.relative_error, right.ok() ? "no" : "yes");
  lab.table(table);
  lab.check_equal("mistakes that the checker refuses, of 4", refused, 4);
  lab.check_true("without a mistake it is content", right.ok());
  lab.say("Its message for the first one names the op, the element and both values:");
  lab.add_paragraph(message);
  const GradcheckReport summed = check_gradients(
      [](const Tensors& in) { return sum(wrong_softmax(in[0])); }, {x}, {.op = "summed"});
  lab.say(
      "The last one is the reason why the checker weighs the outputs at random. A softmax sums to "
      "1 whatever its inputs, so the derivative of the sum of its outputs is 0, and a check that "
      "sums them finds the gradient 0 quite right.");
  lab.check_true("a check of the sum does not see that gradient", summed.ok());
}

}  // namespace

void every_op(Lab& lab) {
  lab.say(
      "Every differentiable op of the engine has a row in a registry, `engine/samples`, with "
      "inputs of several shapes. The tests read it, and so does this table; a new op appears here "
      "by itself. For each one all entries of the Jacobian are compared with central differences, "
      "and then those of the gradient itself: the second derivatives, which exist because the "
      "gradients are written with the same ops.");
  table_of_ops(lab);
  planted_mistakes(lab);
}

}  // namespace labgrad::labs::autograd
