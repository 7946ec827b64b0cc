// Rows for engine/ops/shape.h and engine/ops/join.h. All of these are linear.

#include "engine/ops/shape.h"

#include "engine/ops/join.h"
#include "engine/samples/rows.h"

namespace labgrad::samples {
namespace {

OpSample row(const char* op, const char* arguments, TensorFunction f, Cases cases) {
  return {.op = op,
          .arguments = arguments,
          .f = std::move(f),
          .cases = std::move(cases),
          .linear = Linear::jointly};
}

Cases with_large(Cases cases, const std::vector<Shape>& inputs) {
  SampleCase large{{}, true};
  for (const Shape& shape : inputs) large.inputs.push_back({shape});
  cases.push_back(large);
  return cases;
}

// Several inputs in one case.
SampleCase together(const std::vector<Shape>& list) {
  SampleCase c;
  for (const Shape& shape : list) c.inputs.push_back({shape});
  return c;
}

Rows view_rows() {
  const Cases matrices = shapes({{2, 3}, {1, 1}, {0, 3}, {2, 3, 4}, {7, 5}});
  return {
      row(
          "reshape", "(-1, 2)",
          [](const Tensors& x) {
            return reshape(x[0], {-1, 2});
          },
          with_large(shapes({{6}, {2, 3}, {3, 2}, {0, 4}, {2, 3, 4}, {1, 2}}), {{258, 129}})),
      // Splitting a dimension is a view whatever the strides.
      row(
          "view", "(3, 2, -1)",
          [](const Tensors& x) {
            return view(x[0], {3, 2, -1});
          },
          shapes({{6, 4}, {6, 1}, {3, 2, 5}, {6, 0, 1}})),
      row(
          "flatten", "", [](const Tensors& x) { return flatten(x[0]); },
          shapes({{}, {1}, {0}, {3, 4}, {2, 3, 4}})),
      row(
          "flatten", "1, 2", [](const Tensors& x) { return flatten(x[0], 1, 2); },
          shapes({{2, 3, 4}, {2, 1, 1}, {2, 3, 2, 2}})),
      row(
          "transpose", "", [](const Tensors& x) { return transpose(x[0]); },
          with_large(matrices, {{257, 129}})),
      row(
          "transpose", "0, -1", [](const Tensors& x) { return transpose(x[0], 0, -1); }, matrices),
      row(
          "t", "", [](const Tensors& x) { return t(x[0]); }, shapes({{}, {3}, {2, 3}})),
      row(
          "permute", "(1, 2, 0)",
          [](const Tensors& x) {
            return permute(x[0], {1, 2, 0});
          },
          with_large(shapes({{2, 3, 4}, {1, 1, 1}, {2, 0, 3}}), {{32, 33, 34}})),
      row(
          "movedim", "0, -1", [](const Tensors& x) { return movedim(x[0], 0, -1); },
          shapes({{3}, {2, 3}, {2, 3, 4}})),
      row(
          "narrow", "1, 1, 2", [](const Tensors& x) { return narrow(x[0], 1, 1, 2); },
          shapes({{2, 3}, {2, 4, 3}, {0, 3}})),
      row(
          "narrow", "-1, -2, 2", [](const Tensors& x) { return narrow(x[0], -1, -2, 2); },
          shapes({{2, 3}, {2}, {2, 4, 5}})),
      row(
          "slice", "0, 1, end, 2", [](const Tensors& x) { return slice(x[0], 0, 1, to_end, 2); },
          shapes({{5}, {6}, {1}, {0}, {5, 3}, {4, 1, 2}})),
      row(
          "slice", "-1, -3, -1", [](const Tensors& x) { return slice(x[0], -1, -3, -1); },
          shapes({{5}, {2, 4}, {2, 3, 1}})),
      row(
          "select", "0, 1", [](const Tensors& x) { return select(x[0], 0, 1); },
          shapes({{3}, {2, 3}, {2, 3, 4}, {2, 0}})),
      row(
          "select", "-1, -1", [](const Tensors& x) { return select(x[0], -1, -1); },
          shapes({{3}, {2, 3}, {2, 3, 1}})),
      row(
          "squeeze", "", [](const Tensors& x) { return squeeze(x[0]); },
          shapes({{}, {1}, {1, 3, 1}, {2, 3}, {1, 0}})),
      row(
          "squeeze", "1", [](const Tensors& x) { return squeeze(x[0], 1); },
          shapes({{2, 1}, {2, 3}, {1, 1, 4}})),
      row(
          "unsqueeze", "-1", [](const Tensors& x) { return unsqueeze(x[0], -1); },
          shapes({{}, {1}, {3}, {2, 3}, {0}})),
      row(
          "unsqueeze", "0", [](const Tensors& x) { return unsqueeze(x[0], 0); },
          shapes({{}, {3}, {2, 3}})),
      row(
          "flip", "{0, -1}",
          [](const Tensors& x) {
            return flip(x[0], {0, -1});
          },
          with_large(shapes({{2, 3}, {1, 1}, {2, 3, 4}, {0, 2}}), {{257, 129}})),
      row(
          "flip", "{0}", [](const Tensors& x) { return flip(x[0], {0}); },
          shapes({{5}, {1}, {0}, {3, 2}})),
      row(
          "place", "(2, 7), 1, 1, 2",
          [](const Tensors& x) {
            return place(x[0], {2, 7}, 1, 1, 2);
          },
          shapes({{2, 3}, {2, 1}, {2, 0}})),
  };
}

Rows join_rows() {
  return {
      row(
          "cat", "0", [](const Tensors& x) { return cat(x, 0); },
          with_large({together({{2, 3}, {1, 3}, {4, 3}}), together({{3}}),
                      together({{0, 2}, {2, 2}}), together({{2, 1, 2}, {3, 1, 2}})},
                     {{200, 131}, {100, 131}})),
      row("cat", "-1", [](const Tensors& x) { return cat(x, -1); },
          {together({{2, 3}, {2, 1}, {2, 2}}), together({{2, 1, 2}, {2, 1, 0}}),
           together({{4}, {1}})}),
      row(
          "cat", "the same twice",
          [](const Tensors& x) {
            return cat({x[0], x[0]}, 0);
          },
          shapes({{2, 3}, {1}, {0, 2}})),
      row("stack", "0", [](const Tensors& x) { return stack(x, 0); },
          {together({{}, {}, {}}), together({{2, 3}, {2, 3}}), together({{0}, {0}})}),
      row("stack", "-1", [](const Tensors& x) { return stack(x, -1); },
          {together({{2}, {2}}), together({{2, 3}, {2, 3}, {2, 3}})}),
      row(
          "split", "2", [](const Tensors& x) { return split(x[0], 2); },
          shapes({{5}, {4, 3}, {1, 2}, {2}})),
      row(
          "split", "{1, 0, 3}, 1",
          [](const Tensors& x) {
            return split(x[0], std::vector<std::int64_t>{1, 0, 3}, 1);
          },
          shapes({{2, 4}, {2, 4, 3}, {0, 4}})),
      row(
          "chunk", "3, -1", [](const Tensors& x) { return chunk(x[0], 3, -1); },
          shapes({{7}, {2, 6}, {2, 2}})),
      // Only one part goes on: the others' gradients are missing, not zero.
      row(
          "chunk", "3, the middle one", [](const Tensors& x) { return chunk(x[0], 3)[1]; },
          shapes({{7}, {6, 2}})),
      row(
          "unbind", "0", [](const Tensors& x) { return unbind(x[0]); },
          shapes({{3}, {2, 3}, {1, 2, 2}})),
      row(
          "unbind", "-1", [](const Tensors& x) { return unbind(x[0], -1); },
          shapes({{3}, {2, 3}, {2, 1, 2}})),
      row(
          "pad", "{1, 2}",
          [](const Tensors& x) {
            return pad(x[0], {1, 2});
          },
          with_large(shapes({{3}, {2, 3}, {0}, {2, 0}, {2, 1, 2}}), {{257, 129}})),
      row(
          "pad", "{1, 0, 2, 1}",
          [](const Tensors& x) {
            return pad(x[0], {1, 0, 2, 1});
          },
          shapes({{2, 3}, {2, 1, 2}, {1, 1}})),
      row(
          "pad", "{-1, 2}",
          [](const Tensors& x) {
            return pad(x[0], {-1, 2});
          },
          shapes({{3}, {2, 4}, {1}})),
      {.op = "pad",
       .arguments = "{1, -1}, 1.5",
       .f =
           [](const Tensors& x) {
             return pad(x[0], {1, -1}, 1.5);
           },
       .cases = shapes({{3}, {2, 4}})},
      row(
          "tril", "", [](const Tensors& x) { return tril(x[0]); },
          with_large(shapes({{3, 3}, {2, 4}, {4, 2}, {2, 3, 3}, {0, 3}}), {{257, 129}})),
      row(
          "tril", "-1", [](const Tensors& x) { return tril(x[0], -1); },
          shapes({{3, 3}, {1, 1}, {2, 3, 2}})),
      row(
          "triu", "", [](const Tensors& x) { return triu(x[0]); },
          shapes({{3, 3}, {2, 4}, {4, 2}, {2, 3, 3}})),
      row(
          "triu", "1", [](const Tensors& x) { return triu(x[0], 1); },
          shapes({{3, 3}, {1, 1}, {2, 3, 2}})),
  };
}

}  // namespace

Rows shape_rows() { return view_rows() + join_rows(); }

}  // namespace labgrad::samples
