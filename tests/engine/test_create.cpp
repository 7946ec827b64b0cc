#include <doctest/doctest.h>

#include <limits>

#include "engine/engine.h"
#include "tests/check_close.h"

using namespace labgrad;
using tests::bit_difference;
using tests::difference;

TEST_CASE("zeros, ones, full and their likes") {
  CHECK(zeros({2, 3}).dtype() == f32);
  CHECK(difference(ones({2, 3}, {.dtype = f64}), {1, 1, 1, 1, 1, 1}) == "");
  CHECK(full({2}, 7).dtype() == i64);
  CHECK(full({2}, 7.5).dtype() == f32);
  CHECK(full({2}, true).dtype() == boolean);
  CHECK(full({2}, 7, {.dtype = f32}).dtype() == f32);
  CHECK(zeros({3}, {.requires_grad = true}).requires_grad());
  const Tensor x = ones({2, 1}, {.dtype = f64, .device = Device::naive});
  CHECK(zeros_like(x).dtype() == f64);
  CHECK(full_like(x, 3).device() == Device::naive);
  CHECK(ones_like(x, {.dtype = i64}).dtype() == i64);
  CHECK_THROWS_WITH_AS(zeros({2, -1}), doctest::Contains("negative size in shape (2, -1)"), Error);
  CHECK_THROWS_WITH_AS(zeros({2}, {.dtype = i64, .requires_grad = true}),
                       doctest::Contains("only f32 and f64 tensors have gradients"), Error);
}

TEST_CASE("arange, linspace, eye") {
  CHECK(arange(4).dtype() == i64);
  CHECK(arange(4).to_vector() == std::vector<double>{0, 1, 2, 3});
  CHECK(arange(5, 0, -2).to_vector() == std::vector<double>{5, 3, 1});
  CHECK(arange(0, 1, 0.25).dtype() == f32);
  CHECK(difference(arange(0, 1, 0.25), {0, 0.25, 0.5, 0.75}) == "");
  CHECK(arange(3, {.dtype = f64}).dtype() == f64);
  CHECK(arange(3, 3).shape() == Shape{0});
  CHECK_THROWS_WITH_AS(arange(0, 3, -1), doctest::Contains("arange: "), Error);
  CHECK_THROWS_WITH_AS(arange(0, 3, 0), doctest::Contains("the step must be non-zero"), Error);
  CHECK(difference(linspace(0, 1, 5), {0, 0.25, 0.5, 0.75, 1}) == "");
  CHECK(linspace(0.1, 0.7, 8, {.dtype = f64}).at({7}) == 0.7);
  CHECK(linspace(2, 3, 1).to_vector() == std::vector<double>{2});
  CHECK(difference(eye(2, 3), {1, 0, 0, 0, 1, 0}) == "");
  CHECK(difference(eye(3, 2), {1, 0, 0, 1, 0, 0}) == "");
  CHECK(eye(0).shape() == Shape{0, 0});
}

TEST_CASE("tensor: nested lists") {
  CHECK(tensor({{1, 2}, {3, 4}, {5, 6}}).shape() == Shape{3, 2});
  CHECK(tensor({{1, 2}, {3, 4}}).dtype() == i64);
  CHECK(tensor({1, 2.5}).dtype() == f32);
  CHECK(tensor({true, false}).dtype() == boolean);
  CHECK(tensor({true, 2}).dtype() == i64);
  CHECK(tensor({1, 2}, {.dtype = f64}).dtype() == f64);
  CHECK(tensor({{{1}}, {{2}}}).shape() == Shape{2, 1, 1});
  CHECK(tensor({{1, 2}}).shape() == Shape{1, 2});
  CHECK(tensor({{7}}).shape() == Shape{1, 1});
  CHECK(tensor(3).shape() == Shape{});
  CHECK(tensor({}).shape() == Shape{0});
  CHECK(tensor({{}, {}}).shape() == Shape{2, 0});
  CHECK(tensor({std::numeric_limits<std::int64_t>::max() - 1}).item<std::int64_t>() ==
        std::numeric_limits<std::int64_t>::max() - 1);
  CHECK(tensor({0.1}, {.dtype = f64}).item() == 0.1);
  CHECK_THROWS_WITH_AS(tensor({{1, 2}, {3}}),
                       doctest::Contains("tensor: the nested list is ragged: a part of shape (1,) "
                                         "stands beside one of shape (2,)"),
                       Error);
}

TEST_CASE("from_values: the C++ type decides the dtype") {
  const std::vector<float> values{1, 2, 3, 4};
  const Tensor x = from_values(values, {2, 2});
  CHECK(x.dtype() == f32);
  CHECK(x.at({1, 0}) == 3);
  CHECK(from_values(std::vector<double>{1}, {}).dtype() == f64);
  CHECK(from_values(std::vector<int>{1}, {1}).dtype() == i64);
  CHECK(from_values(std::vector<std::uint8_t>{255}, {1}).item() == 255);
  CHECK(from_values(std::vector<bool>{true, false}, {2}).dtype() == boolean);
  CHECK(from_values(values, {4}, {.dtype = f64}).dtype() == f64);
  CHECK_THROWS_WITH_AS(from_values(values, {3}),
                       doctest::Contains("from_values: 4 values for shape (3,)"), Error);
}

TEST_CASE("random tensors: the generator's draws in row-major order") {
  Generator a(5), b(5);
  std::vector<float> numbers(6);
  a.uniform(numbers);
  CHECK(bit_difference(rand({2, 3}, b), from_values(numbers, {2, 3})) == "");
  std::vector<double> normals(20);
  a.normal(normals);
  CHECK(bit_difference(randn({4, 5}, b, {.dtype = f64}), from_values(normals, {4, 5})) == "");
  std::vector<std::int64_t> whole(4);
  a.random_ints(whole, -2, 9);
  CHECK(randint(-2, 9, {4}, b).to_vector<std::int64_t>() == whole);
  CHECK(randperm(10, b).to_vector<std::int64_t>() == a.randperm(10));
  CHECK(randperm(3).dtype() == i64);
  CHECK_THROWS_AS(randint(3, 3, {2}), Error);
  CHECK_THROWS_WITH_AS(randn({2}, {.dtype = i64}), doctest::Contains("randn: needs a floating"),
                       Error);
  manual_seed(8);
  const Tensor first = randn({3});
  manual_seed(8);
  CHECK(bit_difference(randn({3}), first) == "");
}

TEST_CASE("uniform_ and normal_: fill in place, also through a view") {
  Generator a(6), b(6);
  Tensor x = zeros({2, 3}, {.dtype = f64});
  Tensor columns = transpose(x);
  uniform_(columns, -1, 1, a);
  Tensor y = zeros({3, 2}, {.dtype = f64});
  uniform_(y, -1, 1, b);
  CHECK(bit_difference(columns, y) == "");
  CHECK(bit_difference(transpose(x), y) == "");
  const auto before = y.version();
  normal_(y, 100, 0.001, a);
  CHECK(y.version() > before);
  CHECK(difference(y, full({3, 2}, 100), {.atol = 0.02}) == "");
  Tensor w = zeros({2}, {.requires_grad = true});
  CHECK_THROWS_WITH_AS(normal_(w, 0, 1), doctest::Contains("leaf that requires a gradient"), Error);
  NoGrad no_grad;
  CHECK_NOTHROW(normal_(w, 0, 1));
}
