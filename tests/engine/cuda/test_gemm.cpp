// The matrix product against the plain loop, on the device that this build has.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/kernels.h"
#include "tests/engine/cuda/arrays.h"

using namespace labgrad;
using namespace labgrad::test;
using namespace labgrad::tests;

namespace {

std::string describe(const Array& a) {
  return std::string(name_of(a.dtype)) + a.shape.str() + " strides " + a.strides.str();
}

// Multiplies whole numbers on both devices: the results must be equal.
void check_product(Device device, Generator& random, DType dtype, const Shape& c_shape,
                   const Layout& c_layout, Buffer& a, Buffer& b, bool accumulate) {
  fill_whole(random, a.array, -3, 3);
  fill_whole(random, b.array, -3, 3);
  Buffer c(dtype, c_shape, c_layout), expected(dtype, c_shape);
  if (accumulate) {
    fill_whole(random, expected.array, -9, 9);
    specified().copy(c.array, expected.array);
  }
  specified().gemm(expected.array, a.array, b.array, accumulate);
  const OnDevice x(device, a), y(device, b);
  OnDevice z(device, c);
  kernels(device).gemm(z.array, x.array, y.array, accumulate);
  z.download();
  INFO("c " << describe(c.array) << " a " << describe(a.array) << " b " << describe(b.array));
  const std::string found = difference(c.array, expected.array);
  if (!found.empty()) FAIL_CHECK(found);
  if (!c.intact()) FAIL_CHECK("written outside C");
}

const Layout transposed{.order = {1, 0}};

}  // namespace

TEST_CASE("cuda gemm: sizes about the tiles, four transposes, exact") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(1);
  const std::vector<Shape> sizes{{1, 1, 70},   {2, 3, 4},     {31, 33, 65},   {32, 32, 80},
                                 {65, 4, 129}, {100, 30, 96}, {1, 200, 1500}, {36, 44, 2052}};
  for (DType dtype : {f32, f64})
    for (const Shape& s : sizes)
      for (int turn = 0; turn < 4; ++turn) {
        const std::int64_t m = s[0], n = s[1], k = s[2];
        Buffer a(dtype, {m, k}, turn & 1 ? transposed : Layout{});
        Buffer b(dtype, {k, n}, turn & 2 ? transposed : Layout{});
        check_product(*device, random, dtype, {m, n}, turn == 3 ? transposed : Layout{}, a, b,
                      (m + n + k + turn) % 3 == 0);
      }
}

TEST_CASE("cuda gemm: each size of tile, with whole and with ragged edges, exact") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(2);
  struct Case {
    DType dtype;
    Shape a, b;
  };
  // 64 x 64 without chunks and with, 128 x 128.
  for (const Case& s : {Case{f32, {500, 17}, {17, 1100}}, Case{f64, {500, 20}, {20, 1032}},
                        Case{f64, {66, 16400}, {16400, 70}}, Case{f32, {1028, 20}, {20, 1900}},
                        Case{f32, {1030, 9}, {9, 1903}}})
    for (int turn = 0; turn < 4; ++turn) {
      if (turn > 0 && s.a.numel() * s.b[1] > 15'000'000) continue;
      Buffer a(s.dtype, s.a, turn & 1 ? transposed : Layout{});
      Buffer b(s.dtype, s.b, turn & 2 ? transposed : Layout{});
      check_product(*device, random, s.dtype, {s.a[0], s.b[1]}, {}, a, b, turn == 1);
    }
}

TEST_CASE("cuda gemm: batches, broadcasts and any strides, exact") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(3);
  for (DType dtype : {f32, f64, i64, boolean})
    for (int round = 0; round < 60; ++round) {
      const int leading = static_cast<int>(any_of(random, 0, 3));
      Shape c_shape, a_shape, b_shape;
      for (int d = 0; d < leading; ++d) {
        const std::int64_t size = any_of(random, 1, 4);
        c_shape.push_back(size), a_shape.push_back(size), b_shape.push_back(size);
      }
      const std::int64_t m = any_of(random, 1, 20), n = any_of(random, 1, 20),
                         k = any_of(random, 1, round % 2 ? 20 : 100);
      c_shape.push_back(m), c_shape.push_back(n);
      a_shape.push_back(m), a_shape.push_back(k);
      b_shape.push_back(k), b_shape.push_back(n);
      const bool plain = round % 3 == 0;  // dense but for a repeated batch: these are joined
      Layout a_layout = any_layout(random, leading + 2, true), b_layout = a_layout;
      if (plain) {
        a_layout = {}, b_layout = {};
        b_layout.repeated.assign(static_cast<std::size_t>(leading + 2), false);
        for (int d = 0; d < leading; ++d) b_layout.repeated[static_cast<std::size_t>(d)] = true;
        if (round % 2 == 0) std::swap(a_layout, b_layout);
      } else {
        b_layout = any_layout(random, leading + 2, true);
      }
      Buffer a(dtype, a_shape, a_layout), b(dtype, b_shape, b_layout);
      check_product(*device, random, dtype, c_shape,
                    plain ? Layout{} : any_layout(random, leading + 2, false), a, b,
                    round % 2 == 0);
    }
}

TEST_CASE("cuda gemm: the old C is not read unless asked for, and no depth gives zeros") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(5);
  for (DType dtype : {f32, f64}) {
    for (std::int64_t k : {0, 3, 100}) {
      Buffer a(dtype, {7, k}), b(dtype, {k, 35});
      // Buffers start as NaN.
      check_product(*device, random, dtype, {7, 35}, {}, a, b, false);
      check_product(*device, random, dtype, {7, 35}, transposed, a, b, true);
    }
    for (Shape shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 0}}) {
      Buffer a(dtype, {shape[0], 4}), b(dtype, {4, shape[1]});
      check_product(*device, random, dtype, shape, {}, a, b, false);
    }
  }
}

TEST_CASE("cuda gemm: rounding stays within 4 sqrt(K) units of the sum of magnitudes") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(6);
  for (std::int64_t k : {16, 300, 3000}) {
    Buffer a(f32, {33, k}), b(f32, {k, 37}), c(f32, {33, 37}), expected(f32, {33, 37});
    fill_normal(random, a.array);
    fill_normal(random, b.array);
    specified().gemm(expected.array, a.array, b.array, false);
    const OnDevice x(*device, a), y(*device, b);
    OnDevice z(*device, c);
    // E|a b| = 2/π for two normals, so the sum of magnitudes is about 0.64 K.
    const double bound = 4 * std::sqrt(double(k)) * 6e-8 * 0.64 * double(k);
    std::vector<std::vector<float>> results;
    each_schedule([&] {
      kernels(*device).gemm(z.array, x.array, y.array, false);
      z.download();
      CHECK(difference(c.array, expected.array, bound) == "");
      results.push_back(values<float>(c.array));
    });
    CHECK(results[0] == results[1]);
    CHECK(results[0] == results[2]);
  }
}

TEST_CASE("cuda gemm: an operand that does not begin at a multiple of 16 bytes, exact") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(7);
  Buffer a(f32, {40, 72}), b(f32, {68, 40}), c(f32, {40, 40}), expected(f32, {40, 40});
  fill_whole(random, a.array, -3, 3);
  fill_whole(random, b.array, -3, 3);
  const OnDevice x(*device, a), y(*device, b);
  OnDevice z(*device, c);
  const auto behind_first = [](const Array& of) {
    return Array{of.data + sizeof(float), f32, {40, 68}, of.strides};
  };
  specified().gemm(expected.array, behind_first(a.array), b.array, false);
  kernels(*device).gemm(z.array, behind_first(x.array), y.array, false);
  z.download();
  CHECK(difference(c.array, expected.array) == "");
}

TEST_CASE("cuda gemm: NaN and infinity come through, and only where they belong") {
  const auto device = accelerator_device();
  if (!device) return;
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (std::int64_t k : {20, 70}) {  // the plain kernel, the tiles
    Buffer a(f32, {20, k}), b(f32, {k, 20}), c(f32, {20, 20}), expected(f32, {20, 20});
    specified().fill(a.array, 1);
    specified().fill(b.array, 0.5);
    a.array.as<float>()[3 * k + 19] = std::numeric_limits<float>::quiet_NaN();
    b.array.as<float>()[5 * 20 + 18] = inf;
    a.array.as<float>()[7 * k + 5] = 0;  // 0 · inf
    specified().gemm(expected.array, a.array, b.array, false);
    const OnDevice x(*device, a), y(*device, b);
    OnDevice z(*device, c);
    kernels(*device).gemm(z.array, x.array, y.array, false);
    z.download();
    CHECK(difference(c.array, expected.array) == "");
  }
}
