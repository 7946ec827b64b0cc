#include "engine/tensor.h"

#include <doctest/doctest.h>

#include <sstream>

#include "engine/engine.h"
#include "tests/check_close.h"

using namespace labgrad;
using labgrad::tests::difference;

namespace {

Tensor counting(const Shape& shape, DType dtype = f32) {
  return to(reshape(arange(shape.numel()), shape), dtype);
}

}  // namespace

TEST_CASE("a tensor knows its shape, dtype and layout") {
  const Tensor x = counting({2, 3});
  CHECK(x.rank() == 2);
  CHECK(x.numel() == 6);
  CHECK(x.size(-1) == 3);
  CHECK(x.strides() == Strides{3, 1});
  CHECK(x.is_contiguous());
  CHECK(x.dtype() == f32);
  CHECK(x.offset() == 0);
  CHECK_FALSE(transpose(x).is_contiguous());
  CHECK_THROWS_WITH_AS(x.size(2), doctest::Contains("size"), Error);
  CHECK_FALSE(Tensor().defined());
  CHECK_THROWS_WITH_AS(Tensor().shape(), doctest::Contains("undefined"), Error);
}

TEST_CASE("copies of a handle and views share one storage") {
  Tensor x = counting({2, 3});
  const Tensor same = x, row = select(x, 0, 1), column = select(x, 1, 2);
  CHECK(same.shares_storage(x));
  CHECK(row.offset() == 3);
  CHECK(column.strides() == Strides{3});
  x.fill_(7);
  CHECK(row.at({0}) == 7);
  Tensor written = column;
  written.zero_();
  CHECK(difference(x, {7, 7, 0, 7, 7, 0}) == "");
  CHECK_FALSE(clone(x).shares_storage(x));
  CHECK_FALSE(Tensor().shares_storage(x));
}

TEST_CASE("item, at, span and to_vector read elements, or say why not") {
  const Tensor x = counting({2, 3});
  CHECK(x.at({1, -1}) == 5);
  CHECK(select(select(x, 0, 1), 0, 1).item<int>() == 4);
  CHECK(reshape(slice(counting({9}), 0, 8), {1, 1}).item() == 8);
  CHECK(to(x, Device::cpu).span<float>()[4] == 4.0F);
  CHECK(transpose(x).to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 3, 1, 4, 2, 5});

  CHECK_THROWS_WITH_AS(x.item(),
                       doctest::Contains("item: needs a tensor of one element, got f32 "
                                         "(2, 3)"),
                       Error);
  CHECK_THROWS_WITH_AS(x.at({1}), doctest::Contains("1 indices for a tensor of shape (2, 3)"),
                       Error);
  CHECK_THROWS_WITH_AS(x.at({0, 3}), doctest::Contains("index 3 is out of range at dimension 1"),
                       Error);
  CHECK_THROWS_AS(x.at({-3, 0}), Error);
  CHECK_THROWS_WITH_AS(x.span<double>(), doctest::Contains("asked for f64, the tensor is f32"),
                       Error);
  CHECK_THROWS_WITH_AS(transpose(x).span<float>(), doctest::Contains("not contiguous"), Error);
  if (!in_host_memory(x.device()))
    CHECK_THROWS_WITH_AS(x.span<float>(),
                         doctest::Contains("use to_vector(), or to(x, Device::cpu)"), Error);
}

TEST_CASE("in-place ops change the storage and count versions") {
  Tensor x = counting({2, 3});
  CHECK(x.version() == transpose(x).version());
  const std::uint32_t before = x.version();
  x.add_(1).mul_(2).sub_(counting({3})).div_(full({}, 2.0));
  CHECK(difference(x, {1, 1.5, 2, 4, 4.5, 5}) == "");
  CHECK(x.version() == before + 4);
  CHECK(transpose(x).version() == x.version());
  x.add_(ones({2, 3}), -0.5);
  CHECK(difference(x, {0.5, 1, 1.5, 3.5, 4, 4.5}) == "");
  transpose(x).copy_(counting({3, 2}));
  CHECK(difference(x, {0, 2, 4, 1, 3, 5}) == "");
  Tensor on_host = to(x, Device::cpu);
  on_host.writable_span<float>()[0] = 9;
  CHECK(on_host.at({0, 0}) == 9);

  // Source and target overlap.
  Tensor y = counting({5});
  slice(y, 0, 1).copy_(slice(y, 0, 0, 4));
  CHECK(difference(y, {0, 0, 1, 2, 3}) == "");
  Tensor square = counting({2, 2});
  square.add_(transpose(square));
  CHECK(difference(square, {0, 3, 3, 6}) == "");
  Tensor running = counting({200});
  slice(running, 0, 1).add_(slice(running, 0, 0, 199));
  CHECK(difference(running, counting({200}) + maximum(counting({200}) - 1, zeros({200}))) == "");

  Tensor n = tensor({5, 7});
  n.add_(2);
  CHECK(n.dtype() == i64);
  n.fill_(std::int64_t{9007199254740993});
  CHECK(n.to_vector<std::int64_t>()[0] == 9007199254740993);
}

TEST_CASE("in-place ops refuse what they cannot do") {
  Tensor x = counting({2, 3}), n = tensor({1, 2, 3});
  CHECK_THROWS_WITH_AS(n.add_(tensor({0.5, 0.5, 0.5})),
                       doctest::Contains("f32 does not fit into i64"), Error);
  CHECK_THROWS_WITH_AS(n.mul_(0.5), doctest::Contains("f32 does not fit into i64"), Error);
  CHECK_THROWS_WITH_AS(n.div_(tensor({1, 1, 1})), doctest::Contains("floating dtype"), Error);
  CHECK_THROWS_WITH_AS(select(x, 0, 0).add_(x), doctest::Contains("an in-place op keeps its shape"),
                       Error);
  CHECK_THROWS_WITH_AS(x.copy_(counting({4})), doctest::Contains("copy_: shape (4,)"), Error);
  CHECK_THROWS_WITH_AS(expand(tensor({1.0}), {3}).add_(1), doctest::Contains("repeated"), Error);
  CHECK(difference(n, {1, 2, 3}) == "");

  Tensor w = counting({3}).requires_grad_();
  CHECK_THROWS_WITH_AS(w.add_(1), doctest::Contains("leaf that requires a gradient"), Error);
  Tensor y = w * 2;
  CHECK_THROWS_WITH_AS(y.zero_(), doctest::Contains("the result of 'mul'"), Error);
  CHECK_THROWS_WITH_AS(x.copy_(w), doctest::Contains("other operand requires a gradient"), Error);
  CHECK_THROWS_AS(w.writable_span<float>(), Error);
  {
    NoGrad no_grad;
    w.add_(1);
  }
  CHECK(difference(w, {1, 2, 3}) == "");
}

TEST_CASE("requires_grad_ and detach_ say what they need") {
  CHECK_THROWS_WITH_AS(tensor({1, 2}).requires_grad_(),
                       doctest::Contains("only f32 and f64 tensors have gradients, got i64 (2,)"),
                       Error);
  Tensor x = tensor({1.0, 2.0}).requires_grad_();
  CHECK(x.is_leaf());
  Tensor y = x * x;
  CHECK(y.requires_grad());
  CHECK_FALSE(y.is_leaf());
  CHECK(std::string(y.grad_fn()) == "mul");
  CHECK_THROWS_WITH_AS(y.requires_grad_(false), doctest::Contains("use detach()"), Error);
  CHECK_FALSE((x < 1.5).requires_grad());
  CHECK_FALSE(to(x, i64).requires_grad());

  const Tensor d = y.detach();
  CHECK(d.is_leaf());
  CHECK_FALSE(d.requires_grad());
  CHECK(d.shares_storage(y));
  x.requires_grad_(false);
  CHECK_FALSE((x * 2).requires_grad());
}

TEST_CASE("grad, set_grad and zero_grad") {
  Tensor x = tensor({1.0, 2.0}).requires_grad_();
  CHECK_FALSE(x.grad().defined());
  x.set_grad(tensor({3.0, 4.0}));
  CHECK(x.grad().at({1}) == 4);
  CHECK_THROWS_WITH_AS(x.set_grad(tensor({1.0})), doctest::Contains("the gradient is f32 (1,)"),
                       Error);
  CHECK_THROWS_AS(x.set_grad(tensor({1.0, 2.0}, {.dtype = f64})), Error);
  CHECK_THROWS_WITH_AS(Tensor().set_grad(Tensor()), doctest::Contains("undefined"), Error);
  x.zero_grad();
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("printing: values in columns, then what the tensor is") {
  CHECK(counting({2, 3}).str() == "[[0., 1., 2.],\n [3., 4., 5.]]\nshape=(2, 3), dtype=f32");
  CHECK((counting({3}) - 0.5).str() == "[-0.5000,  0.5000,  1.5000]  shape=(3,), dtype=f32");
  CHECK(tensor({-1, 20}).str() == "[-1, 20]  shape=(2,), dtype=i64");
  CHECK((counting({3}) < 1).str() == "[ true, false, false]  shape=(3,), dtype=bool");
  CHECK(tensor({INFINITY, -INFINITY, NAN, 1.0}).str() ==
        "[ inf, -inf,  nan,   1.]  shape=(4,), dtype=f32");
  CHECK(tensor({1e-5, 1.0}).str() == "[1.0000e-05, 1.0000e+00]  shape=(2,), dtype=f32");
  CHECK(tensor(2.5, {.dtype = f64}).str() == "2.5000  shape=(), dtype=f64");
  CHECK(zeros({0, 2}).str() == "[]  shape=(0, 2), dtype=f32");
  CHECK(Tensor().str() == "undefined");
  CHECK(reshape(counting({4}), {2, 2, 1}).str() ==
        "[[[0.],\n  [1.]],\n\n [[2.],\n  [3.]]]\nshape=(2, 2, 1), dtype=f32");
  Tensor w = tensor({1.0, 2.0}).requires_grad_();
  CHECK(w.str() == "[1., 2.]  shape=(2,), dtype=f32, requires_grad=true");
  CHECK((w * 2).str() == "[2., 4.]  shape=(2,), dtype=f32, grad_fn=<mul>");
  CHECK(tensor({std::int64_t{9007199254740993}}).str() ==
        "[9007199254740993]  shape=(1,), dtype=i64");
  std::ostringstream out;
  out << w;
  CHECK(out.str() == w.str());
}

TEST_CASE("printing: long lines are broken and large tensors summarised") {
  CHECK(counting({1001}, i64).str() ==
        "[   0,    1,    2, ...,  998,  999, 1000]  shape=(1001,), dtype=i64");
  CHECK(
      counting({400, 4}, i64).str() ==
      "[[   0,    1,    2,    3],\n [   4,    5,    6,    7],\n [   8,    9,   10,   11],\n ...,\n"
      " [1588, 1589, 1590, 1591],\n [1592, 1593, 1594, 1595],\n [1596, 1597, 1598, 1599]]\n"
      "shape=(400, 4), dtype=i64");
  std::istringstream lines(counting({1000}, i64).str());
  std::int64_t rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) CHECK(line.size() <= 80);
  CHECK(rows == 63 + 1);  // 16 numbers of 3 digits, with comma and space, fill 80 columns
}
