#include "engine/ops/pool.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/backward.h"
#include "engine/create.h"
#include "engine/ops.h"
#include "tests/check_close.h"
#include "tests/engine/ops/golden_ops.h"

using namespace labgrad;
using tests::check_golden;
using tests::check_golden_outputs;
using tests::difference;
using tests::golden_plane;
using tests::Named;

TEST_CASE("max_pool2d: golden values, indices and gradients") {
  const auto run = [](const Json& attrs, Named& in) {
    const Extremes y = max_pool2d_with_indices(in["x"], golden_plane(attrs.at("kernel_size")),
                                               {.stride = golden_plane(attrs.at("stride")),
                                                .padding = golden_plane(attrs.at("padding")),
                                                .dilation = golden_plane(attrs.at("dilation")),
                                                .ceil_mode = attrs.at("ceil_mode").as_bool()});
    return Named{{"out", y.values}, {"indices", y.indices}};
  };
  CHECK(check_golden_outputs("max_pool2d", run) == 4);
}

TEST_CASE("avg_pool2d: golden values and gradients") {
  const auto run = [](const Json& attrs, Named& in) {
    return avg_pool2d(in["x"], golden_plane(attrs.at("kernel_size")),
                      {.stride = golden_plane(attrs.at("stride")),
                       .padding = golden_plane(attrs.at("padding")),
                       .ceil_mode = attrs.at("ceil_mode").as_bool(),
                       .count_include_pad = attrs.at("count_include_pad").as_bool()});
  };
  CHECK(check_golden("avg_pool2d", run) == 3);
}

TEST_CASE("max_pool2d: the first of equal values gets the gradient, padding never, NaN wins") {
  Tensor x = full({1, 1, 2, 4}, -1.0, {.requires_grad = true});
  const Extremes y = max_pool2d_with_indices(x, 2);
  CHECK(y.indices.to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 2});
  sum(y.values).backward();
  CHECK(x.grad().to_vector() == std::vector<double>{1, 0, 1, 0, 0, 0, 0, 0});
  // All below 0, the padding would be larger.
  const Tensor padded = max_pool2d(x.detach(), 2, {.padding = 1});
  for (double v : padded.to_vector()) CHECK(v == -1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor odd =
      from_values(std::vector<double>{1, nan, inf, 2, -inf, -inf, -inf, -inf}, {1, 1, 2, 4});
  const Extremes z = max_pool2d_with_indices(odd, {1, 2});
  CHECK(std::isnan(z.values.at({0, 0, 0, 0})));
  CHECK(z.values.at({0, 0, 0, 1}) == inf);
  CHECK(z.values.at({0, 0, 1, 0}) == -inf);
  CHECK(z.indices.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 2, 4, 6});
}

TEST_CASE("pooling: ceil_mode keeps a last window only if it starts on the image or its padding") {
  const Tensor x = ones({1, 1, 5, 5});
  CHECK(max_pool2d(x, 2).shape() == Shape{1, 1, 2, 2});
  CHECK(max_pool2d(x, 2, {.ceil_mode = true}).shape() == Shape{1, 1, 3, 3});
  // Starts at 6 = size + padding: dropped, as PyTorch drops it.
  CHECK(max_pool2d(x, 2, {.stride = 3, .padding = 1, .ceil_mode = true}).shape() ==
        Shape{1, 1, 2, 2});
  const Tensor y = avg_pool2d(x, 2, {.ceil_mode = true});
  for (double v : y.to_vector()) CHECK(v == 1);  // the divisor counts what is there
}

TEST_CASE("max_pool2d: the recorded backward is the fused one") {
  Generator generator(7);
  const Tensor x = randn({2, 3, 7, 9}, generator, {.dtype = f64, .requires_grad = true});
  const Tensor y = max_pool2d(x, 3, {.stride = 2, .padding = 1});
  const Tensor dy = randn(y.shape(), generator, {.dtype = f64});
  const Tensor fused = grad({y}, {x}, {dy}, {.retain_graph = true});
  const Tensor recorded = grad({y}, {x}, {dy}, {.create_graph = true});
  CHECK(difference(fused, recorded) == "");
}

TEST_CASE("adaptive_avg_pool2d: even and uneven windows") {
  const Tensor x = reshape(arange(10.0), {1, 1, 2, 5});
  CHECK(adaptive_avg_pool2d(x, 1).item() == 4.5);
  // Rows of 5 in 2: the windows 0..3 and 2..5 overlap.
  CHECK(adaptive_avg_pool2d(x, {2, 2}).to_vector() == std::vector<double>{1, 3, 6, 8});
  CHECK(adaptive_avg_pool2d(x, {4, 5}).shape() == Shape{1, 1, 4, 5});
}

TEST_CASE("pooling: errors") {
  const Tensor x = zeros({1, 1, 4, 4});
  const auto complains = [](auto f, const char* text) {
    CHECK_THROWS_WITH_AS(f(), doctest::Contains(text), Error);
  };
  complains([&] { return max_pool2d(zeros({4, 4}), 2); }, "max_pool2d: needs images (N, C, H, W)");
  complains([&] { return avg_pool2d(zeros({1, 1, 4, 4}, {.dtype = i64}), 2); }, "got i64");
  complains([&] { return max_pool2d(x, 5); }, "a window of 5 does not fit in dimension 2");
  complains([&] { return max_pool2d(x, 2, {.padding = 2}); }, "half the kernel");
  complains([&] { return max_pool2d(x, 0); }, "at least 1");
  complains(
      [&] {
        return max_pool2d(zeros({1, 1, 1, 4}), 2, {.stride = 1, .padding = 1, .dilation = 2});
      },
      "nothing but padding");
  complains([&] { return adaptive_avg_pool2d(x, 0); }, "adaptive_avg_pool2d: cannot make");
  complains(
      [&] {
        return avg_pool2d_gradient({1, 1, 4, 4}, zeros({1, 1, 3, 2}), 2);
      },
      "dy has shape (1, 1, 3, 2), expected (1, 1, 2, 2)");
}
