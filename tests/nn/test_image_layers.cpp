// Conv2d, BatchNorm2d and pooling; their draws are in test_init.cpp.

#include <doctest/doctest.h>

#include "engine/create.h"
#include "engine/ops.h"
#include "nn/batch_norm.h"
#include "nn/conv.h"
#include "nn/pool.h"
#include "tests/check_close.h"

using namespace labgrad;
using tests::bit_difference;
using tests::difference;

TEST_CASE("Conv2d: shapes, names, and what it says of itself") {
  nn::Conv2d conv(4, 6, {3, 2}, {.stride = {2, 1}, .padding = {1, 0}, .groups = 2});
  CHECK(conv.weight.shape() == Shape{6, 2, 3, 2});
  CHECK(conv.named_parameters()[1].first == "bias");
  CHECK(conv.parameter_count() == 6 * 2 * 3 * 2 + 6);
  const Tensor x = ones({2, 4, 5, 7});
  CHECK(conv(x).shape() == Shape{2, 6, 3, 6});
  CHECK(bit_difference(conv(x), conv2d(x, conv.weight, conv.bias,
                                       {.stride = {2, 1}, .padding = {1, 0}, .groups = 2})) == "");
  CHECK(conv.str().find("in=4, out=6, kernel=3x2") != std::string::npos);
  CHECK_THROWS_WITH_AS(nn::Conv2d(4, 6, 3, {.groups = 4}), doctest::Contains("4 groups"), Error);
}

TEST_CASE("BatchNorm2d: trains on the batch's statistics, evaluates on the running ones") {
  Generator generator(11);
  nn::BatchNorm2d norm(3);
  CHECK(norm.parameter_count() == 6);
  CHECK(norm.named_buffers().size() == 2);
  CHECK(norm.state_dict().size() == 4);
  const Tensor x = randn({4, 3, 5, 6}, generator) * 3 + 2;
  const Tensor y = norm(x);
  CHECK(difference(mean(y, {0, 2, 3}), zeros({3}), {.atol = 1e-5, .vacuous = true}) == "");
  CHECK(difference(norm.running_mean, mean(x, {0, 2, 3}) * 0.1, {.rtol = 1e-5}) == "");
  CHECK(difference(norm.running_var, var(x, {0, 2, 3}) * 0.1 + 0.9, {.rtol = 1e-5}) == "");
  const Tensor before = clone(norm.running_mean);
  {
    nn::Evaluating guard(norm);
    const Tensor single = slice(x, 0, 0, 1);
    const Tensor want = (single - reshape(norm.running_mean, {3, 1, 1})) *
                        rsqrt(reshape(norm.running_var, {3, 1, 1}) + 1e-5);
    CHECK(difference(norm(single), want, {.rtol = 1e-5, .atol = 1e-5}) == "");
  }
  CHECK(bit_difference(norm.running_mean, before) == "");
  CHECK_THROWS_WITH_AS(norm(ones({1, 3, 1, 1})), doctest::Contains("1 values in a channel"), Error);
  CHECK_THROWS_WITH_AS(norm(ones({2, 3})), doctest::Contains("needs images"), Error);
}

TEST_CASE("BatchNormReLUMaxPool2d: the three layers, with BatchNorm2d's names") {
  Generator generator(13);
  nn::BatchNormReLUMaxPool2d one(3, 2, {.momentum = 0.3});
  nn::BatchNorm2d norm(3, {.momentum = 0.3});
  for (nn::BatchNorm2d* n : {static_cast<nn::BatchNorm2d*>(&one), &norm}) {
    n->weight = tensor({1.5, -1.0, 0.5});
    n->bias = tensor({0.1, 0.2, -0.3});
  }
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(one.state_dict()[i].first == norm.state_dict()[i].first);
  const Tensor x = randn({4, 3, 5, 7}, generator) * 2 + 1;
  for (bool training : {true, false}) {
    one.train(training);
    norm.train(training);
    CHECK(difference(one(x), max_pool2d(relu(norm(x)), 2), {.rtol = 1e-5, .atol = 1e-6}) == "");
    CHECK(bit_difference(one.running_mean, norm.running_mean) == "");
    CHECK(bit_difference(one.running_var, norm.running_var) == "");
  }
  CHECK(one.details() == "channels=3, eps=1e-05, momentum=0.3, window=2x2");
}

TEST_CASE("pooling layers call their ops") {
  Generator generator(12);
  const Tensor x = randn({1, 2, 6, 8}, generator);
  CHECK(bit_difference(nn::MaxPool2d(2)(x), max_pool2d(x, 2)) == "");
  CHECK(bit_difference(nn::AvgPool2d({2, 4})(x), avg_pool2d(x, {2, 4})) == "");
  CHECK(bit_difference(nn::AdaptiveAvgPool2d(1)(x), adaptive_avg_pool2d(x, 1)) == "");
  CHECK(nn::MaxPool2d(3, {.stride = 2, .padding = 1}).details() ==
        "kernel=3x3, stride=2x2, padding=1x1");
  CHECK(nn::AdaptiveAvgPool2d({1, 2}).details() == "size=1x2");
}
