// The convolutions on a device against the specification: exact, for sums of whole numbers are.

#include <doctest/doctest.h>

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
  std::int64_t samples, channels, filters;  // channels and filters in each group
  Plane image, kernel;
  Convolution v;
  std::int64_t bottom, right;
};

std::int64_t result_size(std::int64_t n, std::int64_t before, std::int64_t after, std::int64_t k,
                         std::int64_t stride, std::int64_t dilation) {
  const std::int64_t room = n + before + after - dilation * (k - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

enum class Layouts { channels_last, channels_first, any };

Layout layout_of(Generator& random, Layouts l, bool input) {
  return l == Layouts::any             ? any_layout(random, 4, input)
         : l == Layouts::channels_last ? Layout{.order = {0, 2, 3, 1}}
                                       : Layout{};
}

// The three passes on both devices; false if the filter does not fit in the image.
bool check(Device device, Generator& random, DType dtype, const Case& c, Layouts l) {
  const std::int64_t h =
      result_size(c.image.h, c.v.top, c.bottom, c.kernel.h, c.v.stride.h, c.v.dilation.h);
  const std::int64_t w =
      result_size(c.image.w, c.v.left, c.right, c.kernel.w, c.v.stride.w, c.v.dilation.w);
  if (h == 0 || w == 0) return false;
  const Shape x_shape{c.samples, c.channels * c.v.groups, c.image.h, c.image.w};
  const Shape w_shape{c.filters * c.v.groups, c.channels, c.kernel.h, c.kernel.w};
  const Shape y_shape{c.samples, c.filters * c.v.groups, h, w};
  INFO("x " << x_shape.str() << " w " << w_shape.str() << " y " << y_shape.str() << " layout "
            << static_cast<int>(l) << " groups " << c.v.groups);
  INFO("top " << c.v.top << " left " << c.v.left << " stride " << c.v.stride.h << " "
              << c.v.stride.w << " dilation " << c.v.dilation.h << " " << c.v.dilation.w);
  const auto whole = [&](const Array& a) { fill_whole(random, a, -3, 3); };
  const bool any = l == Layouts::any;
  const Input x(device, dtype, x_shape, layout_of(random, l, true), whole);
  const Input weight(device, dtype, w_shape, any ? any_layout(random, 4, true) : Layout{}, whole);
  const Input dy(device, dtype, y_shape, layout_of(random, l, true), whole);
  const Kernels &fast = kernels(device), &specified = kernels(Device::naive);
  {
    INFO("forward");
    Output y(device, dtype, y_shape, layout_of(random, l, false));
    Buffer want(dtype, y_shape);
    fast.conv2d(y.device(), x.device(), weight.device(), c.v);
    specified.conv2d(want.array, x.host(), weight.host(), c.v);
    CHECK(y.difference(want.array) == "");
  }
  {
    INFO("input gradient");
    Output dx(device, dtype, x_shape, layout_of(random, l, false));
    Buffer want(dtype, x_shape);
    fast.conv2d_input_gradient(dx.device(), dy.device(), weight.device(), c.v);
    specified.conv2d_input_gradient(want.array, dy.host(), weight.host(), c.v);
    CHECK(dx.difference(want.array) == "");
  }
  {
    INFO("weight gradient");
    Output dw(device, dtype, w_shape, any ? any_layout(random, 4, false) : Layout{});
    Buffer want(dtype, w_shape);
    fast.conv2d_weight_gradient(dw.device(), x.device(), dy.device(), c.v);
    specified.conv2d_weight_gradient(want.array, x.host(), dy.host(), c.v);
    CHECK(dw.difference(want.array) == "");
  }
  return true;
}

Layouts some_layouts(Generator& random) { return static_cast<Layouts>(any_of(random, 0, 2)); }

}  // namespace

TEST_CASE("cuda convolution: kernels, strides, paddings and channels, exact") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(1);
  int round = 0, fitted = 0;
  for (std::int64_t channels : {1, 3, 8, 33})
    for (Plane kernel : {Plane(1), Plane(3), Plane(3, 2)})
      for (std::int64_t stride : {1, 2})
        for (std::int64_t padding : {0, 1}) {
          ++round;
          const Case c{round % 2 ? 1 : 3,
                       channels,
                       round % 3 ? 7 : 40,
                       {5, 9},
                       kernel,
                       {.stride = stride, .top = padding, .left = padding},
                       padding,
                       padding};
          fitted += check(*device, random, round % 5 ? f32 : f64, c, some_layouts(random));
        }
  CHECK(fitted > 40);
}

TEST_CASE("cuda convolution: anything goes, exact") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(2);
  int fitted = 0;
  for (int round = 0; round < 200; ++round) {
    const auto any = [&](std::int64_t low, std::int64_t high) { return any_of(random, low, high); };
    const Case c{any(1, 3),
                 any(1, 14),
                 any(1, 14),
                 {any(1, 9), any(1, 12)},
                 {any(1, 4), any(1, 4)},
                 {.stride = {any(1, 3), any(1, 3)},
                  .top = any(-1, 3),
                  .left = any(-1, 3),
                  .dilation = {any(1, 2), any(1, 3)},
                  .groups = any(1, 3)},
                 any(-1, 3),
                 any(-1, 3)};
    fitted += check(*device, random, round % 2 ? f32 : f64, c, some_layouts(random));
  }
  CHECK(fitted > 100);
}

TEST_CASE("cuda convolution: groups wide enough for tiles, packs of four channels, exact") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(9);
  for (Layouts l : {Layouts::channels_last, Layouts::channels_first})
    for (DType dtype : {f32, f64})
      for (std::int64_t groups : {1, 2}) {
        const Case c{2, 16, 12, {7, 10}, 3, {.top = 1, .left = 1, .groups = groups}, 1, 1};
        CHECK(check(*device, random, dtype, c, l));
      }
}

TEST_CASE("cuda convolution: rows of an image that reach beyond what is looked at, exact") {
  const auto device = accelerator_device();
  if (!device) return;
  // Ten columns of rows of twelve: packs of four pixels would be whole and aligned, but would read
  // beyond the tenth.
  Generator random(6);
  const auto whole = [&](const Array& a) { fill_whole(random, a, 1, 3); };
  const Input x(*device, f32, {2, 3, 8, 12}, {}, whole), w(*device, f32, {40, 3, 1, 1}, {}, whole);
  const auto narrow = [](Array a) {
    a.shape[3] = 10;
    return a;
  };
  const Shape wide{2, 40, 8, 12};  // two columns of padding at the right
  Output y(*device, f32, wide);
  Buffer expected(f32, wide);
  kernels(*device).conv2d(y.device(), narrow(x.device()), w.device(), {});
  kernels(Device::naive).conv2d(expected.array, narrow(x.host()), w.host(), {});
  CHECK(y.difference(expected.array) == "");
}

TEST_CASE("cuda convolution: depthwise, exact") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(3);
  for (int round = 0; round < 40; ++round) {
    const auto any = [&](std::int64_t low, std::int64_t high) { return any_of(random, low, high); };
    const Case c{any(1, 3),
                 1,
                 round % 3 ? 1 : 2,
                 {any(3, 7), any(3, 9)},
                 {any(1, 3), any(1, 3)},
                 {.stride = {any(1, 2), any(1, 2)},
                  .top = any(0, 2),
                  .left = any(0, 2),
                  .dilation = {any(1, 2), 1},
                  .groups = any(2, 35)},
                 any(0, 2),
                 any(0, 2)};
    check(*device, random, round % 2 ? f32 : f64, c, some_layouts(random));
  }
}

TEST_CASE("cuda convolution: many pixels: larger tiles, the weights' sums in chunks, exact") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(4);
  for (Layouts l : {Layouts::channels_last, Layouts::channels_first}) {
    const Case c{12, 5, 40, {28, 28}, 3, {.top = 1, .left = 1}, 1, 1};
    CHECK(check(*device, random, f32, c, l));
  }
}

TEST_CASE("cuda convolution: the same bits under every schedule and for every layout") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(5);
  const Convolution v{.stride = 2, .top = 1, .left = 1};
  const auto normal = [&](const Array& a) { fill_normal(random, a); };
  Buffer x(f32, {4, 6, 16, 18}), w(f32, {9, 6, 3, 3}), dy(f32, {4, 9, 8, 9});
  for (const Buffer* b : {&x, &w, &dy}) normal(b->array);
  Buffer dw(f32, w.array.shape), dx(f32, x.array.shape), y(f32, dy.array.shape);
  const Kernels& specified = kernels(Device::naive);
  specified.conv2d(y.array, x.array, w.array, v);
  specified.conv2d_input_gradient(dx.array, dy.array, w.array, v);
  specified.conv2d_weight_gradient(dw.array, x.array, dy.array, v);
  Output to_y(*device, f32, y.array.shape), to_dx(*device, f32, dx.array.shape),
      to_dw(*device, f32, dw.array.shape);
  for (const Layout& layout : {Layout{}, Layout{.order = {0, 2, 3, 1}}}) {
    const auto copy_of = [&](const Buffer& b) {
      return [&](const Array& a) { specified.copy(a, b.array); };
    };
    const Input from_x(*device, f32, x.array.shape, layout, copy_of(x));
    const Input from_w(*device, f32, w.array.shape, {}, copy_of(w));
    const Input from_dy(*device, f32, dy.array.shape, layout, copy_of(dy));
    each_schedule([&] {
      const Kernels& fast = kernels(*device);
      fast.conv2d(to_y.device(), from_x.device(), from_w.device(), v);
      fast.conv2d_input_gradient(to_dx.device(), from_dy.device(), from_w.device(), v);
      fast.conv2d_weight_gradient(to_dw.device(), from_x.device(), from_dy.device(), v);
      CHECK(to_y.difference(y.array, 2e-5) == "");
      CHECK(to_dx.difference(dx.array, 2e-5) == "");
      CHECK(to_dw.difference(dw.array, 5e-5) == "");
    });
  }
}

TEST_CASE("cuda convolution: a NaN reaches what its patch touches, and nothing else") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(5);
  const Input w(*device, f32, {20, 2, 3, 3}, {},
                [&](const Array& a) { fill_whole(random, a, 1, 3); });
  const Input x(*device, f32, {1, 2, 5, 6}, {.order = {0, 2, 3, 1}}, [&](const Array& a) {
    fill_whole(random, a, 1, 3);
    a.as<float>()[0] = std::numeric_limits<float>::quiet_NaN();  // pixel (0, 0)
  });
  Buffer y(f32, {1, 20, 3, 4});
  OnDevice to_y(*device, y);
  kernels(*device).conv2d(to_y.array, x.device(), w.device(), {});
  to_y.download();
  const std::vector<float> all = values<float>(y.array);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK((all[i] != all[i]) == (i % 12 == 0));
}
