// Normalisation, ReLU and pooling in one, on a device against the specification.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/kernels.h"
#include "tests/engine/cuda/arrays.h"

using namespace labgrad;
using namespace labgrad::test;
using namespace labgrad::tests;

namespace {

struct Case {
  Shape shape;
  Plane window;
};

}  // namespace

TEST_CASE("cuda batch norm, ReLU and pool in one: windows, layouts, ties, NaN") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels &fast = kernels(*device), &specified = kernels(Device::naive);
  Generator random(4);
  const std::vector<Case> cases{
      {{2, 3, 4, 6}, 2},  {{3, 16, 5, 7}, 2},   {{1, 33, 7, 5}, {3, 1}}, {{4, 40, 9, 11}, 2},
      {{5, 50, 2, 3}, 2}, {{12, 2, 28, 60}, 2}, {{2, 35, 3, 9}, {1, 4}}, {{40, 34, 9, 9}, 2},
      {{0, 3, 2, 2}, 2},  {{2, 0, 2, 2}, 2}};
  for (const Case& one : cases)
    for (DType dtype : {f32, f64})
      for (bool nan : {false, true}) {
        const Shape& shape = one.shape;
        INFO(shape.str() << (nan ? ", with NaN" : ""));
        const Shape channels{shape[1]};
        const Shape pooled{shape[0], shape[1], shape[2] / one.window.h, shape[3] / one.window.w};
        const double close = dtype == f32 ? 1e-5 : 1e-12;
        // Small whole numbers: many ties, many zeros, and z is exact.
        const Input x(*device, dtype, shape, any_images(random, true), [&](const Array& a) {
          fill_whole(random, a, -3, 3);
          if (!nan || a.shape.numel() == 0) return;
          dispatch_floating(dtype, "test", [&](auto tag) {
            using T = typename decltype(tag)::type;
            a.as<T>()[0] = std::numeric_limits<T>::quiet_NaN();
          });
        });
        const Input dy(*device, dtype, pooled, any_images(random, true), normal(random));
        const Input mean(*device, dtype, channels, {}, whole(random, -1, 1));
        const Input r(*device, dtype, channels, {}, whole(random, 1, 2));
        const Input w(*device, dtype, channels, {}, whole(random, -2, 2));
        const Input b(*device, dtype, channels, {}, whole(random, -2, 2));
        Buffer y(dtype, pooled);
        specified.norm_relu_pool(y.array, x.host(), mean.host(), r.host(), w.host(), b.host(),
                                 one.window);
        Output got_y(*device, dtype, pooled, any_images(random, false));
        const double sums =
            close * double(pooled.numel() / std::max<std::int64_t>(1, shape[1]) + 1);
        each_schedule([&] {
          fast.norm_relu_pool(got_y.device(), x.device(), mean.device(), r.device(), w.device(),
                              b.device(), one.window);
          CHECK(got_y.difference(y.array) == "");
        });
        for (bool of_batch : {true, false}) {
          Buffer dx(dtype, shape), dw(dtype, channels), db(dtype, channels);
          specified.norm_relu_pool_backward(dx.array, dw.array, db.array, dy.host(), x.host(),
                                            mean.host(), r.host(), w.host(), b.host(), one.window,
                                            of_batch);
          Output got_dx(*device, dtype, shape, any_images(random, false));
          Output got_dw(*device, dtype, channels), got_db(*device, dtype, channels);
          for (bool with_dx : {true, false})
            each_schedule([&] {
              fast.norm_relu_pool_backward(with_dx ? got_dx.device() : Array{}, got_dw.device(),
                                           got_db.device(), dy.device(), x.device(), mean.device(),
                                           r.device(), w.device(), b.device(), one.window,
                                           of_batch);
              CHECK(got_dw.difference(dw.array, 0.02 * sums, close) == "");
              CHECK(got_db.difference(db.array, 0.02 * sums, close) == "");
              CHECK(got_dx.difference(dx.array, 5 * close, close) == "");
            });
        }
      }
}
