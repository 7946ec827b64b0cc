// batch_norm_relu_max_pool2d is the three ops that it stands for, in all that can be seen.

#include "engine/ops/norm_relu_pool.h"

#include <doctest/doctest.h>

#include <limits>

#include "engine/backward.h"
#include "engine/cpu/threads.h"
#include "engine/create.h"
#include "engine/ops.h"
#include "tests/check_close.h"

using namespace labgrad;
using tests::bit_difference;
using tests::difference;

namespace {

struct Setting {
  Tensor x, w, b, mean, var;

  Setting(const Shape& shape, DType dtype, bool side_by_side) {
    Generator generator(21);
    const Shape channels{shape[1]};
    const TensorOptions o{.dtype = dtype};
    x = randn(shape, generator, o) * 2.0 + 0.5;
    if (side_by_side) x = permute(packed(permute(x, {0, 2, 3, 1})), {0, 3, 1, 2});
    w = randn(channels, generator, o), b = randn(channels, generator, o);
    mean = randn(channels, generator, o), var = rand(channels, generator, o) + 0.5;
    for (Tensor* t : {&x, &w, &b}) t->requires_grad_();
  }
  Tensor fused(Plane window, BatchNormOptions o) {
    return batch_norm_relu_max_pool2d(x, mean, var, w, b, window, o);
  }
  Tensor composed(Plane window, BatchNormOptions o) {
    return max_pool2d(relu(batch_norm(x, mean, var, w, b, o)), window);
  }
};

void check_same(const Shape& shape, Plane window, DType dtype, bool training, bool side_by_side) {
  Setting one(shape, dtype, side_by_side), other(shape, dtype, side_by_side);
  const BatchNormOptions o{.training = training, .momentum = 0.3};
  const Tensor y = one.fused(window, o), want = other.composed(window, o);
  // The same bits only where a compiler fuses the same multiplications with additions in both.
  const double close = dtype == f32 ? 1e-5 : 1e-12;
  CHECK(difference(y, want, {.rtol = close, .atol = close}) == "");
  CHECK(bit_difference(one.mean, other.mean) == "");
  CHECK(bit_difference(one.var, other.var) == "");
  Generator generator(22);
  const Tensor dy = randn(y.shape(), generator, {.dtype = dtype});
  const Tensors got = grad({y}, {one.x, one.w, one.b}, {dy});
  const Tensors expected = grad({want}, {other.x, other.w, other.b}, {dy});
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(difference(got[i], expected[i], {.rtol = close, .atol = 10 * close}) == "");
}

}  // namespace

TEST_CASE("batch_norm_relu_max_pool2d: values, gradients and statistics of the three ops") {
  const std::vector<std::pair<Shape, Plane>> cases{
      {{3, 5, 6, 8}, 2},       {{2, 32, 7, 9}, 2},     {{2, 64, 3, 5}, 2},  {{4, 70, 5, 4}, 2},
      {{2, 17, 7, 8}, {3, 2}}, {{3, 2, 4, 7}, {1, 3}}, {{5, 130, 2, 2}, 2}, {{2, 1, 4, 4}, 1}};
  for (const auto& [x_shape, x_window] : cases) {
    const Shape shape = x_shape;
    const Plane window = x_window;
    CAPTURE(shape.str());
    for (DType dtype : {f32, f64})
      for (bool training : {true, false})
        for (bool side_by_side : {true, false})
          check_same(shape, window, dtype, training, side_by_side);
  }
}

TEST_CASE("batch_norm_relu_max_pool2d: the recorded backward is the fused one") {
  for (bool training : {true, false}) {
    Setting s({3, 4, 5, 6}, f64, true);
    const Tensor x = s.x * 1.0;  // not a leaf: w is in its history, too
    const Tensor before = x * reshape(s.w, {4, 1, 1});
    const Tensor y = batch_norm_relu_max_pool2d(before, training ? Tensor() : s.mean,
                                                training ? Tensor() : s.var, s.w, s.b, 2,
                                                {.training = training});
    Generator generator(23);
    const Tensor dy = randn(y.shape(), generator, {.dtype = f64});
    const Tensors fused = grad({y}, {s.x, s.w, s.b}, {dy}, {.retain_graph = true});
    const Tensors recorded = grad({y}, {s.x, s.w, s.b}, {dy}, {.create_graph = true});
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(difference(fused[i], recorded[i]) == "");
      CHECK(recorded[i].requires_grad() == (i < 2));  // db is linear in dy alone
    }
  }
}

TEST_CASE("batch_norm_relu_max_pool2d: ties, windows of zeros, NaN") {
  const Tensor mean = zeros({1}), var = ones({1}), w = ones({1}), b = zeros({1});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // Windows: two equal maxima; nothing above 0; all 0; a NaN.
  const Tensor x = reshape(tensor({1.0, 3.0, -1.0, -2.0, 0.0, 0.0, 5.0, nan,  //
                                   3.0, 2.0, -3.0, -1.0, 0.0, 0.0, 6.0, 7.0}),
                           {1, 1, 2, 8})
                       .requires_grad_();
  const Tensor y = batch_norm_relu_max_pool2d(x, mean, var, w, b, 2, {.eps = 0});
  CHECK(difference(y, reshape(tensor({3.0, 0.0, 0.0, nan}), {1, 1, 1, 4}), {.equal_nan = true}) ==
        "");
  const Tensor dx = grad(y, x, reshape(tensor({1.0, 2.0, 3.0, 4.0}), {1, 1, 1, 4}));
  CHECK(dx.to_vector() == std::vector<double>{0, 1, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("batch_norm_relu_max_pool2d: errors") {
  const auto complains = [](auto f, const char* message) {
    CHECK_THROWS_WITH_AS(f(), doctest::Contains(message), Error);
  };
  const Tensor x = ones({2, 3, 4, 4}), c = ones({3});
  complains([&] { return batch_norm_relu_max_pool2d(x, c, c, c, c, 5); },
            "batch_norm_relu_max_pool2d: a window of 5 does not fit");
  complains([&] { return batch_norm_relu_max_pool2d(x, {}, {}, c, c, 2); },
            "batch_norm_relu_max_pool2d: evaluation needs running_mean");
  complains([&] { return batch_norm_relu_max_pool2d(x, c, c, ones({2}), c, 2); },
            "batch_norm_relu_max_pool2d: weight is f32 (2,)");
  Setting s({2, 3, 4, 4}, f32, true);
  const Tensor z = s.x * 1.0;
  const Tensor y = batch_norm_relu_max_pool2d(z, s.mean, s.var, s.w, s.b, 2, {.training = true});
  Tensor(z.detach()).add_(1.0);
  complains([&] { sum(y).backward(); }, "has been changed in place");
}

TEST_CASE("batch_norm_relu_max_pool2d: the same bits for any number of threads [threads]") {
  const int before = num_threads();
  const auto all = [](int threads) {
    set_num_threads(threads);
    Setting s({16, 33, 15, 40}, f32, true);
    const Tensor y = s.fused(2, {.training = true});
    Tensors results = grad({y}, {s.x, s.w, s.b}, {y.detach()});
    results.push_back(y.detach());
    return results;
  };
  const Tensors alone = all(1);
  for (int threads : {2, 3, 8})
    for (std::size_t i = 0; const Tensor& got : all(threads))
      CHECK(bit_difference(got, alone[i++]) == "");
  set_num_threads(before);
}
