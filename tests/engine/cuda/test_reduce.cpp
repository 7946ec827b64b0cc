// Reductions, running sums and sorting on a device against the specification.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/kernels.h"
#include "tests/engine/cuda/arrays.h"

using namespace labgrad;
using namespace labgrad::test;
using namespace labgrad::tests;

namespace {

const DType all_types[] = {f32, f64, i64, boolean};

struct Case {
  Shape x, out;
};
// Rows, columns, everything, nothing; lengths below and above a warp and a piece of 4096; results
// too many to be cut.
const Case cases[] = {{{}, {}},
                      {{5, 7}, {5, 1}},
                      {{5, 7}, {1, 7}},
                      {{5, 7}, {5, 7}},
                      {{3, 0, 2}, {3, 1, 2}},
                      {{0, 4}, {0, 1}},
                      {{3, 40, 5}, {3, 1, 5}},
                      {{2, 33, 3, 4}, {1, 33, 1, 4}},
                      {{9001}, {1}},
                      {{3, 5000}, {3, 1}},
                      {{5000, 3}, {1, 3}},
                      {{3, 5000, 4}, {3, 1, 4}},
                      {{1100, 40}, {1100, 1}},
                      {{40, 1100}, {1, 1100}}};

// Whole numbers in -3 .. 3 with a NaN here and there.
auto with_nan(Generator& random) {
  return [&random](const Array& a) {
    fill_whole(random, a, -3, 3);
    if (a.dtype != f32) return;
    std::int64_t i = 0;
    walk(
        a.shape,
        [&](std::int64_t at) {
          if (i++ % 23 == 7) a.as<float>()[at] = std::numeric_limits<float>::quiet_NaN();
        },
        a.strides);
  };
}

}  // namespace

TEST_CASE("cuda reduce: every function, dtype and layout; rows, columns and pieces") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels& fast = kernels(*device);
  Generator random(1);
  for (Reduction f : {Reduction::sum, Reduction::prod, Reduction::max, Reduction::min,
                      Reduction::any, Reduction::all})
    for (DType dtype : all_types) {
      if ((f >= Reduction::any) != (dtype == boolean)) continue;
      for (const Case& c : cases) {
        CAPTURE(static_cast<int>(f));
        CAPTURE(name_of(dtype));
        CAPTURE(c.x.str());
        CAPTURE(c.out.str());
        const int rank = c.x.rank();
        const std::int64_t low = f == Reduction::prod ? 1 : -5;
        const std::int64_t high = f == Reduction::prod ? 1 : 6;
        const Input x(*device, dtype, c.x, any_layout(random, rank, true),
                      whole(random, low, high));
        Output out(*device, dtype, c.out, any_layout(random, rank, false));
        Buffer expected(dtype, c.out);
        specified().reduce(f, expected.array, x.host());
        each_schedule([&] {
          fast.reduce(f, out.device(), x.device());
          CHECK(out.difference(expected.array) == "");
        });
      }
    }
}

TEST_CASE("cuda reduce: the error of a long f32 sum does not grow with its length") {
  const auto device = accelerator_device();
  if (!device) return;
  const std::int64_t n = 300000;
  const Input x(*device, f32, {n}, {}, [](const Array& a) {
    for (std::int64_t i = 0; i < n; ++i) a.as<float>()[i] = 0.1f;
  });
  Output out(*device, f32, {1});
  Buffer expected(f32, {1});
  expected.array.as<float>()[0] = static_cast<float>(double(0.1f) * double(n));
  kernels(*device).reduce(Reduction::sum, out.device(), x.device());
  CHECK(out.difference(expected.array, 0, 1e-7) == "");
}

TEST_CASE("cuda arg_reduce: the first of equals, NaN before all, what is not wanted") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels& fast = kernels(*device);
  Generator random(2);
  for (DType dtype : all_types)
    for (const Shape& shape : {Shape{7}, Shape{40, 3}, Shape{3, 100}, Shape{4, 33, 5}, Shape{1, 1}})
      for (int dim = 0; dim < shape.rank(); ++dim)
        for (bool largest : {true, false}) {
          CAPTURE(name_of(dtype));
          CAPTURE(shape.str());
          CAPTURE(dim);
          const int rank = shape.rank();
          const Input x(*device, dtype, shape, any_layout(random, rank, true), with_nan(random));
          const Shape kept = without(shape, dim);
          Output values(*device, dtype, kept, any_layout(random, rank, false));
          Output places(*device, i64, kept, any_layout(random, rank, false)),
              alone(*device, i64, kept);
          Buffer v(dtype, kept), p(i64, kept);
          specified().arg_reduce(largest, v.array, p.array, x.host(), dim);
          each_schedule([&] {
            fast.arg_reduce(largest, values.device(), places.device(), x.device(), dim);
            CHECK(values.difference(v.array) == "");
            CHECK(places.difference(p.array) == "");
            fast.arg_reduce(largest, {}, alone.device(), x.device(), dim);
            CHECK(alone.difference(p.array) == "");
          });
        }
}

TEST_CASE("cuda cumsum and sort: every dtype, dimension and direction") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels& fast = kernels(*device);
  Generator random(3);
  for (DType dtype : all_types)
    for (const Shape& shape : {Shape{1}, Shape{100}, Shape{5, 37}, Shape{3, 8, 4}, Shape{2, 0}})
      for (int dim = 0; dim < shape.rank(); ++dim)
        for (bool flag : {true, false}) {
          CAPTURE(name_of(dtype));
          CAPTURE(shape.str());
          CAPTURE(dim);
          const int rank = shape.rank();
          const Input x(*device, dtype, shape, any_layout(random, rank, true), with_nan(random));
          auto output = [&](DType t) {
            return Output(*device, t, shape, any_layout(random, rank, false));
          };
          Output sums = output(dtype), values = output(dtype), places = output(i64);
          Buffer s(dtype, shape), v(dtype, shape), p(i64, shape);
          specified().cumsum(s.array, x.host(), dim, flag);
          specified().sort(v.array, p.array, x.host(), dim, flag);
          each_schedule([&] {
            fast.cumsum(sums.device(), x.device(), dim, flag);
            CHECK(sums.difference(s.array) == "");
            fast.sort(values.device(), places.device(), x.device(), dim, flag);
            CHECK(values.difference(v.array) == "");
            CHECK(places.difference(p.array) == "");
          });
        }
}
