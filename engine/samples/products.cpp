// Rows for engine/ops/matmul.h and engine/ops/attention.h.

#include "engine/ops/attention.h"
#include "engine/ops/matmul.h"

#include "engine/samples/rows.h"

namespace labgrad::samples {
namespace {

SampleCase operands(const std::vector<Shape>& list, bool large = false) {
  SampleCase c{{}, large};
  for (const Shape& shape : list) c.inputs.push_back({shape});
  return c;
}

// q, k and v of so many samples, queries, keys and units; small, for near ±1 the derivative of tanh
// is a difference of like numbers.
SampleCase queries_and_keys(std::int64_t B, std::int64_t Q, std::int64_t K, std::int64_t U,
                            bool large = false) {
  const Domain small = between(-0.7, 0.7);
  return {{{{B, Q, U}, small}, {{B, K, U}, small}, {{U}}}, large};
}

}  // namespace

Rows product_rows() {
  return {
      {.op = "matmul",
       .f = [](const Tensors& x) { return matmul(x[0], x[1]); },
       .cases = {operands({{3, 4}, {4, 2}}), operands({{1, 1}, {1, 1}}), operands({{1, 5}, {5, 3}}),
                 operands({{3, 5}, {5, 1}}), operands({{7, 17}, {17, 3}}),
                 operands({{2, 0}, {0, 3}}), operands({{0, 2}, {2, 3}}), operands({{3, 3}, {3, 3}}),
                 // vectors
                 operands({{4}, {4}}), operands({{3, 4}, {4}}), operands({{4}, {4, 2}}),
                 operands({{4}, {2, 4, 3}}), operands({{2, 3, 4}, {4}}),
                 // batches
                 operands({{2, 3, 4}, {2, 4, 2}}), operands({{2, 3, 4}, {4, 2}}),
                 operands({{3, 4}, {2, 4, 2}}), operands({{2, 1, 2, 3}, {3, 3, 2}}),
                 operands({{0, 2, 3}, {3, 2}}), operands({{1, 2, 3}, {4, 3, 2}}),
                 operands({{130, 65}, {65, 67}}, true),
                 operands({{12, 17, 33}, {12, 33, 19}}, true)},
       .linear = Linear::each,
       .rounds_by_layout = true},
      {.op = "matmul",
       .arguments = "by itself",
       .f = [](const Tensors& x) { return matmul(x[0], x[0]); },
       .cases = {operands({{3, 3}}), operands({{1, 1}}), operands({{4}})},
       .rounds_by_layout = true},
      {.op = "linear",
       .f = [](const Tensors& x) { return linear(x[0], x[1], x[2]); },
       .cases = {operands({{3, 4}, {2, 4}, {2}}), operands({{4}, {2, 4}, {2}}),
                 operands({{2, 3, 4}, {5, 4}, {5}}), operands({{0, 4}, {2, 4}, {2}}),
                 operands({{1, 1}, {1, 1}, {1}}), operands({{64, 129}, {131, 129}, {131}}, true)},
       .rounds_by_layout = true},
      {.op = "linear",
       .arguments = "no bias",
       .f = [](const Tensors& x) { return linear(x[0], x[1]); },
       .cases = {operands({{3, 4}, {2, 4}}), operands({{4}, {1, 4}}),
                 operands({{2, 3, 4}, {5, 4}})},
       .linear = Linear::each,
       .rounds_by_layout = true},
      {.op = "outer",
       .f = [](const Tensors& x) { return outer(x[0], x[1]); },
       .cases = {operands({{3}, {4}}), operands({{1}, {1}}), operands({{0}, {2}})},
       .linear = Linear::each},
      {.op = "dot",
       .f = [](const Tensors& x) { return dot(x[0], x[1]); },
       .cases = {operands({{5}, {5}}), operands({{1}, {1}}), operands({{0}, {0}}),
                 operands({{131}, {131}})},
       .linear = Linear::each,
       .rounds_by_layout = true},
      {.op = "additive_scores",
       .f = [](const Tensors& x) { return additive_scores(x[0], x[1], x[2]); },
       .cases = {queries_and_keys(2, 2, 4, 3), queries_and_keys(1, 1, 1, 1),
                 queries_and_keys(3, 1, 2, 2), queries_and_keys(0, 2, 1, 3),
                 queries_and_keys(2, 2, 3, 0), queries_and_keys(2, 0, 3, 2),
                 queries_and_keys(40, 3, 9, 33, true)},
       .f32_error = 3e-6},
  };
}

}  // namespace labgrad::samples
