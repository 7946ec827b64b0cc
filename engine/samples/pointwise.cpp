// Rows for engine/ops/pointwise.h and engine/ops/select.h.

#include "engine/ops/pointwise.h"

#include "engine/ops/select.h"
#include "engine/samples/rows.h"

namespace labgrad::samples {
namespace {

OpSample row(const char* op, Tensor (*f)(const Tensor&), const Domain& domain) {
  return {.op = op, .f = [f](const Tensors& x) { return f(x[0]); }, .cases = elementwise(domain)};
}

// A mask or condition first, then floating inputs that broadcast with it.
Cases masked(int inputs) {
  const std::vector<std::vector<Shape>> lists{
      {{}, {}, {}},      {{5}, {5}, {5}},          {{3, 4}, {4}, {3, 1}},
      {{4}, {3, 4}, {}}, {{3, 1}, {2, 1, 4}, {4}}, {{0, 2}, {2}, {0, 2}}};
  Cases cases;
  for (const std::vector<Shape>& list : lists) {
    SampleCase c{{{list[0], mask}}};
    for (int k = 1; k <= inputs; ++k) c.inputs.push_back({list[static_cast<std::size_t>(k)]});
    cases.push_back(c);
  }
  SampleCase large{{{{257, 129}, mask}}, true};
  for (int k = 1; k <= inputs; ++k) large.inputs.push_back({{257, 129}});
  cases.push_back(large);
  return cases;
}

Rows select_rows() {
  return {
      {.op = "where",
       .f = [](const Tensors& x) { return where(x[0], x[1], x[2]); },
       .cases = masked(2),
       .linear = Linear::jointly},
      {.op = "where",
       .arguments = "x, 0",
       .f = [](const Tensors& x) { return where(x[0], x[1], 0); },
       .cases = masked(1),
       .linear = Linear::jointly},
      {.op = "where",
       .arguments = "1.5, x",
       .f = [](const Tensors& x) { return where(x[0], 1.5, x[1]); },
       .cases = masked(1)},
      {.op = "masked_fill",
       .arguments = "-1.5",
       .f = [](const Tensors& x) { return masked_fill(x[1], x[0], -1.5); },
       .cases = masked(1)},
      {.op = "clamp",
       .arguments = "-0.7, 0.9",
       .f = [](const Tensors& x) { return clamp(x[0], -0.7, 0.9); },
       .cases = elementwise(between(-2, 2, {-0.7, 0.9}))},
      {.op = "clamp",
       .arguments = "-0.7, none",
       .f = [](const Tensors& x) { return clamp(x[0], -0.7); },
       .cases = elementwise(between(-2, 2, {-0.7}))},
      {.op = "clamp",
       .arguments = "none, 1",
       .f = [](const Tensors& x) { return clamp(x[0], std::nullopt, 1); },
       .cases = elementwise(between(-2, 2, {1}))},
      {.op = "maximum",
       .f = [](const Tensors& x) { return maximum(x[0], x[1]); },
       .cases = broadcasting(distinct, distinct)},
      {.op = "minimum",
       .f = [](const Tensors& x) { return minimum(x[0], x[1]); },
       .cases = broadcasting(distinct, distinct)},
      {.op = "maximum",
       .arguments = "0.5",
       .f = [](const Tensors& x) { return maximum(x[0], 0.5); },
       .cases = elementwise(between(-2, 2, {0.5}))},
      {.op = "minimum",
       .arguments = "0.5",
       .f = [](const Tensors& x) { return minimum(x[0], 0.5); },
       .cases = elementwise(between(-2, 2, {0.5}))},
  };
}

Rows function_rows() {
  return {
      row("abs", abs, nonzero),
      row("sign", sign, nonzero),
      row("floor", floor, between(-2, 2, {-2, -1, 0, 1, 2})),
      row("exp", exp, real),
      row("log", log, positive),
      row("log1p", log1p, between(-0.8, 2)),
      row("sqrt", sqrt, positive),
      row("rsqrt", rsqrt, positive),
      row("square", square, real),
      row("reciprocal", reciprocal, nonzero),
      row("sin", sin, between(-5, 5)),
      row("cos", cos, between(-5, 5)),
      row("tanh", tanh, real),
      row("erf", erf, real),
      row("sigmoid", sigmoid, between(-4, 4)),
      row("softplus", softplus, between(-4, 4)),
      row("relu", relu, nonzero),
      row("relu6", relu6, between(-2, 8, {0, 6})),
      row("gelu", gelu, between(-4, 4)),
  };
}

}  // namespace

Rows pointwise_rows() { return function_rows() + select_rows(); }

}  // namespace labgrad::samples
