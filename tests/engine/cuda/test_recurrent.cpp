// A step of a GRU and its backward on a device against the specification.

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "engine/kernels.h"
#include "tests/engine/cuda/arrays.h"

using namespace labgrad;
using namespace labgrad::test;
using namespace labgrad::tests;

TEST_CASE("cuda gru_step and its backward: with and without what may be missing") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(1);
  const Kernels &fast = kernels(*device), &specified = kernels(Device::naive);
  const auto normal = [&](const Array& a) { fill_normal(random, a); };
  const Array none;
  for (DType dtype : {f32, f64})
    for (const auto& size : {std::array<std::int64_t, 2>{1, 1}, {3, 7}, {5, 32}, {70, 33}, {0, 4}})
      for (bool padded : {false, true}) {  // rows with gaps, samples that have ended, a bias
        const std::int64_t B = size[0], H = size[1];
        CAPTURE(B);
        CAPTURE(H);
        CAPTURE(padded);
        const double close = dtype == f32 ? 3e-6 : 1e-14;
        // Rows of dense elements, further apart than they are long if padded.
        const auto rows = [&](std::int64_t width) { return Shape{B, padded ? width + 3 : width}; };
        const auto cut = [&](Array a, std::int64_t width) {
          a.shape = {B, width};
          return a;
        };
        const Input xs(*device, dtype, rows(3 * H), {}, normal),
            u(*device, dtype, rows(3 * H), {}, normal), h(*device, dtype, rows(H), {}, normal),
            b(*device, dtype, {3 * H}, {}, normal), dy(*device, dtype, rows(H), {}, normal),
            before(*device, dtype, rows(H), {}, normal);
        const Input real(*device, boolean, {B}, {},
                         [&](const Array& a) { fill_whole(random, a, 0, 1); });
        Output y(*device, dtype, {B, H}), gates(*device, dtype, {B, 4 * H}),
            y2(*device, dtype, {B, H});
        Buffer want(dtype, {B, H}), want_gates(dtype, {B, 4 * H});
        specified.gru_step(want.array, want_gates.array, cut(xs.host(), 3 * H),
                           cut(u.host(), 3 * H), padded ? b.host() : none, cut(h.host(), H),
                           padded ? real.host() : none);
        fast.gru_step(y.device(), gates.device(), cut(xs.device(), 3 * H), cut(u.device(), 3 * H),
                      padded ? b.device() : none, cut(h.device(), H),
                      padded ? real.device() : none);
        CHECK(y.difference(want.array, close, close) == "");
        CHECK(gates.difference(want_gates.array, close, close) == "");
        fast.gru_step(y2.device(), none, cut(xs.device(), 3 * H), cut(u.device(), 3 * H),
                      padded ? b.device() : none, cut(h.device(), H),
                      padded ? real.device() : none);
        CHECK(y2.difference(want.array, close, close) == "");

        const Input known(*device, dtype, {B, 4 * H}, {},
                          [&](const Array& a) { specified.copy(a, want_gates.array); });
        Output dxs(*device, dtype, {B, 3 * H}), du(*device, dtype, {B, 3 * H}),
            dh(*device, dtype, {B, H});
        Buffer want_dxs(dtype, {B, 3 * H}), want_du(dtype, {B, 3 * H}), want_dh(dtype, {B, H});
        specified.copy(want_dh.array, cut(before.host(), H));
        fast.copy(dh.device(), cut(before.device(), H));
        specified.gru_step_backward(want_dxs.array, want_du.array, want_dh.array, cut(dy.host(), H),
                                    known.host(), cut(h.host(), H));
        fast.gru_step_backward(dxs.device(), du.device(), dh.device(), cut(dy.device(), H),
                               known.device(), cut(h.device(), H));
        CHECK(dxs.difference(want_dxs.array, close, close) == "");
        CHECK(du.difference(want_du.array, close, close) == "");
        CHECK(dh.difference(want_dh.array, close, close) == "");
      }
}
