#include <doctest/doctest.h>

#include <array>

#include "engine/kernels.h"
#include "tests/engine/arrays.h"

using namespace labgrad;
using namespace labgrad::test;

TEST_CASE("additive scores and their backward: every tail, against the plain loops [threads]") {
  Generator random(1);
  const Kernels& fast = kernels(Device::cpu);
  const Kernels& specified = kernels(Device::naive);
  for (DType dtype : {f32, f64})
    for (std::int64_t U : {1, 3, 4, 7, 8, 15, 16, 17, 33, 128})
      for (const auto& [B, Q, K] : {std::array<std::int64_t, 3>{1, 1, 1}, {2, 3, 5}, {70, 2, 6}}) {
        CAPTURE(U);
        const double close = dtype == f32 ? 5e-6 : 1e-13;
        Buffer q(dtype, {B, Q, U}), k(dtype, {B, K, U}), v(dtype, {U}), de(dtype, {B, Q, K});
        for (Buffer* x : {&q, &k, &v, &de}) fill_normal(random, x->array);
        Buffer e(dtype, {B, Q, K}), e2(dtype, {B, Q, K});
        fast.additive_scores(e.array, q.array, k.array, v.array);
        specified.additive_scores(e2.array, q.array, k.array, v.array);
        CHECK(difference(e.array, e2.array, close, close) == "");
        CHECK(e.intact());

        Buffer dq(dtype, {B, Q, U}), dk(dtype, {B, K, U}), dv(dtype, {B, U});
        Buffer dq2(dtype, {B, Q, U}), dk2(dtype, {B, K, U}), dv2(dtype, {B, U});
        fast.additive_scores_backward(dq.array, dk.array, dv.array, de.array, q.array, k.array,
                                      v.array);
        specified.additive_scores_backward(dq2.array, dk2.array, dv2.array, de.array, q.array,
                                           k.array, v.array);
        CHECK(difference(dq.array, dq2.array, close, close) == "");
        CHECK(difference(dk.array, dk2.array, close, close) == "");
        CHECK(difference(dv.array, dv2.array, close, close) == "");
        CHECK(dq.intact());
        CHECK(dk.intact());
        CHECK(dv.intact());
      }
}
