// Statistics of channels and batch norm on a device against the specification.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/kernels.h"
#include "tests/engine/cuda/arrays.h"

using namespace labgrad;
using namespace labgrad::test;
using namespace labgrad::tests;

TEST_CASE("cuda batch norm: channels of every number and layout, one chunk and several") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels &fast = kernels(*device), &specified = kernels(Device::naive);
  Generator random(2);
  const std::vector<Shape> shapes{{5, 3},          {2, 1, 3, 4},   {3, 16, 5, 4},  {2, 17, 3},
                                  {4, 33, 9, 2},   {9, 3, 20, 33}, {1, 131, 2, 2}, {2, 3, 2, 2, 5},
                                  {1, 3000, 1, 2}, {70, 40},       {0, 3, 2, 2},   {2, 0, 2, 2}};
  for (const Shape& shape : shapes)
    for (DType dtype : {f32, f64})
      for (bool affine : {true, false}) {
        INFO(shape.str() << (affine ? ", w and b" : ""));
        const int rank = shape.rank();
        const Shape channels{shape[1]};
        const double close = dtype == f32 ? 1e-5 : 1e-12;
        const double sums = close * double(shape.numel() / std::max<std::int64_t>(1, shape[1]) + 1);
        const auto some_layout = [&](bool input) {
          if (rank == 4) return any_images(random, input);
          return any_layout(random, rank, input);
        };
        const Array none{};
        const Input x(*device, dtype, shape, some_layout(true), normal(random, 3, 2));
        const Input dy(*device, dtype, shape, some_layout(true), normal(random));
        const Input w(*device, dtype, channels, {}, normal(random));
        const Input b(*device, dtype, channels, {}, normal(random));
        const Input mu(*device, dtype, channels, {}, normal(random));
        const Input r(*device, dtype, channels, {}, whole(random, 1, 3));
        Buffer mean(dtype, channels), variance(dtype, channels), y(dtype, shape), dx(dtype, shape);
        Buffer dw(dtype, channels), db(dtype, channels);
        specified.batch_norm(y.array, x.host(), mu.host(), r.host(), affine ? w.host() : none,
                             affine ? b.host() : none);
        specified.batch_norm_backward(dx.array, dw.array, db.array, dy.host(), x.host(), mu.host(),
                                      r.host(), affine ? w.host() : none);
        Output got_mean(*device, dtype, channels), got_variance(*device, dtype, channels);
        Output got_y(*device, dtype, shape, some_layout(false));
        Output got_dx(*device, dtype, shape, some_layout(false));
        Output got_dw(*device, dtype, channels), got_db(*device, dtype, channels);
        each_schedule([&] {
          if (shape[0] > 0) {
            specified.channel_moments(mean.array, variance.array, x.host());
            fast.channel_moments(got_mean.device(), got_variance.device(), x.device());
            CHECK(got_mean.difference(mean.array, close, close) == "");
            CHECK(got_variance.difference(variance.array, close, close) == "");
          }
          fast.batch_norm(got_y.device(), x.device(), mu.device(), r.device(),
                          affine ? w.device() : none, affine ? b.device() : none);
          CHECK(got_y.difference(y.array, close, close) == "");
          fast.batch_norm_backward(got_dx.device(), got_dw.device(), got_db.device(), dy.device(),
                                   x.device(), mu.device(), r.device(), affine ? w.device() : none);
          CHECK(got_dw.difference(dw.array, 0.02 * sums, close) == "");
          CHECK(got_db.difference(db.array, 0.02 * sums, close) == "");
          CHECK(got_dx.difference(dx.array, 20 * close, close) == "");
        });
        // The gradients of the weights alone.
        Output alone(*device, dtype, channels);
        fast.batch_norm_backward({}, alone.device(), got_db.device(), dy.device(), x.device(),
                                 mu.device(), r.device(), affine ? w.device() : none);
        CHECK(alone.difference(dw.array, 0.02 * sums, close) == "");
      }
}

TEST_CASE("cuda batch norm: a mean far from 0 leaves the variance its digits, in f32") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(3);
  const Shape channels{20};
  for (const Layout& layout : {Layout{.order = {0, 2, 3, 1}}, Layout{}}) {
    const Input x(*device, f32, {16, 20, 9, 9}, layout, normal(random, 3e5, 1));
    Buffer mean(f32, channels), variance(f32, channels);
    Output got_mean(*device, f32, channels), got_variance(*device, f32, channels);
    kernels(Device::naive).channel_moments(mean.array, variance.array, x.host());
    kernels(*device).channel_moments(got_mean.device(), got_variance.device(), x.device());
    CHECK(got_variance.difference(variance.array, 0, 1e-6) == "");
    CHECK(got_mean.difference(mean.array, 0, 1e-7) == "");
  }
}
