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

double tolerance(DType dtype) { return dtype == f32 ? 3e-6 : 1e-13; }

struct Rows {
  Shape shape;
  int dim;
};
std::vector<Rows> examples() {
  std::vector<Rows> rows;
  for (std::int64_t n : {1, 2, 3, 7, 8, 15, 16, 17, 20, 31, 33, 64, 131})
    rows.push_back({{5, n}, 1});
  rows.push_back({{3, 21, 4}, 1});
  rows.push_back({{17, 6}, 0});
  rows.push_back({{2, 5893}, 1});
  rows.push_back({{300, 128}, 1});
  rows.push_back({{40, 1, 70, 17}, 3});  // 2,800 rows: runs of 70, and two blocks or chunks
  return rows;
}

}  // namespace

TEST_CASE("softmax and its backward: every tail, dimension and layout") {
  Generator random(1);
  for (DType dtype : {f32, f64})
    for (const Rows& rows : examples())
      for (bool log : {false, true}) {
        const Shape& shape = rows.shape;
        const int dim = rows.dim;
        CAPTURE(shape.str());
        CAPTURE(log);
        const int rank = shape.rank();
        const double close = tolerance(dtype);
        Buffer x(dtype, shape, any_layout(random, rank, true));
        fill_normal(random, x.array, 3, 5);
        Buffer y(dtype, shape, any_layout(random, rank, false)), y2(dtype, shape);
        fast().softmax(y.array, x.array, dim, log);
        specified().softmax(y2.array, x.array, dim, log);
        CHECK(difference(y.array, y2.array, close * (log ? 5 : 0.2), close) == "");
        CHECK(y.intact());

        Buffer dy(dtype, shape, any_layout(random, rank, true));
        fill_normal(random, dy.array);
        Buffer dx(dtype, shape, any_layout(random, rank, false)), dx2(dtype, shape);
        fast().softmax_backward(dx.array, y2.array, dy.array, dim, log);
        specified().softmax_backward(dx2.array, y2.array, dy.array, dim, log);
        CHECK(difference(dx.array, dx2.array, 3 * close * std::sqrt(double(shape[dim])), close) ==
              "");
        CHECK(dx.intact());
      }
}

TEST_CASE("softmax: extreme rows") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<float>> rows{{1000, 1001, 999, 1000}, {-1000, -1001, -999, -1000},
                                             {-inf, 0, -inf, 1},      {-inf, -inf, -inf, -inf},
                                             {nan, 0, 1, 2},          {0, 1, 2, nan},
                                             {inf, 0, 1, 2},          {-200, 0, -150, -110},
                                             {3e38f, -3e38f, 0, 1}};
  for (const auto& row : rows)
    for (std::int64_t n : {4, 20})
      for (bool log : {false, true}) {
        Buffer x(f32, {n}), y(f32, {n}), y2(f32, {n});
        for (std::int64_t i = 0; i < n; ++i)
          x.array.as<float>()[i] = row[static_cast<std::size_t>(i % 4)];
        fast().softmax(y.array, x.array, 0, log);
        specified().softmax(y2.array, x.array, 0, log);
        CHECK(difference(y.array, y2.array, 1e-6, 1e-6) == "");
      }
}

TEST_CASE("layer_norm and its backward: every tail, layout, with and without weights") {
  Generator random(2);
  for (DType dtype : {f32, f64})
    for (const Rows& rows : examples()) {
      const Shape& shape = rows.shape;
      const int rank = shape.rank();
      const std::int64_t n = shape.back();
      Shape one = shape;
      one[rank - 1] = 1;
      for (bool weights : {false, true}) {
        CAPTURE(shape.str());
        CAPTURE(weights);
        const double close = 10 * tolerance(dtype);
        Buffer x(dtype, shape, any_layout(random, rank, true));
        fill_normal(random, x.array, 2, 3);
        Buffer w(dtype, {n}, {.step = 2}), b(dtype, {n});
        fill_normal(random, w.array);
        fill_normal(random, b.array);
        const Array wa = weights ? w.array : Array{}, ba = weights ? b.array : Array{};
        Buffer y(dtype, shape, any_layout(random, rank, false)), y2(dtype, shape);
        Buffer mean(dtype, one), mean2(dtype, one), rstd(dtype, one), rstd2(dtype, one);
        fast().layer_norm(y.array, mean.array, rstd.array, x.array, wa, ba, 1e-5);
        specified().layer_norm(y2.array, mean2.array, rstd2.array, x.array, wa, ba, 1e-5);
        CHECK(difference(mean.array, mean2.array, close, close) == "");
        CHECK(difference(rstd.array, rstd2.array, 0, close) == "");
        // One value, or all equal, leaves rounding alone, magnified by 1/sqrt(eps).
        const double noise = n == 1 || x.array.strides[rank - 1] == 0 ? 100 : 1;
        CHECK(difference(y.array, y2.array, close * noise, close) == "");
        CHECK(y.intact());

        if (noise > 1) continue;
        Buffer dy(dtype, shape, any_layout(random, rank, true));
        fill_normal(random, dy.array);
        const Layout layout = any_layout(random, rank, false);
        Buffer expected_dx(dtype, shape), expected_dw(dtype, {n}), expected_db(dtype, {n});
        specified().layer_norm_backward(expected_dx.array, expected_dw.array, expected_db.array,
                                        dy.array, x.array, mean2.array, rstd2.array, wa);
        for (bool dx_wanted : {true, false})
          for (bool sums_wanted : {true, false}) {
            Buffer dx(dtype, shape, layout), dw(dtype, {n}), db(dtype, {n});
            auto where = [](bool wanted, const Buffer& buffer) {
              return wanted ? buffer.array : Array{};
            };
            fast().layer_norm_backward(where(dx_wanted, dx), where(sums_wanted, dw),
                                       where(sums_wanted, db), dy.array, x.array, mean2.array,
                                       rstd2.array, wa);
            // Two values always lie at μ ± σ: dx is what the terms leave when they cancel.
            if (dx_wanted)
              CHECK(difference(dx.array, expected_dx.array, close * (n == 2 ? 100 : 3), close) ==
                    "");
            if (sums_wanted) {
              CHECK(difference(dw.array, expected_dw.array, 3 * close, close) == "");
              CHECK(difference(db.array, expected_db.array, 3 * close, close) == "");
            }
            CHECK(dx.intact());
            CHECK(dw.intact());
            CHECK(db.intact());
          }
      }
    }
}

TEST_CASE("log_sum_exp and cross_entropy_backward: every tail, dimension and layout") {
  Generator random(6);
  for (DType dtype : {f32, f64})
    for (const Rows& rows : examples()) {
      const Shape& shape = rows.shape;
      CAPTURE(shape.str());
      const int rank = shape.rank();
      const double close = tolerance(dtype);
      Buffer x(dtype, shape, any_layout(random, rank, true));
      fill_normal(random, x.array, 3, 5);
      const Shape one = without(shape, rows.dim);
      Shape two = shape;
      two[rows.dim] = 2;
      Buffer z(dtype, two, any_layout(random, rank, false)), z2(dtype, two);
      fast().log_sum_exp(z.array, x.array, rows.dim);
      specified().log_sum_exp(z2.array, x.array, rows.dim);
      CHECK(difference(z.array, z2.array, close, close) == "");
      CHECK(z.intact());

      Buffer target(i64, one), s(dtype, one);
      fill_whole(random, target.array, 0, shape[rows.dim] - 1);
      fill_whole(random, s.array, 0, 2);  // zeros among them: rows that are ignored
      Buffer dx(dtype, shape, any_layout(random, rank, false)), dx2(dtype, shape);
      fast().cross_entropy_backward(dx.array, x.array, z2.array, target.array, s.array, rows.dim);
      specified().cross_entropy_backward(dx2.array, x.array, z2.array, target.array, s.array,
                                         rows.dim);
      CHECK(difference(dx.array, dx2.array, close, 10 * close) == "");
      CHECK(dx.intact());
    }
}

TEST_CASE("log_sum_exp: extreme rows") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t n : {5, 40, 300})
    for (const Kernels* k : {&fast(), &specified()}) {
      Buffer x(f32, {5, n}), z(f32, {5, 2});
      float* const p = x.array.as<float>();
      const float fill[] = {-inf, 1e30f, 0, 0, -1e30f};
      for (std::int64_t i = 0; i < 5 * n; ++i) p[i] = fill[i / n];
      p[2 * n + 1] = inf;
      p[3 * n + n - 1] = nan;
      k->log_sum_exp(z.array, x.array, 1);
      const std::vector<float> got = values<float>(z.array);
      const auto log_n = static_cast<float>(std::log(double(n)));
      CHECK(got[0] == -inf);
      CHECK(got[1] == 0);
      CHECK(got[2] == 1e30f);
      CHECK(std::abs(got[3] - log_n) <= 1e-6f);
      CHECK(got[4] == inf);
      CHECK(got[5] == 0);
      CHECK(std::isnan(got[6]));
      CHECK(std::isnan(got[7]));
      CHECK(got[8] == -1e30f);
      CHECK(std::abs(got[9] - log_n) <= 1e-6f);
    }
}

TEST_CASE("layer_norm: a large mean takes nothing from the result") {
  Generator random(3);
  Buffer x(f32, {4, 300}), y(f32, {4, 300}), y2(f32, {4, 300});
  Buffer mean(f32, {4, 1}), rstd(f32, {4, 1}), mean2(f32, {4, 1}), rstd2(f32, {4, 1});
  fill_normal(random, x.array, 1e4, 1);
  fast().layer_norm(y.array, mean.array, rstd.array, x.array, {}, {}, 1e-5);
  specified().layer_norm(y2.array, mean2.array, rstd2.array, x.array, {}, {}, 1e-5);
  CHECK(difference(rstd.array, rstd2.array, 0, 1e-5) == "");
  CHECK(difference(y.array, y2.array, 1e-5, 1e-5) == "");
}

TEST_CASE("[threads] rows: the same bits for every number of threads") {
  const int before = num_threads();
  Generator random(4);
  Buffer x(f32, {3000, 37});
  fill_normal(random, x.array);
  std::vector<std::vector<float>> soft, norm;
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    Buffer y(f32, {3000, 37}), mean(f32, {3000, 1}), rstd(f32, {3000, 1});
    fast().softmax(y.array, x.array, 1, false);
    soft.push_back(values<float>(y.array));
    fast().layer_norm(y.array, mean.array, rstd.array, x.array, {}, {}, 1e-5);
    norm.push_back(values<float>(y.array));
  }
  CHECK(soft[0] == soft[1]);
  CHECK(soft[0] == soft[2]);
  CHECK(norm[0] == norm[1]);
  CHECK(norm[0] == norm[2]);
  set_num_threads(before);
}
