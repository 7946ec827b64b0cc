// Section 5: what goes wrong, on purpose: the message that the engine gives, and what to do.

#include <cmath>
#include <functional>

#include "engine/autograd.h"
#include "engine/engine.h"
#include "labs/autograd/sections.h"

namespace labgrad::labs::autograd {
namespace {

Tensor number(double value) { return tensor(value, {.dtype = f64}); }
Tensor leaf(double value) { return tensor(value, {.dtype = f64, .requires_grad = true}); }

// Shows the program, runs it, shows the error. `parts`: what the message has to name.
void show_error(Lab& lab, const std::string& program, const std::function<void()>& run,
                const std::vector<std::string>& parts) {
  lab.show(program);
  std::string message;
  try {
    run();
  } catch (const Error& error) {
    message = error.what();
  }
  lab.say("The engine says: \"{}\"", message.empty() ? "nothing" : message);
  std::vector<std::string> quoted;
  bool named = !message.empty();
  for (const std::string& part : parts) {
    quoted.push_back("\"" + part + "\"");
    named = named && message.find(part) != std::string::npos;
  }
  lab.check_true("an error that has " + join_names(quoted), named);
}

void changed_value(Lab& lab) {
  lab.say(
      "A saved value is changed. The gradient of w x by w is x, so the product has kept x for "
      "backward. If x changes in between, the gradient would belong to another function. Every "
      "storage counts its changes, and the count is compared.");
  show_error(lab,
             "Tensor x = tensor(3.0);\n"
             "Tensor y = w * x;       // keeps x, for the gradient by w\n"
             "x.add_(1);              // changes it in place\n"
             "y.backward();",
             [] {
               Tensor x = number(3);
               const Tensor y = leaf(2) * x;
               x.add_(1);
               y.backward();
             },
             {"'mul'", "changed in place"});
  Tensor x = number(3);
  const Tensor w = leaf(2), y = w * x;
  x = x + 1;
  y.backward();
  lab.say("What to do: make a new tensor, `x = x + 1`, or change x after backward().");
  lab.check_close("with x = x + 1, ∂y/∂w is the x that was used", w.grad().item(), 3, 0);
}

void leaf_in_place(Lab& lab) {
  lab.say(
      "A parameter is changed in place while ops are recorded. The step of an optimiser written "
      "without a thought:");
  show_error(lab, "w.sub_(0.1 * w.grad());",
             [] {
               Tensor w = leaf(2);
               square(w).backward();
               w.sub_(0.1 * w.grad());
             },
             {"sub_", "NoGrad"});
  Tensor w = leaf(2);
  square(w).backward();
  {
    NoGrad no_grad;
    w.sub_(0.1 * w.grad());
  }
  lab.say(
      "What to do: `NoGrad no_grad;` in a scope around it. The step is no part of the function "
      "that is differentiated.");
  lab.check_close("under NoGrad w² at 2 steps to 2 - 0.1 · 4", w.item(), 1.6, 1e-15);
}

void backward_twice(Lab& lab) {
  lab.say(
      "backward() twice. The sweep frees what the ops have saved as it passes, since a graph is "
      "used once as a rule and memory is dear.");
  show_error(lab, "Tensor y = exp(w) * w;\ny.backward();\ny.backward();",
             [] {
               const Tensor w = leaf(2), y = exp(w) * w;
               y.backward();
               y.backward();
             },
             {"freed already", "retain_graph", "detach()"});
  const Tensor w = leaf(2), y = w * w;
  y.backward({}, {.retain_graph = true});
  const double once = w.grad().item();
  y.backward();
  lab.say(
      "What to do: nearly always, compute y anew. If the same graph is really needed again, "
      "`y.backward({{}}, {{.retain_graph = true}})` the first time. A state that is carried from "
      "one batch to the next has to be cut off with detach().");
  lab.check_close("with retain_graph: ∂w²/∂w after the first sweep", once, 4, 0);
  lab.say(
      "After the second sweep w.grad() holds {}: gradients are added to what is there, so that a "
      "batch can be worked through in parts. Whoever forgets zero_grad() between two steps gets "
      "no error, only the sum of all gradients so far.",
      w.grad().item());
  lab.check_close("and after the second: the sum", w.grad().item(), 8, 0);
}

void not_a_number(Lab& lab) {
  lab.say(
      "The loss is no single number. A gradient belongs to one number; for several there is a "
      "whole matrix of derivatives, and the sweep computes a product with it, uᵀJ, for a given u.");
  show_error(lab, "Tensor y = square(w);      // w has 3 elements\ny.backward();",
             [] { square(ones({3}, {.dtype = f64, .requires_grad = true})).backward(); },
             {"shape (3,)", "sum()", "seed"});
  const Tensor w = arange(1.0, 4.0, {.dtype = f64}), a = clone(w), b = clone(w);
  Tensor x = a, z = b;
  x.requires_grad_();
  z.requires_grad_();
  sum(square(x)).backward();
  square(z).backward(ones({3}, {.dtype = f64}));
  lab.say(
      "What to do: reduce first, sum() or mean(); or say u, the seed: `y.backward(u)`. With u = 1 "
      "for each element the two agree.");
  lab.check_close("sum, or a seed of ones (largest difference)",
                  max(abs(x.grad() - z.grad())).item(), 0, 0);
}

void detached(Lab& lab) {
  lab.say(
      "A branch is detached. detach() gives the same elements outside the graph: a constant, as "
      "far as gradients are concerned. That is no error, and so it is the mistake that lasts.");
  const auto prediction = lab.predict(
      "y = w · w.detach() has the value w². What is w.grad() at w = 3 after y.backward()?");
  const Tensor w = leaf(3);
  (w * w.detach()).backward();
  lab.reveal(prediction, w.grad().item(), 1e-9);
  lab.check_close("∂(w · constant)/∂w is the constant", w.grad().item(), 3, 0);
  lab.say(
      "item() cuts as well: what is computed from its number in C++ has no graph. If nothing at "
      "all leads back to a leaf, backward() says so:");
  show_error(lab, "Tensor y = square(w.detach());\ny.backward();",
             [] { square(leaf(3).detach()).backward(); },
             {"does not require a gradient", "detach()"});
}

void no_grad_scope(Lab& lab) {
  lab.say(
      "NoGrad. In its scope nothing is recorded, which saves time and memory when no gradient is "
      "wanted: evaluating, or stepping an optimiser. Too wide a scope is an error that shows "
      "late:");
  show_error(lab, "NoGrad no_grad;\nTensor y = square(w);\ny.backward();",
             [] {
               NoGrad no_grad;
               square(leaf(3)).backward();
             },
             {"does not require a gradient", "NoGrad"});
  try {
    NoGrad no_grad;
    fail("an error inside the scope");
  } catch (const Error&) {}
  lab.say(
      "What to do: close the scope before the forward pass that is to be differentiated. The "
      "guard belongs to its scope, so it also ends when an exception leaves it.");
  lab.check_true("after an exception inside the scope, ops are recorded again",
                 square(leaf(3)).requires_grad());
}

void infinite_gradients(Lab& lab) {
  lab.say(
      "NaN out of nowhere. The length of a vector, written as sqrt(sum(x²)), has no derivative at "
      "x = 0. The chain rule computes it all the same: the derivative of the root at 0 is "
      "infinite, that of the square is 0, and 0 · ∞ is NaN. norm() knows the case and gives 0. "
      "where() is no help by itself: it picks a branch, but both branches are computed, forward "
      "and backward. Clean the input of the dangerous branch first.");
  struct Case {
    std::string program;
    std::function<Tensor(const Tensor&)> f;
    bool finite;
  };
  const std::vector<Case> cases = {
      {"sqrt(sum(square(x)))", [](const Tensor& x) { return sqrt(sum(square(x))); }, false},
      {"norm(x)", [](const Tensor& x) { return norm(x); }, true},
      {"where(x > 0, sqrt(x), x)", [](const Tensor& x) { return sum(where(x > 0, sqrt(x), x)); },
       false},
      {"where(x > 0, sqrt(where(x > 0, x, 1)), x)",
       [](const Tensor& x) { return sum(where(x > 0, sqrt(where(x > 0, x, 1)), x)); }, true}};
  Table table({{"function, at x = (0, 0)"}, {"value", "g"}, {"gradient"}});
  std::int64_t as_told = 0;
  for (const Case& each : cases) {
    const Tensor x = zeros({2}, {.dtype = f64, .requires_grad = true});
    const Tensor y = each.f(x);
    y.backward();
    const auto g = x.grad().to_vector();
    table.row(each.program, y.item(), fmt::format("({:g}, {:g})", std::abs(g[0]), std::abs(g[1])));
    as_told += (std::isfinite(g[0]) && std::isfinite(g[1])) == each.finite ? 1 : 0;
  }
  lab.table(table);
  lab.check_equal("gradients that are finite where they should be, and only there", as_told, 4);
  lab.say("To find where a NaN began in a long program, let every op be watched for a while:");
  show_error(lab, "DetectAnomaly watch;\nsqrt(sum(square(x))).backward();",
             [] {
               const DetectAnomaly watch;
               sqrt(sum(square(zeros({2}, {.dtype = f64, .requires_grad = true})))).backward();
             },
             {"anomaly", "'sqrt'"});
}

}  // namespace

void mistakes(Lab& lab) {
  lab.say(
      "These are the mistakes that everyone makes in the first week. In each case the engine "
      "stops with a message where it can; where it cannot, the number tells.");
  changed_value(lab);
  leaf_in_place(lab);
  backward_twice(lab);
  not_a_number(lab);
  detached(lab);
  no_grad_scope(lab);
  infinite_gradients(lab);
}

}  // namespace labgrad::labs::autograd
