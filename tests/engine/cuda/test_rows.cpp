// Softmax, cross entropy and layer norm on a device against the specification: rows shared by a
// thread, a warp and a block.

#include <doctest/doctest.h>

#include <cmath>
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

double tolerance(DType dtype) { return dtype == f32 ? 3e-6 : 1e-13; }

struct Rows {
  Shape shape;
  int dim;
};
const std::vector<Rows> examples{{{5, 1}, 1},  {{40, 10}, 1},    {{3, 31}, 1},    {{3, 32}, 1},
                                 {{7, 33}, 1}, {{2, 3, 100}, 2}, {{3, 21, 4}, 1}, {{40, 33, 3}, 1},
                                 {{40, 6}, 0}, {{2, 1024}, 1},   {{3, 1025}, 1},  {{1300, 2}, 0},
                                 {{0, 5}, 1},  {{2, 0, 3}, 0}};

}  // namespace

TEST_CASE("cuda softmax and its backward: who shares a row, dimensions and layouts") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels& fast = kernels(*device);
  Generator random(1);
  for (DType dtype : {f32, f64})
    for (const Rows& rows : examples)
      for (bool log : {false, true}) {
        const Shape& shape = rows.shape;
        const int dim = rows.dim, rank = shape.rank();
        CAPTURE(shape.str());
        CAPTURE(log);
        const double close = tolerance(dtype);
        const Input x(*device, dtype, shape, any_layout(random, rank, true), normal(random, 3, 5));
        const Input dy(*device, dtype, shape, any_layout(random, rank, true), normal(random));
        Buffer y(dtype, shape), dx(dtype, shape);
        specified().softmax(y.array, x.host(), dim, log);
        specified().softmax_backward(dx.array, y.array, dy.host(), dim, log);
        Output soft(*device, dtype, shape, any_layout(random, rank, false));
        Output back(*device, dtype, shape, any_layout(random, rank, false));
        const OnDevice y_there(*device, y);
        each_schedule([&] {
          fast.softmax(soft.device(), x.device(), dim, log);
          CHECK(soft.difference(y.array, close * (log ? 5 : 0.2), close) == "");
          fast.softmax_backward(back.device(), y_there.array, dy.device(), dim, log);
          CHECK(back.difference(dx.array, 3 * close * std::sqrt(double(shape[dim])), close) == "");
        });
      }
}

TEST_CASE("cuda softmax and log_sum_exp: extreme rows") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels& fast = kernels(*device);
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<float>> rows{{1000, 1001, 999, 1000}, {-1000, -1001, -999, -1000},
                                             {-inf, 0, -inf, 1},      {-inf, -inf, -inf, -inf},
                                             {nan, 0, 1, 2},          {0, 1, 2, nan},
                                             {inf, 0, 1, 2},          {-200, 0, -150, -110},
                                             {3e38f, -3e38f, 0, 1}};
  for (const auto& row : rows)
    for (std::int64_t n : {4, 40, 1028}) {
      const Input x(*device, f32, {n}, {}, [&](const Array& a) {
        for (std::int64_t i = 0; i < n; ++i)
          a.as<float>()[i] = row[static_cast<std::size_t>(i % 4)];
      });
      CAPTURE(row[0]);
      CAPTURE(row[1]);
      CAPTURE(n);
      for (bool log : {false, true}) {
        Buffer y(f32, {n});
        Output soft(*device, f32, {n});
        specified().softmax(y.array, x.host(), 0, log);
        fast.softmax(soft.device(), x.device(), 0, log);
        CHECK(soft.difference(y.array, 1e-6, 1e-6) == "");
      }
      Buffer z(f32, {2});
      Output got(*device, f32, {2});
      specified().log_sum_exp(z.array, x.host(), 0);
      fast.log_sum_exp(got.device(), x.device(), 0);
      CHECK(got.difference(z.array, 0, 1e-6) == "");
    }
}

TEST_CASE("cuda log_sum_exp and cross_entropy_backward: who shares a row, dimensions, layouts") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels& fast = kernels(*device);
  Generator random(6);
  for (DType dtype : {f32, f64})
    for (const Rows& rows : examples) {
      const Shape& shape = rows.shape;
      const int dim = rows.dim, rank = shape.rank();
      CAPTURE(shape.str());
      const double close = tolerance(dtype);
      const Shape one = without(shape, dim);
      Shape two = shape;
      two[dim] = 2;
      const Input x(*device, dtype, shape, any_layout(random, rank, true), normal(random, 3, 5));
      Buffer z(dtype, two);
      specified().log_sum_exp(z.array, x.host(), dim);
      Output sums(*device, dtype, two, any_layout(random, rank, false));
      each_schedule([&] {
        fast.log_sum_exp(sums.device(), x.device(), dim);
        CHECK(sums.difference(z.array, close, close) == "");
      });

      if (shape[dim] == 0) continue;  // no place for a target
      const Input target(*device, i64, one, any_layout(random, rank, true),
                         whole(random, 0, shape[dim] - 1));
      const Input s(*device, dtype, one, any_layout(random, rank, true),
                    whole(random, 0, 2));  // zeros among them: rows that are ignored
      Buffer dx(dtype, shape);
      specified().cross_entropy_backward(dx.array, x.host(), z.array, target.host(), s.host(), dim);
      const OnDevice z_there(*device, z);
      Output back(*device, dtype, shape, any_layout(random, rank, false));
      each_schedule([&] {
        fast.cross_entropy_backward(back.device(), x.device(), z_there.array, target.device(),
                                    s.device(), dim);
        CHECK(back.difference(dx.array, close, 10 * close) == "");
      });
    }
}

TEST_CASE("cuda cross_entropy_backward: an ignored row of NaN gives zeros") {
  const auto device = accelerator_device();
  if (!device) return;
  Buffer nan(f32, {1, 40}), z(f32, {1, 2}), zero(f32, {1, 40});  // NaN at first
  const auto zeros = [](const Array& a) { specified().fill(a, 0); };
  zeros(zero.array);
  const OnDevice x(*device, nan), sums(*device, z);
  const Input target(*device, i64, {1, 1}, {}, zeros), s(*device, f32, {1, 1}, {}, zeros);
  Output dx(*device, f32, {1, 40});
  kernels(*device).cross_entropy_backward(dx.device(), x.array, sums.array, target.device(),
                                          s.device(), 1);
  CHECK(dx.difference(zero.array) == "");
}

TEST_CASE("cuda layer_norm and its backward: who shares a row, layouts, with and without weights") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels& fast = kernels(*device);
  Generator random(2);
  for (DType dtype : {f32, f64})
    for (const Rows& rows : examples) {
      const Shape& shape = rows.shape;
      const int rank = shape.rank();
      const std::int64_t n = shape.back();
      Shape one = shape;
      one[rank - 1] = 1;
      for (bool weights : {false, true}) {
        CAPTURE(shape.str());
        CAPTURE(weights);
        const double close = 10 * tolerance(dtype);
        const Input x(*device, dtype, shape, any_layout(random, rank, true), normal(random, 2, 3));
        const Input w(*device, dtype, {n}, {.step = 2}, normal(random));
        const Input b(*device, dtype, {n}, {}, normal(random));
        const Array none{};
        Buffer y(dtype, shape), mean(dtype, one), rstd(dtype, one);
        specified().layer_norm(y.array, mean.array, rstd.array, x.host(), weights ? w.host() : none,
                               weights ? b.host() : none, 1e-5);
        Output norm(*device, dtype, shape, any_layout(random, rank, false));
        Output mu(*device, dtype, one), r(*device, dtype, one);
        // One value, or all equal, leaves rounding alone, magnified by 1/sqrt(eps).
        const double noise = n == 1 || x.host().strides[rank - 1] == 0 ? 100 : 1;
        each_schedule([&] {
          fast.layer_norm(norm.device(), mu.device(), r.device(), x.device(),
                          weights ? w.device() : none, weights ? b.device() : none, 1e-5);
          CHECK(mu.difference(mean.array, close, close) == "");
          CHECK(r.difference(rstd.array, 0, close) == "");
          CHECK(norm.difference(y.array, close * noise, close) == "");
        });

        if (noise > 1) continue;
        const Input dy(*device, dtype, shape, any_layout(random, rank, true), normal(random));
        Buffer dx(dtype, shape), dw(dtype, {n}), db(dtype, {n});
        specified().layer_norm_backward(dx.array, dw.array, db.array, dy.host(), x.host(),
                                        mean.array, rstd.array, weights ? w.host() : none);
        const OnDevice mean_there(*device, mean), rstd_there(*device, rstd);
        Output back(*device, dtype, shape, any_layout(random, rank, false));
        Output of_w(*device, dtype, {n}), of_b(*device, dtype, {n});
        each_schedule([&] {
          fast.layer_norm_backward(weights ? back.device() : none, of_w.device(), of_b.device(),
                                   dy.device(), x.device(), mean_there.array, rstd_there.array,
                                   weights ? w.device() : none);
          CHECK(of_w.difference(dw.array, 3 * close, close) == "");
          CHECK(of_b.difference(db.array, 3 * close, close) == "");
          if (!weights) return;
          // Two values always lie at μ ± σ: dx is what the terms leave when they cancel.
          CHECK(back.difference(dx.array, close * (n == 2 ? 100 : 3), close) == "");
        });
      }
    }
}

TEST_CASE("cuda layer_norm: a large mean takes nothing from the result") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(3);
  const Shape shape{4, 300}, one{4, 1};
  const Input x(*device, f32, shape, {}, normal(random, 1e4, 1));
  Buffer y(f32, shape), mean(f32, one), rstd(f32, one);
  specified().layer_norm(y.array, mean.array, rstd.array, x.host(), {}, {}, 1e-5);
  Output norm(*device, f32, shape), mu(*device, f32, one), r(*device, f32, one);
  kernels(*device).layer_norm(norm.device(), mu.device(), r.device(), x.device(), {}, {}, 1e-5);
  CHECK(r.difference(rstd.array, 0, 1e-6) == "");
  CHECK(norm.difference(y.array, 1e-6, 1e-6) == "");
}
