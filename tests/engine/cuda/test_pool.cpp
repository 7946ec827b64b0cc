// Pooling on a device against the specification.

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "engine/kernels.h"
#include "tests/engine/cuda/arrays.h"

using namespace labgrad;
using namespace labgrad::test;
using namespace labgrad::tests;

namespace {

// How many windows there are, at least one; in ceil mode with one that hangs over the edge.
std::int64_t windows(std::int64_t n, std::int64_t k, std::int64_t stride, std::int64_t padding,
                     std::int64_t dilation, bool ceil) {
  const std::int64_t room = n + 2 * padding - dilation * (k - 1) - 1, count = room / stride + 1;
  return count + (ceil && room % stride != 0 && count * stride < n + padding ? 1 : 0);
}

// Whole numbers, and NaN and both infinities somewhere if asked for.
void fill(Generator& random, const Array& a, bool special) {
  fill_whole(random, a, -3, 3);
  if (!special) return;
  const double infinity = std::numeric_limits<double>::infinity();
  dispatch_floating(a.dtype, "test", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (double v : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
      std::int64_t at = 0;
      for (int d = 0; d < 4; ++d) at += any_of(random, 0, a.shape[d] - 1) * a.strides[d];
      a.as<T>()[at] = static_cast<T>(v);
    }
  });
}

}  // namespace

TEST_CASE("cuda pooling: windows of every kind, exact, with NaN and infinities") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels &fast = kernels(*device), &specified = kernels(Device::naive);
  Generator random(1);
  const auto any = [&](std::int64_t low, std::int64_t high) { return any_of(random, low, high); };
  for (int round = 0; round < 200; ++round) {
    const DType dtype = round % 2 ? f32 : f64;
    const Plane kernel{any(1, 4), any(1, 3)};
    const Pooling p{kernel,
                    round % 3 == 0 ? kernel : Plane(any(1, 5), any(1, 3)),
                    {any(0, kernel.h / 2), any(0, kernel.w / 2)},
                    round % 5 == 0 ? Plane(2, 1) : Plane(1)};
    const bool ceil = round % 7 < 3 && p.dilation == Plane(1);
    const Shape x_shape{any(1, 3), any(1, 5), any(7, 9), any(3, 12)};
    const Shape y_shape{x_shape[0], x_shape[1],
                        windows(x_shape[2], kernel.h, p.stride.h, p.padding.h, p.dilation.h, ceil),
                        windows(x_shape[3], kernel.w, p.stride.w, p.padding.w, p.dilation.w, ceil)};
    INFO("x " << x_shape.str() << " y " << y_shape.str() << " kernel " << kernel.h << " "
              << kernel.w);
    const Input x(*device, dtype, x_shape, any_images(random, true),
                  [&](const Array& a) { fill(random, a, round % 4 == 0); });
    const Input dy(*device, dtype, y_shape, any_images(random, true),
                   [&](const Array& a) { fill(random, a, false); });
    Buffer y(dtype, y_shape), places(i64, y_shape), dx(dtype, x_shape);
    specified.max_pool2d(y.array, places.array, x.host(), p);
    specified.max_pool2d_backward(dx.array, dy.host(), places.array, p);
    Output largest(*device, dtype, y_shape, any_images(random, false));
    Output indices(*device, i64, y_shape, any_images(random, false));
    Output alone(*device, dtype, y_shape);
    Output back(*device, dtype, x_shape, any_images(random, false));
    const OnDevice places_there(*device, places);
    fast.max_pool2d(largest.device(), indices.device(), x.device(), p);
    CHECK(largest.difference(y.array) == "");
    CHECK(indices.difference(places.array) == "");
    fast.max_pool2d(alone.device(), {}, x.device(), p);
    CHECK(alone.difference(y.array) == "");
    fast.max_pool2d_backward(back.device(), dy.device(), places_there.array, p);
    CHECK(back.difference(dx.array) == "");

    for (bool count_padding : {true, false}) {
      specified.avg_pool2d(y.array, x.host(), p, count_padding);
      specified.avg_pool2d_backward(dx.array, dy.host(), p, count_padding);
      Output mean(*device, dtype, y_shape, any_images(random, false));
      Output mean_back(*device, dtype, x_shape, any_images(random, false));
      // Sums in the order of the specification: the same bits, but for a GPU's fused steps.
      const double close = dtype == f32 ? 1e-6 : 1e-14;
      fast.avg_pool2d(mean.device(), x.device(), p, count_padding);
      CHECK(mean.difference(y.array, close, close) == "");
      fast.avg_pool2d_backward(mean_back.device(), dy.device(), p, count_padding);
      CHECK(mean_back.difference(dx.array, close, close) == "");
    }
  }
}

TEST_CASE("cuda pooling: more positions than threads, and none") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels &fast = kernels(*device), &specified = kernels(Device::naive);
  Generator random(2);
  const Pooling p{2, 2, 0, 1};
  for (const Shape& shape : {Shape{30, 40, 36, 34}, Shape{0, 3, 4, 4}, Shape{2, 0, 4, 4}}) {
    const Shape pooled{shape[0], shape[1], shape[2] / 2, shape[3] / 2};
    const Input x(*device, f32, shape, {.order = {0, 2, 3, 1}},
                  [&](const Array& a) { fill(random, a, false); });
    Buffer y(f32, pooled), places(i64, pooled), dx(f32, shape);
    specified.max_pool2d(y.array, places.array, x.host(), p);
    specified.max_pool2d_backward(dx.array, y.array, places.array, p);
    Output largest(*device, f32, pooled), indices(*device, i64, pooled), back(*device, f32, shape);
    fast.max_pool2d(largest.device(), indices.device(), x.device(), p);
    CHECK(largest.difference(y.array) == "");
    fast.max_pool2d_backward(back.device(), largest.device(), indices.device(), p);
    CHECK(back.difference(dx.array) == "");
  }
}
