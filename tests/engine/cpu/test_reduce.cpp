#include <doctest/doctest.h>

#include <cmath>
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

Shape any_shape(Generator& random, int rank, std::int64_t high) {
  Shape shape;
  for (int d = 0; d < rank; ++d) shape.push_back(any_of(random, 1, high));
  return shape;
}

// Reduces on both devices; the results must be equal.
void check_reduction(Reduction f, const Shape& out_shape, const Array& x, Generator& random) {
  Buffer out(x.dtype, out_shape, any_layout(random, out_shape.rank(), false));
  Buffer expected(x.dtype, out_shape);
  fast().reduce(f, out.array, x);
  specified().reduce(f, expected.array, x);
  INFO("reduction " << int(f) << " of " << name_of(x.dtype) << x.shape.str() << " strides "
                    << x.strides.str());
  const std::string found = difference(out.array, expected.array);
  if (!found.empty()) FAIL_CHECK(found);
  if (!out.intact()) FAIL_CHECK("written outside");
}

const std::vector<Reduction> numeric{Reduction::sum, Reduction::prod, Reduction::max,
                                     Reduction::min};
const std::vector<Reduction> logical{Reduction::any, Reduction::all};

}  // namespace

TEST_CASE("reduce: random shapes, dimensions and layouts, exact") {
  Generator random(1);
  for (DType dtype : {f32, f64, i64, boolean})
    for (int round = 0; round < 200; ++round) {
      const int rank = static_cast<int>(any_of(random, 0, 4));
      const Shape shape = any_shape(random, rank, rank <= 2 ? 70 : 9);
      Shape out_shape = shape;
      for (int d = 0; d < rank; ++d)
        if (any_of(random, 0, 1) == 0) out_shape[d] = 1;
      Buffer x(dtype, shape, round % 2 == 0 ? Layout{} : any_layout(random, rank, true));
      for (Reduction f : dtype == boolean ? logical : numeric) {
        // Products of ±1 and one 2 stay exact.
        if (f == Reduction::prod)
          fill_whole(random, x.array, 1, 1);
        else
          fill_whole(random, x.array, -4, 4);
        if (f == Reduction::prod && x.array.shape.numel() > 0 && dtype != boolean)
          dispatch(dtype, [&](auto tag) {
            using T = typename decltype(tag)::type;
            if constexpr (!std::is_same_v<T, bool>) x.array.as<T>()[0] = T(-2);
          });
        check_reduction(f, out_shape, x.array, random);
      }
    }
}

TEST_CASE("reduce: long rows and tall columns, cut in pieces, exact") {
  Generator random(2);
  for (DType dtype : {f32, f64}) {
    Buffer row(dtype, {3, 70001}), tall(dtype, {9000, 33}), deep(dtype, {5, 3000, 300});
    for (const Array& x : {row.array, tall.array}) {
      fill_whole(random, x, -9, 9);
      for (Reduction f : {Reduction::sum, Reduction::max, Reduction::min}) {
        check_reduction(f, {1, 1}, x, random);
        check_reduction(f, {x.shape[0], 1}, x, random);
        check_reduction(f, {1, x.shape[1]}, x, random);
      }
    }
  }
  Buffer cube(f32, {40, 30, 300});
  fill_whole(random, cube.array, -9, 9);
  for (Shape out : {Shape{1, 1, 300}, Shape{1, 30, 1}, Shape{40, 1, 1}, Shape{40, 1, 300},
                    Shape{1, 30, 300}, Shape{40, 30, 1}, Shape{1, 1, 1}})
    check_reduction(Reduction::sum, out, cube.array, random);
}

TEST_CASE("reduce: nothing gives the identity") {
  Generator random(3);
  Buffer x(f32, {3, 0}), b(boolean, {3, 0});
  for (Reduction f : numeric) check_reduction(f, {3, 1}, x.array, random);
  for (Reduction f : logical) check_reduction(f, {3, 1}, b.array, random);
  check_reduction(Reduction::sum, {1, 0}, x.array, random);
}

TEST_CASE("reduce: NaN comes through in every position") {
  Generator random(4);
  for (std::int64_t n : {1, 7, 40, 200}) {
    Buffer x(f32, {n}), columns(f32, {n, 19});
    for (std::int64_t at = 0; at < n; at += 1 + n / 20) {
      fill_whole(random, x.array, -4, 4);
      fill_whole(random, columns.array, -4, 4);
      x.array.as<float>()[at] = std::numeric_limits<float>::quiet_NaN();
      columns.array.as<float>()[at * 19 + at % 19] = std::numeric_limits<float>::quiet_NaN();
      for (Reduction f : {Reduction::sum, Reduction::max, Reduction::min}) {
        check_reduction(f, {1}, x.array, random);
        check_reduction(f, {1, 19}, columns.array, random);
      }
    }
  }
}

TEST_CASE("reduce: the error of a sum in f32 does not grow with the length") {
  Generator random(5);
  constexpr std::int64_t n = 2'000'000;
  Buffer x(f32, {n}), out(f32, {1});
  double exact = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    x.array.as<float>()[i] = 1 + float(any_of(random, -1000, 1000)) * 1e-7f;
    exact += x.array.as<float>()[i];
  }
  for (Shape shape : {Shape{n}, Shape{n / 4, 4}, Shape{4, n / 4}}) {
    Array view = x.array, total = out.array;
    view.shape = shape, view.strides = contiguous_strides(shape);
    total.shape = Shape::filled(shape.rank(), 1), total.strides = contiguous_strides(total.shape);
    fast().reduce(Reduction::sum, total, view);
    CHECK(!(std::abs(out.array.as<float>()[0] / exact - 1) > 6e-8));
  }
}

TEST_CASE("arg_reduce, cumsum and sort: as specified, exact") {
  Generator random(6);
  for (DType dtype : {f32, f64, i64, boolean})
    for (int round = 0; round < 120; ++round) {
      const int rank = static_cast<int>(any_of(random, 1, 3));
      const Shape shape = any_shape(random, rank, 40);
      const int dim = static_cast<int>(any_of(random, 0, rank - 1));
      Buffer x(dtype, shape, any_layout(random, rank, true));
      fill_whole(random, x.array, -20, 20);
      if (dtype == f32 && round % 3 == 0)
        x.array.as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
      INFO(name_of(dtype) << shape.str() << " strides " << x.array.strides.str() << " dim " << dim);
      for (bool flag : {false, true}) {
        Shape one = shape;
        one[dim] = 1;
        Buffer value(dtype, one), value2(dtype, one), at(i64, one), at2(i64, one);
        fast().arg_reduce(flag, value.array, at.array, x.array, dim);
        specified().arg_reduce(flag, value2.array, at2.array, x.array, dim);
        CHECK(difference(value.array, value2.array) == "");
        CHECK(difference(at.array, at2.array) == "");

        Buffer sum(dtype, shape, any_layout(random, rank, false)), sum2(dtype, shape);
        fast().cumsum(sum.array, x.array, dim, flag);
        specified().cumsum(sum2.array, x.array, dim, flag);
        CHECK(difference(sum.array, sum2.array) == "");

        Buffer sorted(dtype, shape, any_layout(random, rank, false)), sorted2(dtype, shape);
        Buffer order(i64, shape), order2(i64, shape);
        fast().sort(sorted.array, order.array, x.array, dim, flag);
        specified().sort(sorted2.array, order2.array, x.array, dim, flag);
        CHECK(difference(sorted.array, sorted2.array) == "");
        CHECK(difference(order.array, order2.array) == "");
        CHECK(sum.intact());
        CHECK(sorted.intact());
      }
    }
}

TEST_CASE("[threads] reduce: the same bits for every number of threads") {
  const int before = num_threads();
  Generator random(7);
  Buffer x(f64, {300, 1000}), y(f32, {9, 40000});
  fill_normal(random, x.array);
  fill_normal(random, y.array);
  for (const Array& a : {x.array, y.array})
    for (Shape out_shape : {Shape{1, 1}, Shape{a.shape[0], 1}, Shape{1, a.shape[1]}}) {
      std::vector<std::string> results;
      for (int threads : {1, 2, 3}) {
        set_num_threads(threads);
        Buffer out(a.dtype, out_shape);
        fast().reduce(Reduction::sum, out.array, a);
        const auto bytes = static_cast<std::size_t>(out_shape.numel()) * size_of(a.dtype);
        results.emplace_back(reinterpret_cast<const char*>(out.array.data), bytes);
      }
      CHECK(results[0] == results[1]);
      CHECK(results[0] == results[2]);
    }
  set_num_threads(before);
}
