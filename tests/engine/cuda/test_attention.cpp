// Additive scores and their backward on a device against the specification.

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "engine/kernels.h"
#include "tests/engine/cuda/arrays.h"

using namespace labgrad;
using namespace labgrad::test;
using namespace labgrad::tests;

TEST_CASE("cuda additive scores and their backward: every tail, equal bits under each schedule") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(1);
  const Kernels &fast = kernels(*device), &specified = kernels(Device::naive);
  const auto normal = [&](const Array& a) { fill_normal(random, a); };
  for (DType dtype : {f32, f64})
    for (std::int64_t U : {1, 7, 31, 32, 33, 100})
      for (const auto& [B, Q, K] :
           {std::array<std::int64_t, 3>{1, 1, 1}, {2, 3, 5}, {20, 1, 6}, {2, 0, 3}, {2, 3, 0}}) {
        CAPTURE(U);
        const double close = dtype == f32 ? 5e-6 : 1e-13;
        const Input q(*device, dtype, {B, Q, U}, {}, normal),
            k(*device, dtype, {B, K, U}, {}, normal), v(*device, dtype, {U}, {}, normal),
            de(*device, dtype, {B, Q, K}, {}, normal);
        Buffer e(dtype, {B, Q, K}), dq(dtype, {B, Q, U}), dk(dtype, {B, K, U}), dv(dtype, {B, U});
        specified.additive_scores(e.array, q.host(), k.host(), v.host());
        specified.additive_scores_backward(dq.array, dk.array, dv.array, de.host(), q.host(),
                                           k.host(), v.host());
        Output to_e(*device, dtype, {B, Q, K}), to_dq(*device, dtype, {B, Q, U}),
            to_dk(*device, dtype, {B, K, U}), to_dv(*device, dtype, {B, U});
        each_schedule([&] {
          fast.additive_scores(to_e.device(), q.device(), k.device(), v.device());
          fast.additive_scores_backward(to_dq.device(), to_dk.device(), to_dv.device(), de.device(),
                                        q.device(), k.device(), v.device());
          CHECK(to_e.difference(e.array, close, close) == "");
          CHECK(to_dq.difference(dq.array, close, close) == "");
          CHECK(to_dk.difference(dk.array, close, close) == "");
          CHECK(to_dv.difference(dv.array, close, close) == "");
        });
      }
}
