// Rows for engine/ops/index.h. Positions repeat, and some do not occur.

#include "engine/ops/index.h"

#include "engine/samples/rows.h"

namespace labgrad::samples {

Rows indexing_rows() {
  return {
      {.op = "gather",
       .arguments = "0",
       .f = [](const Tensors& x) { return gather(x[0], 0, x[1]); },
       .cases = {{{{{5}}, {{7}, index(5)}}},
                 {{{{3, 4}}, {{2, 4}, index(3)}}},
                 {{{{3, 4}}, {{5, 2}, index(3)}}},
                 {{{{2, 3, 2}}, {{1, 3, 2}, index(2)}}},
                 {{{{3, 2}}, {{0, 2}, index(3)}}},
                 {{{{300, 131}}, {{280, 131}, index(300)}}, true}},
       .linear = Linear::jointly},
      {.op = "gather",
       .arguments = "-1",
       .f = [](const Tensors& x) { return gather(x[0], -1, x[1]); },
       .cases = {{{{{3, 4}}, {{3, 2}, index(4)}}},
                 {{{{2, 1, 3}}, {{2, 1, 5}, index(3)}}},
                 {{{{1, 1}}, {{1, 1}, index(1)}}}},
       .linear = Linear::jointly},
      {.op = "scatter_add",
       .arguments = "0",
       .f = [](const Tensors& x) { return scatter_add(x[0], 0, x[1], x[2]); },
       .cases = {{{{{5}}, {{7}, index(5)}, {{7}}}},
                 {{{{3, 4}}, {{2, 4}, index(3)}, {{2, 4}}}},
                 {{{{3, 4}}, {{2, 3}, index(3)}, {{4, 4}}}},
                 {{{{3}}, {{0}, index(3)}, {{0}}}},
                 {{{{300, 131}}, {{280, 131}, index(300)}, {{280, 131}}}, true}},
       .linear = Linear::jointly},
      {.op = "scatter_add",
       .arguments = "-1",
       .f = [](const Tensors& x) { return scatter_add(x[0], -1, x[1], x[2]); },
       .cases = {{{{{3, 4}}, {{3, 2}, index(4)}, {{3, 2}}}},
                 {{{{2, 1, 3}}, {{2, 1, 5}, index(3)}, {{2, 1, 5}}}}},
       .linear = Linear::jointly},
      {.op = "index_select",
       .arguments = "0",
       .f = [](const Tensors& x) { return index_select(x[0], 0, x[1]); },
       .cases = {{{{{5}}, {{3}, index(5)}}},
                 {{{{3, 4}}, {{5}, index(3)}}},
                 {{{{2, 3, 2}}, {{1}, index(2)}}},
                 {{{{3, 2}}, {{0}, index(3)}}},
                 {{{{300, 131}}, {{400}, index(300)}}, true}},
       .linear = Linear::jointly},
      {.op = "index_select",
       .arguments = "-1",
       .f = [](const Tensors& x) { return index_select(x[0], -1, x[1]); },
       .cases = {{{{{3, 4}}, {{6}, index(4)}}}, {{{{2, 3, 2}}, {{3}, index(2)}}}},
       .linear = Linear::jointly},
      {.op = "index_add",
       .arguments = "0",
       .f = [](const Tensors& x) { return index_add(x[0], 0, x[1], x[2]); },
       .cases = {{{{{5}}, {{3}, index(5)}, {{3}}}},
                 {{{{3, 4}}, {{5}, index(3)}, {{5, 4}}}},
                 {{{{3, 2}}, {{0}, index(3)}, {{0, 2}}}},
                 {{{{300, 131}}, {{400}, index(300)}, {{400, 131}}}, true}},
       .linear = Linear::jointly},
      {.op = "index_add",
       .arguments = "-1",
       .f = [](const Tensors& x) { return index_add(x[0], -1, x[1], x[2]); },
       .cases = {{{{{3, 4}}, {{6}, index(4)}, {{3, 6}}}},
                 {{{{2, 3, 2}}, {{3}, index(2)}, {{2, 3, 3}}}}},
       .linear = Linear::jointly},
      {.op = "embedding",
       .f = [](const Tensors& x) { return embedding(x[0], x[1]); },
       .cases = {{{{{5, 3}}, {{2, 4}, index(5)}}},
                 {{{{5, 3}}, {{}, index(5)}}},
                 {{{{1, 1}}, {{2}, index(1)}}},
                 {{{{5, 3}}, {{0}, index(5)}}},
                 {{{{300, 131}}, {{20, 25}, index(300)}}, true}},
       .linear = Linear::jointly},
      {.op = "sort",
       .f =
           [](const Tensors& x) {
             const Ordered s = sort(x[0]);
             return Tensors{s.values, s.indices};
           },
       .cases = rows_of(distinct)},
      {.op = "sort",
       .arguments = "0, descending",
       .f =
           [](const Tensors& x) {
             const Ordered s = sort(x[0], 0, true);
             return Tensors{s.values, s.indices};
           },
       .cases = rows_of(distinct)},
      {.op = "topk",
       .arguments = "2",
       .f =
           [](const Tensors& x) {
             const Ordered s = topk(x[0], 2);
             return Tensors{s.values, s.indices};
           },
       .cases = shapes({{5}, {2}, {3, 4}, {2, 2, 3}, {0, 3}}, distinct)},
      {.op = "topk",
       .arguments = "1, 0, smallest",
       .f =
           [](const Tensors& x) {
             const Ordered s = topk(x[0], 1, 0, false);
             return Tensors{s.values, s.indices};
           },
       .cases = shapes({{5}, {1}, {3, 4}, {2, 2, 3}}, distinct)},
  };
}

}  // namespace labgrad::samples
