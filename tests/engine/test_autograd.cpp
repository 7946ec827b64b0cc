#include "engine/autograd.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>

#include "engine/engine.h"
#include "tests/check_close.h"

using namespace labgrad;
using labgrad::tests::difference;

namespace {

Tensor leaf(double value) { return full({}, value, {.dtype = f64, .requires_grad = true}); }

}  // namespace

TEST_CASE("gradients of a leaf add up over its uses and over backward passes") {
  Tensor a = leaf(3), b = leaf(2), d = leaf(1);
  const Tensor c = a + b, e = c * d;
  e.backward({}, {.retain_graph = true});
  CHECK(a.grad().item() == 1);
  CHECK(d.grad().item() == 5);
  e.backward();
  CHECK(a.grad().item() == 2);  // not 3: what an inner node got the first time is forgotten
  CHECK(d.grad().item() == 10);
  for (Tensor* x : {&a, &b, &d}) x->zero_grad();
  const Tensor c2 = a + b, e2 = c2 * d;
  for (int pass = 0; pass < 2; ++pass) {
    for (Tensor* x : {&a, &b, &d}) x->zero_grad();  // of the leaves alone
    e2.backward({}, {.retain_graph = true});
    CHECK(a.grad().item() == 1);
    CHECK(d.grad().item() == 5);
  }
  a.zero_grad();
  (a * a * b).backward();
  CHECK(a.grad().item() == 2 * 3 * 2);
}

// The two inputs of a sum were given one tensor as gradient: clipping one of them cut both.
TEST_CASE("leaves do not share their gradients, nor with the seed") {
  for (const bool create : {false, true}) {
    CAPTURE(create);
    Tensor a = tensor({1.0, 2.0}).requires_grad_(), b = tensor({3.0, 4.0}).requires_grad_();
    Tensor c = tensor({{5.0}, {6.0}}).requires_grad_();
    const Tensor seed = ones({2});
    (a + b - reshape(c, {2})).backward(seed, {.create_graph = create});
    a.backward(seed, {.create_graph = create});
    const NoGrad no_grad;
    a.grad().mul_(3);
    b.grad().mul_(5);
    c.grad().mul_(7);
    CHECK(difference(a.grad(), {6, 6}) == "");
    CHECK(difference(b.grad(), {5, 5}) == "");
    CHECK(difference(c.grad(), {-7, -7}) == "");
    CHECK(difference(seed, {1, 1}) == "");
    a.zero_grad();
    b.zero_grad();
    c.zero_grad();
  }
}

TEST_CASE("backward says what is missing") {
  Tensor x = tensor({1.0, 2.0}).requires_grad_();
  CHECK_THROWS_WITH_AS(
      (x * 2).backward(),
      doctest::Contains("only a single number has a gradient by itself. Reduce it first"), Error);
  CHECK_THROWS_WITH_AS((x * 2).backward(tensor({1.0})), doctest::Contains("the seed gradient is"),
                       Error);
  CHECK_THROWS_WITH_AS((x * 2).backward(tensor({1.0, 1.0}, {.dtype = f64})),
                       doctest::Contains("f64 (2,), the output f32 (2,)"), Error);
  CHECK_THROWS_WITH_AS(tensor({1.0}).backward(), doctest::Contains("does not require a gradient"),
                       Error);
  CHECK_THROWS_WITH_AS(backward({sum(x)}, {tensor(1.0), tensor(1.0)}),
                       doctest::Contains("2 seed gradients for 1 outputs"), Error);
  CHECK_FALSE(x.grad().defined());
  x.backward(tensor({5.0, 6.0}));  // a leaf is its own output
  CHECK(difference(x.grad(), {5, 6}) == "");
}

TEST_CASE("a graph is freed by backward, and using it again names the op and the way out") {
  Tensor x = leaf(3);
  const Tensor y = exp(x * x);
  y.backward();
  CHECK_THROWS_WITH_AS(y.backward(), doctest::Contains("freed already at 'exp'"), Error);
  CHECK_THROWS_WITH_AS(y.backward(), doctest::Contains("retain_graph = true"), Error);
}

TEST_CASE("a hidden state carried over must be detached") {
  Tensor w = leaf(0.5);
  Tensor h = full({}, 1.0, {.dtype = f64});
  h = tanh(h * w);
  h.backward();
  const Tensor longer = tanh(h * w);
  CHECK_THROWS_WITH_AS(longer.backward(), doctest::Contains("detach()"), Error);

  // With detach, the gradient is that of the last step alone.
  w.zero_grad();
  const Tensor carried = h.detach(), y = tanh(carried * w);
  y.backward();
  CHECK(w.grad().item() == doctest::Approx((1 - y.item() * y.item()) * carried.item()));
}

TEST_CASE("a value detached in place still passes on gradients of what was made from it before") {
  Tensor a = tensor({1.0, 2.0}).requires_grad_();
  Tensor b = a * 2;
  const Tensor c = sum(b);
  b.detach_();
  CHECK_FALSE(b.requires_grad());
  c.backward();
  CHECK(difference(a.grad(), {2, 2}) == "");
}

TEST_CASE("gradients have the dtype and shape of their tensor") {
  Tensor w = tensor({1.0, 2.0}).requires_grad_();  // f32
  const Tensor y = w / 3.0 * tensor({1.0, 2.0}, {.dtype = f64});
  CHECK(y.dtype() == f64);
  CHECK((w / 3.0).dtype() == f32);
  y.backward(ones({2}, {.dtype = f64}));
  CHECK(w.grad().dtype() == f32);
  CHECK(difference(w.grad(), {1.0 / 3, 2.0 / 3}, {.rtol = 1e-6}) == "");

  Tensor row = ones({1, 3}).requires_grad_(), number = ones({1, 1, 3}).requires_grad_();
  (row + number).backward(ones({1, 1, 3}));
  CHECK(row.grad().shape() == Shape{1, 3});
  CHECK(number.grad().shape() == Shape{1, 1, 3});
  Tensor x = ones({2, 3}).requires_grad_(), s = leaf(1);
  (expand(x, {1, 2, 3}) * to(s, f32)).backward(ones({1, 2, 3}));
  CHECK(x.grad().shape() == Shape{2, 3});
  CHECK(x.grad().is_contiguous());
  CHECK(s.grad().shape() == Shape{});
  CHECK(s.grad().item() == 6);
}

TEST_CASE("derivatives of any order") {
  Tensor x = leaf(2);
  Tensor d = x * x * x * x;
  for (const double want : {4 * 8.0, 12 * 4.0, 24 * 2.0, 24.0}) {
    d = grad(d, x, {}, {.create_graph = true});
    CHECK(d.item() == want);
  }
  // Through an op that uses its own output: exp is its derivative.
  d = exp(x);
  for (int order = 1; order <= 4; ++order) {
    d = grad(d, x, {}, {.create_graph = true});
    CHECK(d.item() == doctest::Approx(std::exp(2.0)));
  }
  // backward() with create_graph leaves a grad that can be differentiated.
  (x * x * x).backward({}, {.create_graph = true});
  CHECK(x.grad().requires_grad());
  CHECK(grad(x.grad(), x).item() == 12);
}

TEST_CASE("grad leaves every .grad alone") {
  Tensor x = leaf(3), y = leaf(5), unused = leaf(1);
  const Tensor inner = x * y, z = inner * inner;
  const Tensors d = grad({z}, {x, inner}, {}, {.retain_graph = true});
  CHECK(d[0].item() == 2 * 15 * 5);
  CHECK(d[1].item() == 2 * 15);
  CHECK_FALSE(x.grad().defined());
  CHECK_FALSE(y.grad().defined());
  CHECK_THROWS_WITH_AS(grad(z, unused, {}, {.retain_graph = true}),
                       doctest::Contains("do not depend on input 0 of shape ()"), Error);
  const Tensors some =
      grad({z, x * 4}, {x, unused}, {}, {.retain_graph = true, .allow_unused = true});
  CHECK(some[0].item() == 150 + 4);
  CHECK_FALSE(some[1].defined());
  CHECK(grad(z, z, {}, {.retain_graph = true}).item() == 1);
  CHECK_THROWS_WITH_AS(grad(z, full({}, 1.0)), doctest::Contains("does not require a gradient"),
                       Error);
  CHECK_THROWS_AS(grad({z}, {Tensor()}), Error);
  // The part of the graph that leads to no input is left alone and can still be used.
  const Tensor left = exp(x), both = left * inner;
  CHECK(grad(both, y).item() == doctest::Approx(std::exp(3.0) * 3));
  left.backward();
  CHECK(x.grad().item() == doctest::Approx(std::exp(3.0)));
}

TEST_CASE("hooks see the complete gradient and may replace it") {
  Tensor x = leaf(2);
  int calls = 0;
  double seen = 0;
  x.register_hook([&](const Tensor& gradient) {
    ++calls;
    seen = gradient.item();
    return Tensor();
  });
  Tensor y = x * 3;
  y.register_hook([](const Tensor& gradient) { return gradient * 10; });
  (y * y + y).backward();  // dy = 2 y + 1 = 13, in two contributions
  CHECK(calls == 1);
  CHECK(seen == 13 * 10 * 3);
  CHECK(x.grad().item() == 390);

  Tensor z = x * 1;
  z.register_hook([](const Tensor&) { return ones({2}); });
  CHECK_THROWS_WITH_AS(z.backward(),
                       doctest::Contains("hook: it returned a gradient of shape (2,)"), Error);
  CHECK_THROWS_WITH_AS(ones({2}).register_hook([](const Tensor&) { return Tensor(); }),
                       doctest::Contains("would never be called"), Error);
}

TEST_CASE("a hook may run another backward, but not on the graph being swept") {
  Tensor x = leaf(2), p = leaf(3);
  Tensor y = x * x;
  y.register_hook([&](const Tensor&) {
    EnableGrad recording;  // the sweep itself is not recorded
    (p * p).backward();
    return Tensor();
  });
  (y * 2).backward();
  CHECK(p.grad().item() == 6);
  CHECK(x.grad().item() == 8);

  // When the hook of b runs, a has a part of its gradient already.
  const Tensor a = x * x;
  Tensor b = exp(x);
  b.register_hook([&](const Tensor&) {
    EnableGrad recording;
    (a * 5).backward();
    return Tensor();
  });
  const Tensor w = b + a * 2;
  CHECK_THROWS_WITH_AS(w.backward(), doctest::Contains("from a hook"), Error);
}

TEST_CASE("an exception in a sweep leaves no half-summed gradient behind") {
  Tensor x = leaf(2);
  const Tensor a = x * 3;
  Tensor b = a * a;
  const Tensor c = b + a * 5;
  bool broken = true;
  b.register_hook([&](const Tensor&) {
    if (broken) throw std::runtime_error("stop");
    return Tensor();
  });
  CHECK_THROWS_AS(c.backward({}, {.retain_graph = true}), std::runtime_error);
  CHECK_FALSE(x.grad().defined());
  broken = false;
  c.backward();
  CHECK(x.grad().item() == (2 * 6 + 5) * 3);
}

TEST_CASE("retain_grad keeps the gradient of a non-leaf") {
  Tensor x = leaf(2);
  Tensor y = x * 3;
  y.retain_grad();
  y.retain_grad();  // twice is once
  const Tensor z = y * y;
  z.backward({}, {.retain_graph = true});
  CHECK(y.grad().item() == 12);
  CHECK(x.grad().item() == 36);
  y.zero_grad();
  CHECK_FALSE(y.grad().defined());
  CHECK_THROWS_AS(ones({1}).retain_grad(), Error);
  const Tensor other = x * 2;
  other.backward();
  CHECK_FALSE(other.grad().defined());
}

TEST_CASE("a saved value that is changed in place is an error that names the op") {
  Tensor a = tensor({0.5, 1.0}).requires_grad_();
  const Tensor b = exp(a), loss = sum(b * b);
  b.detach().mul_(2);
  CHECK_THROWS_WITH_AS(loss.backward(),
                       doctest::Contains("backward of 'mul': a tensor of shape "
                                         "(2,) that it saved has been changed"),
                       Error);
  const Tensor c = exp(a);
  c.detach().mul_(2);
  CHECK_THROWS_WITH_AS(sum(c).backward(), doctest::Contains("backward of 'exp'"), Error);

  Tensor w = leaf(3);
  const Tensor y = w * w;
  {
    NoGrad no_grad;
    w.add_(1);  // a step between forward and backward
  }
  CHECK_THROWS_WITH_AS(y.backward(), doctest::Contains("version"), Error);
  // What add saves is nothing, so nothing can be stale.
  Tensor p = tensor({1.0, 2.0}), q = tensor({1.0, 2.0}).requires_grad_();
  const Tensor s = sum(q + p);
  p.zero_();
  s.backward();
  CHECK(difference(q.grad(), {1, 1}) == "");
}

TEST_CASE("NoGrad nests, ends with its scope even by an exception, and is one for each thread") {
  Tensor x = leaf(1);
  try {
    NoGrad outer;
    {
      NoGrad inner;
      CHECK_FALSE(grad_enabled());
    }
    CHECK_FALSE((x * 2).requires_grad());
    {
      EnableGrad again;
      CHECK((x * 2).requires_grad());
    }
    bool elsewhere = false;
    std::thread([&] { elsewhere = grad_enabled() && (x * 2).requires_grad(); }).join();
    CHECK(elsewhere);
    throw std::runtime_error("out");
  } catch (const std::runtime_error&) {}
  CHECK(grad_enabled());
  CHECK((x * 2).requires_grad());
}

TEST_CASE("anomaly mode names the op in which a NaN or an infinity began") {
  Tensor x = tensor({{1.0, 4.0}, {-1.0, 1.0}}).requires_grad_();
  Tensor zero = tensor({0.0, 1.0}).requires_grad_();
  {
    DetectAnomaly guard;
    CHECK_THROWS_WITH_AS(
        log(x) * 2,
        doctest::Contains("anomaly: the result of 'log' of shape (2, 2) has NaN at index (1, 0)"),
        Error);
    const Tensor y = sum(sqrt(zero) * 2);  // fine forward, infinite slope
    CHECK_THROWS_WITH_AS(y.backward(),
                         doctest::Contains("anomaly: in the backward of 'sqrt', the result of "
                                           "'div' of shape (2,) has inf at index (0,)"),
                         Error);
  }
  CHECK_FALSE(detecting_anomaly());
  CHECK_NOTHROW(log(x));
}

TEST_CASE("dropping a graph frees every node") {
  const std::int64_t before = live_nodes();
  {
    Tensor x = tensor({1.0, 2.0}).requires_grad_();
    // Ops that use their own output are the ones that could own themselves.
    const Tensor y = sum(sigmoid(exp(x)) / tanh(x) + sqrt(x) * softmax(x, 0));
    CHECK(live_nodes() > before);
    const Tensor dx = grad(y, x, {}, {.create_graph = true});
    sum(dx * dx).backward({}, {.create_graph = true});
    Tensor kept = x * 2;
    kept.retain_grad();
    kept.register_hook([](const Tensor& gradient) { return gradient * 2; });
    sum(kept).backward();
    x.zero_grad();  // it belongs to the graph, for create_graph made it
  }
  CHECK(live_nodes() == before);
}

TEST_CASE("losses kept as tensors keep their graphs, numbers do not") {
  Tensor w = leaf(2);
  const std::int64_t before = live_nodes();
  double total = 0;
  for (int step = 0; step < 20; ++step) total += (w * w).item();
  CHECK(total == 80);
  CHECK(live_nodes() == before);
  Tensor sum_of_losses = full({}, 0.0, {.dtype = f64});
  for (int step = 0; step < 20; ++step) sum_of_losses = sum_of_losses + w * w;
  CHECK(live_nodes() == before + 40);
  sum_of_losses = Tensor();
  CHECK(live_nodes() == before);
}

TEST_CASE("long chains need no deep stack") {
  const std::int64_t before = live_nodes();
  // On the host, whatever the device: a million launches would tell no more.
  Tensor x = to(leaf(1).detach(), Device::cpu).requires_grad_();
  {
    Tensor y = x;
    for (int i = 0; i < 300'000; ++i) y = y + y * 1e-6;
    y.backward();
    CHECK(x.grad().item() == doctest::Approx(std::pow(1 + 1e-6, 300'000)));
  }
  CHECK(live_nodes() == before);
  {
    Tensor y = x;  // freed without ever having run backward
    for (int i = 0; i < 1'000'000; ++i) y = neg(y);
    CHECK(y.item() == 1);
    CHECK(grad(y, x, {}, {.retain_graph = true}).item() == 1);
  }
  CHECK(live_nodes() == before);
  {
    // Each node saves a tensor that holds the node before.
    Tensor y = x;
    for (int i = 0; i < 100'000; ++i) y = y * y;
    CHECK(y.item() == 1);
  }
  CHECK(live_nodes() == before);
}
