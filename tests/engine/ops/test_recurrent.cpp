#include "engine/ops/recurrent.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "engine/cpu/threads.h"
#include "engine/engine.h"
#include "tests/check_close.h"
#include "tests/engine/arrays.h"

using namespace labgrad;

namespace {

struct Case {
  std::int64_t T, B, H;
  bool bias, masked, reverse;
};

struct Inputs {
  Tensor xs, h0, weight, bias, real;
};

Inputs inputs_of(const Case& c, DType dtype) {
  manual_seed(7);
  auto leaf = [&](const Shape& shape) {
    return (randn(shape, {.dtype = dtype}) * 0.7).detach().requires_grad_();
  };
  Inputs in{leaf({c.T, c.B, 3 * c.H}), leaf({c.B, c.H}), leaf({3 * c.H, c.H}), {}, {}};
  if (c.bias) in.bias = leaf({3 * c.H});
  if (c.masked) in.real = rand({c.T, c.B}) < 0.6;
  return in;
}

// Step by step, by the lines of gru_step.
Tensor by_steps(const Inputs& in, bool reverse) {
  const std::int64_t T = in.xs.size(0);
  Tensors states(static_cast<std::size_t>(T));
  Tensor h = in.h0;
  for (std::int64_t i = 0; i < T; ++i) {
    const std::int64_t t = reverse ? T - 1 - i : i;
    Tensor next = gru_step(select(in.xs, 0, t), h, in.weight, in.bias);
    if (in.real.defined()) next = where(unsqueeze(select(in.real, 0, t), 1), next, h);
    h = states[static_cast<std::size_t>(t)] = next;
  }
  return stack(states);
}

Tensors gradients(const Tensor& y, const Inputs& in) {
  const Tensor dy = reshape(linspace(-1, 1.5, y.numel(), {.dtype = y.dtype()}), y.shape());
  Tensors wanted{in.xs, in.h0, in.weight};
  if (in.bias.defined()) wanted.push_back(in.bias);
  return grad({y}, wanted, {dy});
}

}  // namespace

TEST_CASE("gru_states: the fused steps are the lines of gru_step, and so are the gradients") {
  for (const DType dtype : {f32, f64})
    for (const Case& c : {Case{1, 1, 1, true, false, false}, Case{1, 3, 5, false, false, true},
                          Case{4, 2, 3, true, false, false}, Case{4, 2, 3, true, true, true},
                          Case{5, 3, 17, true, true, false}, Case{3, 70, 64, true, false, true},
                          Case{7, 5, 33, false, true, true}}) {
      CAPTURE(c.T);
      CAPTURE(c.B);
      CAPTURE(c.H);
      const Inputs in = inputs_of(c, dtype);
      const Tensor fused = gru_states(in.xs, in.h0, in.weight, in.bias, {in.real, c.reverse});
      const Tensor lines = by_steps(in, c.reverse);
      const double close = dtype == f32 ? 3e-6 : 1e-13;
      CHECK(tests::difference(fused, lines, {.rtol = close, .atol = close}) == "");
      const Tensors a = gradients(fused, in), b = gradients(lines, in);
      for (std::size_t i = 0; i < a.size(); ++i) {
        CAPTURE(i);
        CHECK(tests::difference(a[i], b[i], {.rtol = 20 * close, .atol = 20 * close}) == "");
      }
      NoGrad no_grad;
      CHECK(tests::difference(gru_states(in.xs, in.h0, in.weight, in.bias, {in.real, c.reverse}),
                              fused, {.rtol = 0, .atol = 0}) == "");
    }
}

TEST_CASE("gru_states: only what is asked for has a gradient") {
  const Inputs in = inputs_of({3, 2, 4, true, false, false}, f64);
  const Tensors all = gradients(gru_states(in.xs, in.h0, in.weight, in.bias), in);
  Inputs some = in;
  some.xs = in.xs.detach();
  some.weight = in.weight.detach();
  const Tensor y = gru_states(some.xs, some.h0, some.weight, some.bias);
  const Tensor dy = reshape(linspace(-1, 1.5, y.numel(), {.dtype = f64}), y.shape());
  const Tensors got = grad({y}, {some.h0, some.bias}, {dy});
  CHECK(tests::difference(got[0], all[1]) == "");
  CHECK(tests::difference(got[1], all[3]) == "");
}

TEST_CASE("gru_states: what it saved may not change before backward") {
  const Inputs in = inputs_of({3, 2, 4, true, false, false}, f64);
  const Tensor y = gru_states(in.xs, in.h0, in.weight, in.bias);
  {
    NoGrad no_grad;
    Tensor w = in.weight;
    w.mul_(2);
  }
  CHECK_THROWS_WITH_AS(sum(y).backward(), doctest::Contains("gru_states"), Error);
}

TEST_CASE("gru_states: clear errors") {
  const Tensor xs = zeros({4, 2, 9}), h = zeros({2, 3}), w = zeros({9, 3});
  CHECK_THROWS_WITH_AS(gru_states(zeros({4, 2, 8}), h, w), doctest::Contains("(T, B, 3H)"), Error);
  CHECK_THROWS_WITH_AS(
      gru_states(xs, zeros({2, 4}), w),
      doctest::Contains(
          ("h is f32 (2, 4) on " + std::string(name_of(default_device())) + ", expected f32 (2, 3)")
              .c_str()),
      Error);
  CHECK_THROWS_WITH_AS(gru_states(xs, h, zeros({3, 9})), doctest::Contains("the weight"), Error);
  CHECK_THROWS_WITH_AS(gru_states(xs, h, w, zeros({3})), doctest::Contains("the bias"), Error);
  CHECK_THROWS_WITH_AS(gru_states(xs, h, w, {}, {.real = zeros({4, 2})}),
                       doctest::Contains("real is f32"), Error);
  CHECK_THROWS_WITH_AS(gru_step(zeros({2, 9}), h, zeros({9, 2})), doctest::Contains("gru_step"),
                       Error);
}

TEST_CASE("gru_step kernels: the fast ones against the specification, every tail") {
  using test::Buffer;
  Generator random(5);
  const Kernels &fast = kernels(Device::cpu), &specified = kernels(Device::naive);
  for (const DType dtype : {f32, f64})
    for (const std::int64_t H : {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 131}) {
      CAPTURE(H);
      const std::int64_t B = H > 60 ? 90 : 5;
      const double close = dtype == f32 ? 2e-6 : 1e-14;
      Buffer xs(dtype, {B, 3 * H}), u(dtype, {B, 3 * H}), b(dtype, {3 * H}), h(dtype, {B, H});
      Buffer real(boolean, {B}), dy(dtype, {B, H}), dh(dtype, {B, H}), dh2(dtype, {B, H});
      for (const Buffer* x : {&xs, &u, &b, &h, &dy, &dh}) test::fill_normal(random, x->array, 0, 2);
      test::fill_whole(random, real.array, 0, 1);
      specified.copy(dh2.array, dh.array);
      for (const bool all : {true, false}) {
        Buffer y(dtype, {B, H}), y2(dtype, {B, H});
        Buffer gates(dtype, {B, 4 * H}), gates2(dtype, {B, 4 * H});
        const Array bias = all ? b.array : Array{}, counts = all ? Array{} : real.array;
        fast.gru_step(y.array, gates.array, xs.array, u.array, bias, h.array, counts);
        specified.gru_step(y2.array, gates2.array, xs.array, u.array, bias, h.array, counts);
        CHECK(test::difference(y.array, y2.array, close, close) == "");
        CHECK(test::difference(gates.array, gates2.array, close, close) == "");
        CHECK(y.intact());
        CHECK(gates.intact());

        Buffer dxs(dtype, {B, 3 * H}), dxs2(dtype, {B, 3 * H});
        Buffer du(dtype, {B, 3 * H}), du2(dtype, {B, 3 * H});
        fast.gru_step_backward(dxs.array, du.array, dh.array, dy.array, gates2.array, h.array);
        specified.gru_step_backward(dxs2.array, du2.array, dh2.array, dy.array, gates2.array,
                                    h.array);
        CHECK(test::difference(dxs.array, dxs2.array, 20 * close, close) == "");
        CHECK(test::difference(du.array, du2.array, 20 * close, close) == "");
        CHECK(test::difference(dh.array, dh2.array, 20 * close, close) == "");
        for (const Buffer* x : {&dxs, &du, &dh}) CHECK(x->intact());
      }
    }
}

TEST_CASE("[threads] gru_states: the same bits for every number of threads") {
  const int before = num_threads();
  std::vector<std::vector<double>> runs;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    const Inputs in = inputs_of({4, 150, 64, true, true, false}, f32);
    const Tensor y = gru_states(in.xs, in.h0, in.weight, in.bias, {in.real});
    std::vector<double> all = y.to_vector();
    for (const Tensor& g : gradients(y, in)) {
      const std::vector<double> values = g.to_vector();
      all.insert(all.end(), values.begin(), values.end());
    }
    runs.push_back(all);
  }
  CHECK(runs[0] == runs[1]);
  CHECK(runs[0] == runs[2]);
  set_num_threads(before);
}
