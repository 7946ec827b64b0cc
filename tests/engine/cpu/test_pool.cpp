// Pooling and batch norm on the fast device against the specification.

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/cpu/threads.h"
#include "engine/kernels.h"
#include "tests/engine/arrays.h"

using namespace labgrad;
using namespace labgrad::test;

namespace {

const Kernels& fast() { return kernels(Device::cpu); }
const Kernels& specified() { return kernels(Device::naive); }

Layout some_layout(Generator& random, int rank, bool input) {
  if (rank == 4 && any_of(random, 0, 1) == 1) return {.order = {0, 2, 3, 1}};
  return any_layout(random, rank, input);
}

// How many windows there are, at least one; in ceil mode with one that hangs over the edge.
std::int64_t windows(std::int64_t n, std::int64_t k, std::int64_t stride, std::int64_t padding,
                     std::int64_t dilation, bool ceil) {
  const std::int64_t room = n + 2 * padding - dilation * (k - 1) - 1, count = room / stride + 1;
  return count + (ceil && room % stride != 0 && count * stride < n + padding ? 1 : 0);
}

}  // namespace

TEST_CASE("pooling: windows of every kind, exact, with NaN and infinities") {
  Generator random(1);
  for (int round = 0; round < 300; ++round) {
    const DType dtype = round % 2 ? f32 : f64;
    const auto any = [&](std::int64_t low, std::int64_t high) { return any_of(random, low, high); };
    const Plane kernel{any(1, 4), any(1, 3)};
    const Pooling p{kernel,
                    round % 3 == 0 ? kernel : Plane(any(1, 5), any(1, 3)),
                    {any(0, kernel.h / 2), any(0, kernel.w / 2)},
                    round % 5 == 0 ? Plane(2, 1) : Plane(1)};
    const bool ceil = round % 7 < 3 && p.dilation == Plane(1);
    const Shape x_shape{any(1, 3), any(1, 35), any(7, 9), any(3, 12)};
    const Shape y_shape{x_shape[0], x_shape[1],
                        windows(x_shape[2], kernel.h, p.stride.h, p.padding.h, p.dilation.h, ceil),
                        windows(x_shape[3], kernel.w, p.stride.w, p.padding.w, p.dilation.w, ceil)};
    INFO("x " << x_shape.str() << " y " << y_shape.str() << " kernel " << kernel.h << " "
              << kernel.w);
    Buffer x(dtype, x_shape, some_layout(random, 4, true));
    fill_whole(random, x.array, -3, 3);
    dispatch_floating(dtype, "test", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const double infinity = std::numeric_limits<double>::infinity();
      if (round % 4 == 0)
        for (double v : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
          std::int64_t at = 0;
          for (int d = 0; d < 4; ++d) at += any(0, x_shape[d] - 1) * x.array.strides[d];
          x.array.as<T>()[at] = static_cast<T>(v);
        }
    });
    Buffer y(dtype, y_shape, some_layout(random, 4, false)), y2(dtype, y_shape);
    Buffer k(i64, y_shape, some_layout(random, 4, false)), k2(i64, y_shape);
    fast().max_pool2d(y.array, k.array, x.array, p);
    specified().max_pool2d(y2.array, k2.array, x.array, p);
    CHECK(difference(y.array, y2.array) == "");
    CHECK(difference(k.array, k2.array) == "");
    CHECK((y.intact() && k.intact()));
    Buffer alone(dtype, y_shape);
    fast().max_pool2d(alone.array, {}, x.array, p);
    CHECK(difference(alone.array, y2.array) == "");

    Buffer dy(dtype, y_shape, some_layout(random, 4, true));
    fill_whole(random, dy.array, -3, 3);
    Buffer dx(dtype, x_shape, some_layout(random, 4, false)), dx2(dtype, x_shape);
    fast().max_pool2d_backward(dx.array, dy.array, k.array, p);
    specified().max_pool2d_backward(dx2.array, dy.array, k2.array, p);
    CHECK(difference(dx.array, dx2.array) == "");
    CHECK(dx.intact());

    if (!(p.dilation == Plane(1))) continue;
    fill_whole(random, x.array, -3, 3);
    const double close = dtype == f32 ? 1e-6 : 1e-14;
    for (bool count_padding : {true, false}) {
      fast().avg_pool2d(y.array, x.array, p, count_padding);
      specified().avg_pool2d(y2.array, x.array, p, count_padding);
      CHECK(difference(y.array, y2.array, close, close) == "");
      fast().avg_pool2d_backward(dx.array, dy.array, p, count_padding);
      specified().avg_pool2d_backward(dx2.array, dy.array, p, count_padding);
      CHECK(difference(dx.array, dx2.array, 10 * close, close) == "");
      CHECK((y.intact() && dx.intact()));
    }
  }
}

TEST_CASE("batch norm: channels of every number, layouts, blocks of rows, threads [threads]") {
  Generator random(2);
  const int before = num_threads();
  const std::vector<Shape> shapes{
      {5, 3},          {2, 1, 3, 4},   {3, 16, 5, 4},    {2, 17, 3},      {4, 64, 9, 21},
      {3, 70, 20, 33}, {1, 131, 2, 2}, {40, 32, 14, 60}, {2, 3, 2, 2, 5}, {1, 40000, 1, 2}};
  for (const Shape& shape : shapes)
    for (DType dtype : {f32, f64})
      for (int threads : {1, 3}) {
        set_num_threads(threads);
        INFO(shape.str());
        const int rank = shape.rank();
        const Shape channels{shape[1]};
        const double close = dtype == f32 ? 2e-5 : 1e-11;
        Buffer x(dtype, shape, some_layout(random, rank, true));
        Buffer dy(dtype, shape, some_layout(random, rank, true));
        fill_normal(random, x.array, 3, 2);
        fill_normal(random, dy.array);
        Buffer mean(dtype, channels), variance(dtype, channels), mean2(dtype, channels),
            variance2(dtype, channels), w(dtype, channels), b(dtype, channels);
        fill_normal(random, w.array);
        fill_normal(random, b.array);
        fast().channel_moments(mean.array, variance.array, x.array);
        specified().channel_moments(mean2.array, variance2.array, x.array);
        CHECK(difference(mean.array, mean2.array, close, close) == "");
        CHECK(difference(variance.array, variance2.array, close, close) == "");

        Buffer r(dtype, channels);  // any numbers will do for the rest
        fill_whole(random, r.array, 1, 3);
        Buffer y(dtype, shape, some_layout(random, rank, false)), y2(dtype, shape);
        for (bool affine : {true, false}) {
          const Array scale = affine ? w.array : Array{}, shift = affine ? b.array : Array{};
          fast().batch_norm(y.array, x.array, mean2.array, r.array, scale, shift);
          specified().batch_norm(y2.array, x.array, mean2.array, r.array, scale, shift);
          CHECK(difference(y.array, y2.array, close, close) == "");
          Buffer dw(dtype, channels), dw2(dtype, channels), db(dtype, channels),
              db2(dtype, channels);
          const double sums = close * double(shape.numel() / shape[1]);
          fast().batch_norm_backward(y.array, dw.array, db.array, dy.array, x.array, mean2.array,
                                     r.array, scale);
          specified().batch_norm_backward(y2.array, dw2.array, db2.array, dy.array, x.array,
                                          mean2.array, r.array, scale);
          CHECK(difference(dw.array, dw2.array, sums, close) == "");
          CHECK(difference(db.array, db2.array, sums, close) == "");
          CHECK(difference(y.array, y2.array, 20 * close, close) == "");
          fast().batch_norm_backward({}, dw.array, db.array, dy.array, x.array, mean2.array,
                                     r.array, scale);
          CHECK(difference(dw.array, dw2.array, sums, close) == "");
        }
        CHECK(y.intact());
      }
  set_num_threads(before);
}

TEST_CASE("batch norm, ReLU and pool in one: windows, layouts, threads [threads]") {
  Generator random(4);
  const int before = num_threads();
  const std::vector<std::pair<Shape, Plane>> cases{
      {{2, 3, 4, 6}, 2},        {{3, 16, 5, 7}, 2},  {{1, 33, 7, 5}, {3, 1}},
      {{4, 64, 9, 21}, 2},      {{5, 100, 2, 3}, 2}, {{12, 32, 28, 60}, 2},
      {{2, 130, 3, 9}, {1, 4}}, {{0, 3, 2, 2}, 2},   {{2, 0, 2, 2}, 2}};
  for (const auto& one : cases)
    for (DType dtype : {f32, f64})
      for (int threads : {1, 3}) {
        set_num_threads(threads);
        const Shape shape = one.first;  // clang 14 captures no bindings in INFO
        const Plane window = one.second;
        INFO(shape.str());
        const Shape channels{shape[1]};
        const Shape pooled{shape[0], shape[1], shape[2] / window.h, shape[3] / window.w};
        const double close = dtype == f32 ? 2e-5 : 1e-11;
        Buffer x(dtype, shape, some_layout(random, 4, true));
        Buffer dy(dtype, pooled, some_layout(random, 4, true));
        Buffer y(dtype, pooled, some_layout(random, 4, false)), y2(dtype, pooled);
        Buffer dx(dtype, shape, some_layout(random, 4, false)), dx2(dtype, shape);
        Buffer mean(dtype, channels), r(dtype, channels), w(dtype, channels), b(dtype, channels);
        Buffer dw(dtype, channels), dw2(dtype, channels), db(dtype, channels), db2(dtype, channels);
        // Small whole numbers: many ties, many zeros, and z is exact.
        fill_whole(random, x.array, -3, 3);
        fill_normal(random, dy.array);
        fill_whole(random, mean.array, -1, 1);
        fill_whole(random, r.array, 1, 2);
        fill_whole(random, w.array, -2, 2);
        fill_whole(random, b.array, -2, 2);
        fast().norm_relu_pool(y.array, x.array, mean.array, r.array, w.array, b.array, window);
        specified().norm_relu_pool(y2.array, x.array, mean.array, r.array, w.array, b.array,
                                   window);
        CHECK(difference(y.array, y2.array, 0, 0) == "");
        const double sums =
            close * double(pooled.numel() / std::max<std::int64_t>(1, shape[1]) + 1);
        for (bool of_batch : {true, false}) {
          fast().norm_relu_pool_backward(dx.array, dw.array, db.array, dy.array, x.array,
                                         mean.array, r.array, w.array, b.array, window, of_batch);
          specified().norm_relu_pool_backward(dx2.array, dw2.array, db2.array, dy.array, x.array,
                                              mean.array, r.array, w.array, b.array, window,
                                              of_batch);
          CHECK(difference(dw.array, dw2.array, sums, close) == "");
          CHECK(difference(db.array, db2.array, sums, close) == "");
          CHECK(difference(dx.array, dx2.array, 20 * close, close) == "");
        }
        fast().norm_relu_pool_backward({}, dw.array, db.array, dy.array, x.array, mean.array,
                                       r.array, w.array, b.array, window, true);
        CHECK(difference(dw.array, dw2.array, sums, close) == "");
        CHECK((y.intact() && dx.intact()));
      }
  set_num_threads(before);
}

TEST_CASE("batch norm: a mean far from 0 leaves the variance its digits, in f32") {
  Generator random(3);
  Buffer x(f32, {64, 20, 9, 9}, {.order = {0, 2, 3, 1}}), mean(f32, {20}), variance(f32, {20});
  Buffer mean2(f32, {20}), variance2(f32, {20});
  fill_normal(random, x.array, 1e4, 1);
  fast().channel_moments(mean.array, variance.array, x.array);
  specified().channel_moments(mean2.array, variance2.array, x.array);
  CHECK(difference(variance.array, variance2.array, 0, 1e-3) == "");
  CHECK(difference(mean.array, mean2.array, 0, 2e-7) == "");
}
