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

std::string describe(const Array& a) {
  return std::string(name_of(a.dtype)) + a.shape.str() + " strides " + a.strides.str();
}

// Fills a and b with whole numbers, multiplies on both devices; the results must be equal.
void check_product(Generator& random, DType dtype, const Shape& c_shape, const Layout& c_layout,
                   const Array& a, const Array& b, bool accumulate) {
  fill_whole(random, a, -3, 3);
  fill_whole(random, b, -3, 3);
  Buffer c(dtype, c_shape, c_layout), expected(dtype, c_shape);
  if (accumulate) {
    fill_whole(random, expected.array, -9, 9);
    specified().copy(c.array, expected.array);
  }
  fast().gemm(c.array, a, b, accumulate);
  specified().gemm(expected.array, a, b, accumulate);
  const std::string found = difference(c.array, expected.array);
  INFO("c " << describe(c.array) << " a " << describe(a) << " b " << describe(b));
  if (!found.empty()) FAIL_CHECK(found);
  if (!c.intact()) FAIL_CHECK("written outside C");
}

const Layout transposed{.order = {1, 0}};

}  // namespace

TEST_CASE("gemm: every size about the tiles, four transposes, exact") {
  Generator random(1);
  const std::vector<std::int64_t> sides{1, 2, 5, 6, 7, 15, 16, 17, 33};
  for (DType dtype : {f32, f64})
    for (std::int64_t m : sides)
      for (std::int64_t n : sides)
        for (std::int64_t k : {1, 2, 8, 255, 256, 257})
          for (int turn = 0; turn < 4; ++turn) {
            Buffer a(dtype, {m, k}, turn & 1 ? transposed : Layout{});
            Buffer b(dtype, {k, n}, turn & 2 ? transposed : Layout{});
            check_product(random, dtype, {m, n}, {}, a.array, b.array, (m + n + k + turn) % 3 == 0);
          }
}

TEST_CASE("gemm: sizes about the blocks, exact") {
  Generator random(2);
  for (DType dtype : {f32, f64})
    for (int round = 0; round < 12; ++round) {
      const std::int64_t m = any_of(random, 1, 300), n = any_of(random, 1, 300),
                         k = any_of(random, 1, 600);
      Buffer a(dtype, {m, k}, any_layout(random, 2, true));
      Buffer b(dtype, {k, n}, any_layout(random, 2, true));
      check_product(random, dtype, {m, n}, any_layout(random, 2, false), a.array, b.array,
                    round % 2 == 0);
    }
  Buffer a(f32, {15, 9}), b(f32, {9, 6500}), wide(f32, {9, 3100}, transposed);
  check_product(random, f32, {15, 6500}, {}, a.array, b.array, true);
  check_product(random, f32, {15, 3100}, {}, a.array, wide.array, false);
  // What a layer of 128 units does: a step, which reads its weight in place; a weight's gradient,
  // whose turned A is read in place, or copied if its columns lie on pages of their own.
  Buffer h(f32, {128, 128}), weight(f32, {128, 384}), inputs(f32, {600, 128});
  Buffer near(f32, {384, 600}, transposed), far(f32, {1100, 600}, transposed);
  check_product(random, f32, {128, 384}, {}, h.array, weight.array, false);
  check_product(random, f32, {384, 128}, {}, near.array, inputs.array, true);
  check_product(random, f32, {1100, 128}, {}, far.array, inputs.array, false);
}

TEST_CASE("gemm: batches, broadcasts and any strides, exact") {
  Generator random(3);
  for (DType dtype : {f32, f64, i64})
    for (int round = 0; round < 300; ++round) {
      const int leading = static_cast<int>(any_of(random, 0, 3));
      Shape c_shape, a_shape, b_shape;
      for (int d = 0; d < leading; ++d) {
        const std::int64_t size = any_of(random, 1, 4);
        c_shape.push_back(size), a_shape.push_back(size), b_shape.push_back(size);
      }
      const std::int64_t m = any_of(random, 1, 24), n = any_of(random, 1, 24),
                         k = any_of(random, 1, 40);
      c_shape.push_back(m), c_shape.push_back(n);
      a_shape.push_back(m), a_shape.push_back(k);
      b_shape.push_back(k), b_shape.push_back(n);
      const bool plain = round % 3 == 0;  // dense but for a repeated batch: these are folded
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
      check_product(random, dtype, c_shape,
                    plain ? Layout{} : any_layout(random, leading + 2, false), a.array, b.array,
                    round % 2 == 0);
    }
}

TEST_CASE("linear: a product with W turned, plus a row, exact") {
  Generator random(6);
  const auto check = [&](DType dtype, std::int64_t m, std::int64_t n, std::int64_t k,
                         const Layout& y_layout, const Layout& layout) {
    Buffer x(dtype, {m, k}, layout), w(dtype, {n, k}, layout), b(dtype, {n});
    for (const Array* a : {&x.array, &w.array, &b.array}) fill_whole(random, *a, -3, 3);
    Buffer y(dtype, {m, n}, y_layout), expected(dtype, {m, n});
    fast().linear(y.array, x.array, w.array, b.array);
    specified().linear(expected.array, x.array, w.array, b.array);
    INFO("y " << describe(y.array) << " x " << describe(x.array));
    CHECK(difference(y.array, expected.array) == "");
    CHECK(y.intact());
  };
  for (DType dtype : {f32, f64, i64})
    for (std::int64_t m : {1, 3, 5, 14, 29})
      for (std::int64_t n : {1, 4, 5, 16, 33, 41, 70})
        for (std::int64_t k : {0, 1, 7, 40})
          for (const Layout& layout : {Layout{}, transposed}) check(dtype, m, n, k, {}, layout);
  for (int round = 0; round < 20; ++round)
    check(f32, any_of(random, 1, 150), any_of(random, 1, 150), any_of(random, 1, 1200),
          any_layout(random, 2, false), any_layout(random, 2, true));
  check(f32, 40, 6500, 9, {}, {});
}

TEST_CASE("gemm: many small products, divided by product") {
  Generator random(4);
  Buffer a(f32, {60, 4, 20, 8}), b(f32, {60, 4, 8, 20}, {.order = {0, 1, 3, 2}});
  check_product(random, f32, {60, 4, 20, 20}, {}, a.array, b.array, false);
  Buffer p(f32, {60, 4, 20, 20}), v(f32, {60, 4, 20, 8}, {.order = {0, 2, 1, 3}});
  check_product(random, f32, {60, 4, 20, 8}, {.order = {0, 2, 1, 3}}, p.array, v.array, true);
}

TEST_CASE("gemm: the old C is not read unless asked for, and no depth gives zeros") {
  Generator random(5);
  for (DType dtype : {f32, f64}) {
    for (std::int64_t k : {0, 3, 40}) {
      Buffer a(dtype, {7, k}), b(dtype, {k, 35});
      // Buffers start as NaN.
      check_product(random, dtype, {7, 35}, {}, a.array, b.array, false);
      check_product(random, dtype, {7, 35}, transposed, a.array, b.array, true);
    }
    for (Shape shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 0}}) {
      Buffer a(dtype, {shape[0], 4}), b(dtype, {4, shape[1]});
      check_product(random, dtype, shape, {}, a.array, b.array, false);
    }
  }
}

TEST_CASE("gemm: integers beyond the digits of a double are exact") {
  Buffer a(i64, {1, 2}), b(i64, {2, 1}), c(i64, {1, 1});
  a.array.as<std::int64_t>()[0] = (std::int64_t{1} << 53) + 1;
  a.array.as<std::int64_t>()[1] = 1;
  b.array.as<std::int64_t>()[0] = 3;
  b.array.as<std::int64_t>()[1] = 2;
  fast().gemm(c.array, a.array, b.array, false);
  CHECK(values<std::int64_t>(c.array)[0] == 3 * (std::int64_t{1} << 53) + 5);
}

TEST_CASE("gemm: rounding stays within 4 sqrt(K) units of the sum of magnitudes") {
  Generator random(6);
  for (std::int64_t k : {16, 300, 2000}) {
    Buffer a(f32, {33, k}), b(f32, {k, 37}), c(f32, {33, 37}), expected(f32, {33, 37});
    fill_normal(random, a.array);
    fill_normal(random, b.array);
    fast().gemm(c.array, a.array, b.array, false);
    specified().gemm(expected.array, a.array, b.array, false);
    // E|a b| = 2/π for two normals, so the sum of magnitudes is about 0.64 K.
    const double bound = 4 * std::sqrt(double(k)) * 6e-8 * 0.64 * double(k);
    CHECK(difference(c.array, expected.array, bound) == "");
  }
}

TEST_CASE("gemm: NaN and infinity come through") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  Buffer a(f32, {20, 20}), b(f32, {20, 20}), c(f32, {20, 20}), expected(f32, {20, 20});
  specified().fill(a.array, 1);
  specified().fill(b.array, 0.5);
  a.array.as<float>()[3 * 20 + 19] = std::numeric_limits<float>::quiet_NaN();
  b.array.as<float>()[5 * 20 + 18] = inf;
  a.array.as<float>()[7 * 20 + 5] = 0;  // 0 · inf
  fast().gemm(c.array, a.array, b.array, false);
  specified().gemm(expected.array, a.array, b.array, false);
  CHECK(difference(c.array, expected.array) == "");
}

TEST_CASE("[threads] gemm: the same bits for every number of threads") {
  const int before = num_threads();
  Generator random(7);
  struct Case {
    Shape a, b;
    Layout b_layout;
  };
  for (const Case& example :
       {Case{{200, 300}, {300, 260}, {}}, Case{{130, 520}, {520, 257}, transposed},
        Case{{1, 700}, {700, 2000}, transposed}, Case{{3, 900}, {900, 1500}, {}},
        Case{{64, 20, 30}, {64, 30, 40}, {}}, Case{{16, 700}, {700, 900}, transposed}}) {
    Buffer a(f32, example.a), b(f32, example.b, example.b_layout);
    fill_normal(random, a.array);
    fill_normal(random, b.array);
    Shape shape = example.a;
    shape[shape.rank() - 1] = example.b.back();
    std::vector<std::vector<float>> results;
    for (int threads : {1, 2, 3}) {
      set_num_threads(threads);
      Buffer c(f32, shape);
      fast().gemm(c.array, a.array, b.array, false);
      results.push_back(values<float>(c.array));
    }
    CHECK(results[0] == results[1]);
    CHECK(results[0] == results[2]);
  }
  set_num_threads(before);
}
