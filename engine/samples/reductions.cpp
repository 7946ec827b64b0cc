// Rows for engine/ops/reduce.h.

#include "engine/ops/reduce.h"

#include <limits>

#include "engine/samples/rows.h"

namespace labgrad::samples {
namespace {

// What a reduction of all dimensions, of the first, of the last and of two at once has to get
// right.
const std::vector<Shape> any_rank{{}, {1}, {5}, {2, 3}, {2, 3, 4}, {131}};
const std::vector<Shape> ranked{{5}, {1}, {3, 1}, {4, 3}, {2, 3, 4}};
const std::vector<Shape> matrices{{2, 3}, {1, 1}, {2, 3, 4}};

Cases with_large(Cases cases, const Domain& domain = real) {
  cases.push_back({{{{300, 131}, domain}}, true});
  return cases;
}

Tensors both(const Extremes& e) { return {e.values, e.indices}; }

Rows sum_rows() {
  return {
      {.op = "sum",
       .f = [](const Tensors& x) { return sum(x[0]); },
       .cases = with_large(shapes(any_rank) + shapes({{0}, {2, 0}})),
       .linear = Linear::jointly},
      {.op = "sum",
       .arguments = "0",
       .f = [](const Tensors& x) { return sum(x[0], 0); },
       .cases = with_large(shapes(ranked) + shapes({{0, 3}, {3, 0}})),
       .linear = Linear::jointly},
      {.op = "sum",
       .arguments = "-1, keepdim",
       .f = [](const Tensors& x) { return sum(x[0], -1, true); },
       .cases = with_large(shapes(ranked) + shapes({{0, 3}, {3, 0}})),
       .linear = Linear::jointly},
      {.op = "sum",
       .arguments = "{0, -1}",
       .f =
           [](const Tensors& x) {
             return sum(x[0], {0, -1});
           },
       .cases = shapes(matrices),
       .linear = Linear::jointly},
      {.op = "mean",
       .f = [](const Tensors& x) { return mean(x[0]); },
       .cases = with_large(shapes(any_rank)),
       .linear = Linear::jointly},
      {.op = "mean",
       .arguments = "{0, -1}, keepdim",
       .f =
           [](const Tensors& x) {
             return mean(x[0], {0, -1}, true);
           },
       .cases = shapes(matrices),
       .linear = Linear::jointly},
      {.op = "prod",
       .f = [](const Tensors& x) { return prod(x[0]); },
       .cases = shapes({{}, {1}, {0}, {5}, {2, 3}})},
      {.op = "prod",
       .arguments = "0",
       .f = [](const Tensors& x) { return prod(x[0], 0); },
       .cases = shapes(ranked) + shapes({{0, 3}, {3, 0}})},
      {.op = "prod",
       .arguments = "-1, with zeros",
       .f = [](const Tensors& x) { return prod(x[0], -1, true); },
       // Rows without a zero, with one and with more.
       .cases = shapes({{8, 3}}, {.low = -1, .high = 1, .whole = true})},
      {.op = "cumsum",
       .arguments = "0",
       .f = [](const Tensors& x) { return cumsum(x[0], 0); },
       .cases = with_large(shapes(ranked) + shapes({{0, 3}, {3, 0}})),
       .linear = Linear::jointly},
      {.op = "cumsum",
       .arguments = "-1",
       .f = [](const Tensors& x) { return cumsum(x[0], -1); },
       .cases = shapes(ranked),
       .linear = Linear::jointly},
  };
}

Rows moment_rows() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  return {
      {.op = "var",
       .f = [](const Tensors& x) { return var(x[0]); },
       .cases = with_large(shapes({{5}, {2}, {2, 3}, {2, 3, 4}, {256}}))},
      {.op = "var",
       .arguments = "0, correction=0",
       .f = [](const Tensors& x) { return var(x[0], 0, {.correction = 0}); },
       .cases = with_large(shapes(ranked))},
      {.op = "var",
       .arguments = "{0, -1}, keepdim",
       .f =
           [](const Tensors& x) {
             return var(x[0], {0, -1}, {.keepdim = true});
           },
       .cases = shapes({{2, 3}, {2, 3, 4}})},
      {.op = "std",
       .f = [](const Tensors& x) { return labgrad::std(x[0]); },
       .cases = shapes({{5}, {2}, {2, 3}, {2, 3, 4}})},
      {.op = "std",
       .arguments = "-1, correction=0",
       .f = [](const Tensors& x) { return labgrad::std(x[0], -1, {.correction = 0}); },
       .cases = shapes({{5}, {2, 3}, {2, 3, 4}})},
      {.op = "norm",
       .f = [](const Tensors& x) { return norm(x[0]); },
       .cases = with_large(shapes({{1}, {5}, {2, 3}, {131}}, nonzero))},
      {.op = "norm",
       .arguments = "2, -1",
       .f = [](const Tensors& x) { return norm(x[0], 2, -1); },
       .cases = shapes(ranked, nonzero)},
      {.op = "norm",
       .arguments = "1, 0, keepdim",
       .f = [](const Tensors& x) { return norm(x[0], 1, 0, true); },
       .cases = shapes(ranked, nonzero)},
      {.op = "norm",
       .arguments = "3, {0, -1}",
       .f =
           [](const Tensors& x) {
             return norm(x[0], 3, {0, -1});
           },
       .cases = shapes(matrices, nonzero)},
      {.op = "norm",
       .arguments = "inf, -1",
       .f = [](const Tensors& x) { return norm(x[0], inf, -1); },
       // The largest |x| of these is the only one of its size.
       .cases = {{{{{5}, {.distinct = true}}}}, {{{{1, 1}, {.distinct = true}}}}}},
      {.op = "logsumexp",
       .arguments = "{}",
       .f = [](const Tensors& x) { return logsumexp(x[0], {}); },
       .cases = shapes(any_rank)},
      {.op = "logsumexp",
       .arguments = "-1, keepdim",
       .f = [](const Tensors& x) { return logsumexp(x[0], -1, true); },
       .cases = with_large(shapes(ranked) + shapes({{0, 3}}))},
      {.op = "logsumexp",
       .arguments = "{0, -1}",
       .f =
           [](const Tensors& x) {
             return logsumexp(x[0], {0, -1});
           },
       .cases = shapes(matrices)},
  };
}

Rows extreme_rows() {
  return {
      {.op = "max",
       .f = [](const Tensors& x) { return max(x[0]); },
       .cases = with_large(shapes(any_rank, distinct), distinct)},
      {.op = "min",
       .f = [](const Tensors& x) { return min(x[0]); },
       .cases = shapes(any_rank, distinct)},
      {.op = "max",
       .arguments = "0",
       .f = [](const Tensors& x) { return both(max(x[0], 0)); },
       .cases = with_large(shapes(ranked, distinct) + shapes({{3, 0}}), distinct)},
      {.op = "max",
       .arguments = "-1, keepdim",
       .f = [](const Tensors& x) { return both(max(x[0], -1, true)); },
       .cases = shapes(ranked, distinct)},
      {.op = "min",
       .arguments = "0, keepdim",
       .f = [](const Tensors& x) { return both(min(x[0], 0, true)); },
       .cases = shapes(ranked, distinct)},
      {.op = "min",
       .arguments = "-1",
       .f = [](const Tensors& x) { return both(min(x[0], -1)); },
       .cases = shapes(ranked, distinct) + shapes({{0, 3}})},
      {.op = "amax",
       .f = [](const Tensors& x) { return amax(x[0]); },
       .cases = shapes(any_rank, distinct)},
      {.op = "amax",
       .arguments = "{0, -1}",
       .f =
           [](const Tensors& x) {
             return amax(x[0], {0, -1});
           },
       .cases = shapes(matrices, distinct)},
      {.op = "amin",
       .arguments = "-1, keepdim",
       .f = [](const Tensors& x) { return amin(x[0], -1, true); },
       .cases = with_large(shapes(ranked, distinct), distinct)},
  };
}

}  // namespace

Rows reduction_rows() { return sum_rows() + moment_rows() + extreme_rows(); }

}  // namespace labgrad::samples
