// Rows for engine/ops/recurrent.h.

#include "engine/ops/recurrent.h"

#include "engine/samples/rows.h"

namespace labgrad::samples {
namespace {

const Domain share = between(-1, 1);

// xs (T, B, 3H), h0 and W_hh; then b_hh, or a mask of the steps that count.
SampleCase sequence(std::int64_t T, std::int64_t B, std::int64_t H, bool masked = false) {
  const SampleInput last = masked ? SampleInput{{T, B}, mask} : SampleInput{{3 * H}, share};
  return {{{{T, B, 3 * H}, share}, {{B, H}}, {{3 * H, H}, share}, last}};
}

SampleCase one_step(std::int64_t B, std::int64_t H) {
  return {{{{B, 3 * H}, share}, {{B, H}}, {{3 * H, H}, share}, {{3 * H}, share}}};
}

SampleCase large(SampleCase c) {
  c.large = true;
  return c;
}

}  // namespace

Rows recurrent_rows() {
  return {
      {.op = "gru_step",
       .f = [](const Tensors& x) { return gru_step(x[0], x[1], x[2], x[3]); },
       .cases = {one_step(2, 3), one_step(1, 1), one_step(0, 2), large(one_step(40, 33))},
       .f32_error = 3e-6,
       .rounds_by_layout = true},
      {.op = "gru_states",
       .f = [](const Tensors& x) { return gru_states(x[0], x[1], x[2], x[3]); },
       .cases = {sequence(3, 2, 2), sequence(1, 2, 3), sequence(2, 1, 1), sequence(2, 0, 3),
                 large(sequence(4, 70, 65))},
       .f32_error = 3e-6,
       .rounds_by_layout = true},
      {.op = "gru_states",
       .arguments = "masked, in reverse, no bias",
       .f =
           [](const Tensors& x) {
             return gru_states(x[0], x[1], x[2], {}, {.real = x[3], .reverse = true});
           },
       .cases = {sequence(3, 2, 2, true), sequence(1, 3, 1, true)},
       .f32_error = 3e-6,
       .rounds_by_layout = true},
  };
}

}  // namespace labgrad::samples
