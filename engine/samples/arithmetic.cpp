// Rows for engine/ops/arithmetic.h and engine/ops/broadcast.h.

#include "engine/ops/arithmetic.h"

#include "engine/ops/broadcast.h"
#include "engine/samples/rows.h"

namespace labgrad::samples {

Rows arithmetic_rows() {
  return {
      {.op = "add",
       .f = [](const Tensors& x) { return add(x[0], x[1]); },
       .cases = broadcasting(),
       .linear = Linear::jointly},
      {.op = "sub",
       .f = [](const Tensors& x) { return sub(x[0], x[1]); },
       .cases = broadcasting(),
       .linear = Linear::jointly},
      {.op = "mul",
       .f = [](const Tensors& x) { return mul(x[0], x[1]); },
       .cases = broadcasting(),
       .linear = Linear::each},
      {.op = "div",
       .f = [](const Tensors& x) { return div(x[0], x[1]); },
       .cases = broadcasting(real, nonzero)},
      {.op = "pow",
       .f = [](const Tensors& x) { return pow(x[0], x[1]); },
       .cases = broadcasting(positive, real)},
      {.op = "pow",
       .arguments = "3",
       .f = [](const Tensors& x) { return pow(x[0], 3); },
       .cases = elementwise(nonzero)},
      {.op = "pow",
       .arguments = "2",
       .f = [](const Tensors& x) { return pow(x[0], 2); },
       .cases = elementwise(real)},
      {.op = "pow",
       .arguments = "-1.5",
       .f = [](const Tensors& x) { return pow(x[0], -1.5); },
       .cases = elementwise(positive)},
      {.op = "neg",
       .f = [](const Tensors& x) { return neg(x[0]); },
       .cases = elementwise(),
       .linear = Linear::jointly},
      {.op = "add",
       .arguments = "the same twice",
       .f = [](const Tensors& x) { return x[0] * 0.5 + x[0]; },
       .cases = elementwise(),
       .linear = Linear::jointly},
      {.op = "mul",
       .arguments = "by itself",
       .f = [](const Tensors& x) { return x[0] * x[0]; },
       .cases = elementwise()},

      {.op = "expand",
       .arguments = "(2, 3, 4)",
       .f =
           [](const Tensors& x) {
             return expand(x[0], {2, 3, 4});
           },
       .cases = shapes({{}, {1}, {4}, {3, 1}, {3, 4}, {2, 1, 1}, {2, 3, 4}}),
       .linear = Linear::jointly},
      {.op = "expand",
       .arguments = "(2, 0, 3)",
       .f =
           [](const Tensors& x) {
             return expand(x[0], {2, 0, 3});
           },
       .cases = shapes({{}, {3}, {1, 1}, {0, 1}}),
       .linear = Linear::jointly},
      {.op = "sum_to",
       .arguments = "(3, 1)",
       .f =
           [](const Tensors& x) {
             return sum_to(x[0], {3, 1});
           },
       .cases = shapes({{3, 1}, {3, 4}, {2, 3, 1}, {2, 3, 4}, {0, 3, 2}}),
       .linear = Linear::jointly},
      {.op = "sum_to",
       .arguments = "()",
       .f = [](const Tensors& x) { return sum_to(x[0], {}); },
       .cases = elementwise(),
       .linear = Linear::jointly},
      // Between dtypes the gradient is only as good as the coarser one: tested elsewhere.
      {.op = "to",
       .arguments = "another device",
       .f =
           [](const Tensors& x) {
             return to(x[0], x[0].device() == Device::cpu ? Device::naive : Device::cpu);
           },
       .cases = elementwise(),
       .linear = Linear::jointly},
      {.op = "clone",
       .f = [](const Tensors& x) { return clone(x[0]); },
       .cases = elementwise(),
       .linear = Linear::jointly},
      {.op = "contiguous",
       .f = [](const Tensors& x) { return contiguous(x[0]); },
       .cases = elementwise(),
       .linear = Linear::jointly},
  };
}

}  // namespace labgrad::samples
