// The fast convolutions against the specification: exact, for sums of whole numbers are.

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

// Random layouts in the odd rounds, channels last in the even ones.
Layout layout_of(Generator& random, bool any, bool input) {
  return any ? any_layout(random, 4, input) : Layout{.order = {0, 2, 3, 1}};
}

// The three passes on both devices; false if the filter does not fit in the image.
bool check(Generator& random, DType dtype, const Case& c, bool any) {
  const std::int64_t h =
      result_size(c.image.h, c.v.top, c.bottom, c.kernel.h, c.v.stride.h, c.v.dilation.h);
  const std::int64_t w =
      result_size(c.image.w, c.v.left, c.right, c.kernel.w, c.v.stride.w, c.v.dilation.w);
  if (h == 0 || w == 0) return false;
  const Shape x_shape{c.samples, c.channels * c.v.groups, c.image.h, c.image.w};
  const Shape w_shape{c.filters * c.v.groups, c.channels, c.kernel.h, c.kernel.w};
  const Shape y_shape{c.samples, c.filters * c.v.groups, h, w};
  INFO("x " << x_shape.str() << " w " << w_shape.str() << " y " << y_shape.str() << " any layout "
            << any << " groups " << c.v.groups);
  INFO("top " << c.v.top << " left " << c.v.left << " stride " << c.v.stride.h << " "
              << c.v.stride.w << " dilation " << c.v.dilation.h << " " << c.v.dilation.w);
  Buffer x(dtype, x_shape, layout_of(random, any, true));
  Buffer weight(dtype, w_shape, any ? any_layout(random, 4, true) : Layout{});
  Buffer dy(dtype, y_shape, layout_of(random, any, true));
  fill_whole(random, x.array, -3, 3);
  fill_whole(random, weight.array, -3, 3);
  fill_whole(random, dy.array, -3, 3);
  const auto compare = [&](const char* pass, const Shape& shape, const Layout& layout, auto run) {
    INFO(std::string(pass));
    Buffer got(dtype, shape, layout), want(dtype, shape);
    run(fast(), got.array);
    run(specified(), want.array);
    CHECK(difference(got.array, want.array) == "");
    CHECK(got.intact());
  };
  compare("forward", y_shape, layout_of(random, any, false),
          [&](const Kernels& k, const Array& y) { k.conv2d(y, x.array, weight.array, c.v); });
  compare("input gradient", x_shape, layout_of(random, any, false),
          [&](const Kernels& k, const Array& dx) {
            k.conv2d_input_gradient(dx, dy.array, weight.array, c.v);
          });
  compare("weight gradient", w_shape, any ? any_layout(random, 4, false) : Layout{},
          [&](const Kernels& k, const Array& dw) {
            k.conv2d_weight_gradient(dw, x.array, dy.array, c.v);
          });
  return true;
}

}  // namespace

TEST_CASE("convolution: kernels, strides, paddings, channels and batches, exact") {
  Generator random(1);
  int round = 0, fitted = 0;
  for (std::int64_t channels : {1, 3, 8, 17})
    for (Plane kernel : {Plane(1), Plane(3), Plane(5), Plane(3, 2)})
      for (std::int64_t stride : {1, 2})
        for (std::int64_t padding : {0, 1, 2}) {
          ++round;
          const Case c{round % 2 ? 1 : 3,
                       channels,
                       round % 3 ? 7 : 20,
                       {5, 9},
                       kernel,
                       {.stride = stride, .top = padding, .left = padding},
                       padding,
                       padding};
          fitted += check(random, round % 5 ? f32 : f64, c, round % 2 == 1);
        }
  CHECK(fitted > 90);
}

TEST_CASE("convolution: anything goes, exact") {
  Generator random(2);
  int fitted = 0;
  for (int round = 0; round < 400; ++round) {
    const auto any = [&](std::int64_t low, std::int64_t high) { return any_of(random, low, high); };
    const Case c{any(1, 3),
                 any(1, 9),
                 any(1, 9),
                 {any(1, 9), any(1, 20)},
                 {any(1, 4), any(1, 4)},
                 {.stride = {any(1, 3), any(1, 3)},
                  .top = any(-1, 3),
                  .left = any(-1, 3),
                  .dilation = {any(1, 2), any(1, 3)},
                  .groups = any(1, 3)},
                 any(-1, 3),
                 any(-1, 3)};
    fitted += check(random, round % 2 ? f32 : f64, c, any(0, 1) == 1);
  }
  CHECK(fitted > 200);
}

TEST_CASE("convolution: 1 x 1 as one product, exact") {
  Generator random(9);
  for (int round = 0; round < 60; ++round) {
    const auto any = [&](std::int64_t low, std::int64_t high) { return any_of(random, low, high); };
    const Case c{any(1, 3), any(1, 40), any(1, 40), {any(1, 6), any(1, 6)}, 1, {}, 0, 0};
    CHECK(check(random, round % 4 ? f32 : f64, c, round % 3 == 0));
  }
}

TEST_CASE("convolution: depthwise, exact") {
  Generator random(3);
  for (int round = 0; round < 60; ++round) {
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
    check(random, round % 2 ? f32 : f64, c, any(0, 1) == 1);
  }
}

TEST_CASE("convolution: sizes of several strips and chunks, any number of threads [threads]") {
  Generator random(4);
  const int before = num_threads();
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    for (std::int64_t channels : {1, 24}) {
      const Case c{5, channels, 40, {14, 84}, {3, 3}, {.top = 1, .left = 1}, 1, 1};
      CHECK(check(random, f32, c, false));
    }
  }
  set_num_threads(before);
}

TEST_CASE("convolution: a NaN reaches what its patch touches, and nothing else") {
  Buffer x(f32, {1, 2, 5, 6}, {.order = {0, 2, 3, 1}}), w(f32, {20, 2, 3, 3}),
      y(f32, {1, 20, 3, 4});
  Generator random(5);
  fill_whole(random, x.array, 1, 3);
  fill_whole(random, w.array, 1, 3);
  x.array.as<float>()[0] = std::numeric_limits<float>::quiet_NaN();  // pixel (0, 0)
  fast().conv2d(y.array, x.array, w.array, {});
  const std::vector<float> all = values<float>(y.array);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK((all[i] != all[i]) == (i % 12 == 0));
}
