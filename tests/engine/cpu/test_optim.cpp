#include <doctest/doctest.h>

#include <cstdint>

#include "engine/cpu/threads.h"
#include "engine/kernels.h"
#include "tests/engine/arrays.h"

using namespace labgrad;
using namespace labgrad::test;

namespace {

const Kernels& fast() { return kernels(Device::cpu); }
const Kernels& specified() { return kernels(Device::naive); }

struct State {
  Buffer w, g, a, b;
  State(DType dtype, std::int64_t n, std::uint64_t seed)
      : w(dtype, {n}), g(dtype, {n}), a(dtype, {n}), b(dtype, {n}) {
    Generator random(seed);
    fill_normal(random, w.array);
    fill_normal(random, g.array);
    specified().fill(a.array, 0);
    specified().fill(b.array, 0);
  }
};

}  // namespace

TEST_CASE("[threads] sgd_step and adam_step: as specified, every tail and option") {
  const int before = num_threads();
  for (DType dtype : {f32, f64}) {
    const double close = dtype == f32 ? 2e-6 : 1e-14;
    for (std::int64_t n : {0, 1, 7, 16, 33, 100, 70000}) {
      set_num_threads(1 + int(n % 3));
      for (int option = 0; option < 8; ++option) {
        State x(dtype, n, 5), y(dtype, n, 5);
        const bool nesterov = option & 1, buffer = option & 2;
        for (int t = 1; t <= 3; ++t) {
          const SgdStep s{.lr = 0.1,
                          .momentum = buffer ? 0.9 : 0.0,
                          .dampening = nesterov ? 0.0 : 0.2,
                          .weight_decay = option & 4 ? 0.01 : 0.0,
                          .nesterov = nesterov && buffer,
                          .first = t == 1};
          fast().sgd_step(x.w.array, x.g.array, buffer ? x.a.array : Array{}, s);
          specified().sgd_step(y.w.array, y.g.array, buffer ? y.a.array : Array{}, s);
        }
        CHECK(difference(x.w.array, y.w.array, close, close) == "");
        CHECK(difference(x.a.array, y.a.array, close, close) == "");
        CHECK(x.w.intact());
      }
      for (bool decoupled : {false, true}) {
        State x(dtype, n, 6), y(dtype, n, 6);
        for (int t = 1; t <= 3; ++t) {
          const AdamStep s{.lr = 0.01,
                           .beta1 = 0.9,
                           .beta2 = 0.999,
                           .eps = 1e-8,
                           .weight_decay = 0.1,
                           .decoupled = decoupled,
                           .t = t};
          fast().adam_step(x.w.array, x.g.array, x.a.array, x.b.array, s);
          specified().adam_step(y.w.array, y.g.array, y.a.array, y.b.array, s);
        }
        CHECK(difference(x.w.array, y.w.array, close, close) == "");
        CHECK(difference(x.a.array, y.a.array, close, close) == "");
        CHECK(difference(x.b.array, y.b.array, close, close) == "");
        CHECK(x.w.intact());
        CHECK(x.b.intact());
      }
    }
  }
  set_num_threads(before);
}
