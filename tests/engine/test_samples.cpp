// Every property of every op: each test goes through all rows of the registry.

#include "engine/samples.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "engine/backward.h"
#include "engine/cpu/threads.h"
#include "engine/create.h"
#include "engine/ops/arithmetic.h"
#include "engine/philox.h"
#include "tests/check_close.h"

using namespace labgrad;
using tests::bit_difference;
using tests::difference;

namespace {

// Numbers in ±[0.5, 1.5), or whole ones in -3 .. 3; the same in f32 and f64.
Tensor cotangent(const Tensor& y, std::uint64_t key, bool whole = false) {
  std::vector<float> u(static_cast<std::size_t>(y.numel()));
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double v = philox_uniform(key, i);
    u[i] = static_cast<float>(whole ? std::floor(7 * v) - 3 : 2 * v - 1 + (v < 0.5 ? -0.5 : 0.5));
  }
  return from_values(u, y.shape(), {.dtype = y.dtype(), .device = y.device()});
}

// Outputs, and the gradients of the inputs for a random cotangent; zeros where there is none.
struct Run {
  Tensors xs, ys, gradients;
};

struct RunOptions {
  std::uint64_t wanted = ~std::uint64_t{0};  // a bit for each floating input
  bool whole = false;                        // whole numbers as cotangent
  Tensors cotangents = {};                   // in place of the random ones
  bool create_graph = false;
};

Run run(const OpSample& row, Tensors xs, const RunOptions& o = {}) {
  Tensors ends, seeds, starts;
  std::uint64_t bit = 1;
  for (Tensor& x : xs) {
    if (!is_floating(x.dtype())) continue;
    x = x.detach();
    if (o.wanted & bit) starts.push_back(x.requires_grad_());
    bit *= 2;
  }
  Run r{xs, row.f(xs), {}};
  for (std::size_t m = 0; m < r.ys.size(); ++m) {
    if (!r.ys[m].requires_grad()) continue;
    ends.push_back(r.ys[m]);
    seeds.push_back(o.cotangents.empty() ? cotangent(r.ys[m], m + 1, o.whole) : o.cotangents[m]);
  }
  r.gradients.resize(starts.size());
  if (!ends.empty())
    r.gradients = grad(ends, starts, seeds, {.create_graph = o.create_graph, .allow_unused = true});
  for (std::size_t i = 0; i < starts.size(); ++i)
    if (!r.gradients[i].defined()) r.gradients[i] = zeros_like(starts[i]);
  return r;
}

template <class Compare>
std::string first_complaint(const Run& got, const Run& want, Compare compare) {
  for (std::size_t m = 0; m < want.ys.size(); ++m)
    if (const std::string d = compare(got.ys[m], want.ys[m]); !d.empty())
      return "output " + std::to_string(m) + ": " + d;
  for (std::size_t i = 0; i < want.gradients.size(); ++i)
    if (const std::string d = compare(got.gradients[i], want.gradients[i]); !d.empty())
      return "gradient " + std::to_string(i) + ": " + d;
  return "";
}

std::string unequal(const Run& got, const Run& want) {
  return first_complaint(got, want, bit_difference);
}

double largest(const Tensor& x) {
  double m = 0;
  for (double v : x.to_vector()) m = std::max(m, std::abs(v));
  return m;
}

// Apart by more than `error` times the largest element.
std::string apart(const Run& got, const Run& want, double error) {
  return first_complaint(got, want, [&](const Tensor& g, const Tensor& w) {
    return difference(g, w, {.rtol = 0, .atol = error * largest(w), .vacuous = true});
  });
}

// Calls test(row, index of the case) for every case; an exception is a failure of that case alone.
template <class F>
void for_each_case(bool with_large, F test) {
  for (const OpSample& row : op_samples())
    for (std::size_t i = 0; i < row.cases.size(); ++i) {
      if (row.cases[i].large && !with_large) continue;
      INFO(row.label() << ", case " << i);
      std::string error;
      try {
        test(row, i);
      } catch (const Error& e) {
        error = e.what();
      }
      CHECK(error == "");
    }
}

template <class F>
void for_each_case(F test) {
  for_each_case(false, test);
}

// The elements of u behind strides that run through the dimensions in reverse order.
Tensor transposed_in_memory(const Tensor& u) {
  Shape reversed;
  for (int d = u.rank() - 1; d >= 0; --d) reversed.push_back(u.shape()[d]);
  const Strides dense = contiguous_strides(reversed);
  Strides strides = u.shape();
  for (int d = 0; d < u.rank(); ++d) strides[d] = dense[u.rank() - 1 - d];
  return alias(empty(reversed, u.dtype(), u.device()), u.shape(), strides).copy_(u);
}

// <a, b>; `whole` stays true as long as all numbers are.
double inner(const Tensor& a, const Tensor& b, bool& whole) {
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  double total = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    total += x[i] * y[i];
    whole = whole && x[i] == std::floor(x[i]) && y[i] == std::floor(y[i]);
  }
  return total;
}

}  // namespace

TEST_CASE("every op: first derivatives agree with finite differences") {
  for (const OpSample& row : op_samples()) {
    INFO(row.label());
    GradcheckReport report;
    CHECK_NOTHROW(report = check_sample(row, 1));
    CHECK(report.message == "");
    CHECK(report.relative_error < 1e-7);
  }
}

TEST_CASE("every op: second derivatives agree with finite differences") {
  for (const OpSample& row : op_samples()) {
    INFO(row.label());
    GradcheckReport report;
    CHECK_NOTHROW(report = check_sample(row, 2));
    CHECK(report.message == "");
    CHECK(report.relative_error < 1e-6);
  }
}

TEST_CASE("every op: gradients of long inputs agree along random directions") {
  for_each_case(true, [](const OpSample& row, std::size_t i) {
    if (!row.cases[i].large) return;
    // The rounding error of a sum over n elements is about sqrt(n) times that of one.
    const GradcheckOptions options{.op = row.label(), .atol = 1e-7};
    CHECK(check_gradients(row.f, sample_inputs(row, i), options).message == "");
  });
}

TEST_CASE("every op: f32 agrees with f64, in dtype f32") {
  for_each_case(true, [](const OpSample& row, std::size_t i) {
    const Run narrow = run(row, sample_inputs(row, i, {.dtype = f32}));
    const Run wide = run(row, sample_inputs(row, i));
    for (const Tensor& y : narrow.ys) CHECK(y.dtype() != f64);
    for (const Tensor& g : narrow.gradients) CHECK(g.dtype() == f32);
    CHECK(apart(narrow, wide, row.f32_error) == "");
  });
}

TEST_CASE("every op: the layout of the inputs changes no bit") {
  for_each_case([](const OpSample& row, std::size_t i) {
    for (Layout layout : all_layouts)
      for (DType dtype : {f32, f64}) {
        INFO(std::string(name_of(layout)), " ", std::string(name_of(dtype)));
        const Tensors xs = sample_inputs(row, i, {.dtype = dtype, .layout = layout});
        Tensors twins;
        for (const Tensor& x : xs) twins.push_back(packed(x));
        const Run got = run(row, xs), want = run(row, twins);
        if (row.rounds_by_layout)
          CHECK(apart(got, want, dtype == f32 ? row.f32_error : 1e-14) == "");
        else
          CHECK(unequal(got, want) == "");
      }
  });
}

TEST_CASE("every op: the layout of the cotangent changes no bit") {
  for_each_case([](const OpSample& row, std::size_t i) {
    const Tensors xs = sample_inputs(row, i);
    Tensors repeated, ones, transposed, dense;
    for (const Tensor& y : run(row, xs).ys) {
      if (!is_floating(y.dtype())) {
        for (Tensors* list : {&repeated, &ones, &transposed, &dense}) list->push_back({});
        continue;
      }
      // What sum() sends back: one number, repeated with stride 0.
      const Tensor one = full({}, 1.25, {.dtype = f64});
      repeated.push_back(alias(one, y.shape(), Strides::filled(y.rank(), 0)));
      ones.push_back(packed(repeated.back()));
      dense.push_back(cotangent(y, 5));
      transposed.push_back(transposed_in_memory(dense.back()));
    }
    const auto with = [&](const Tensors& us) { return run(row, xs, {.cotangents = us}); };
    const auto compare = [&](const Tensors& got, const Tensors& want) {
      return row.rounds_by_layout ? apart(with(got), with(want), 1e-14)
                                  : unequal(with(got), with(want));
    };
    CHECK(compare(repeated, ones) == "");
    CHECK(compare(transposed, dense) == "");
  });
}

TEST_CASE("every op: what an input gets does not depend on which others ask") {
  for_each_case([](const OpSample& row, std::size_t i) {
    const Tensors xs = sample_inputs(row, i, {.dtype = f32});
    const Run all = run(row, xs);
    const std::size_t n = all.gradients.size();
    for (std::uint64_t subset = 0; subset < (std::uint64_t{1} << n); ++subset) {
      CAPTURE(subset);
      const Run some = run(row, xs, {.wanted = subset});
      std::size_t next = 0;
      for (std::size_t k = 0; k < n; ++k)
        if (subset >> k & 1) CHECK(bit_difference(some.gradients[next++], all.gradients[k]) == "");
      for (std::size_t m = 0; m < all.ys.size(); ++m) {
        CHECK(bit_difference(some.ys[m], all.ys[m]) == "");
        if (subset == 0) CHECK_FALSE(some.ys[m].requires_grad());
      }
    }
  });
}

TEST_CASE("every op: an undefined input is an error") {
  const std::pair<std::string, std::size_t> optional[] = {{"linear", 2},
                                                          {"layer_norm", 1},
                                                          {"layer_norm", 2},
                                                          {"conv2d", 2},
                                                          {"batch_norm", 1},
                                                          {"batch_norm", 2},
                                                          {"batch_norm_relu_max_pool2d", 1},
                                                          {"batch_norm_relu_max_pool2d", 2},
                                                          {"gru_step", 3},
                                                          {"gru_states", 3}};
  for (const OpSample& row : op_samples()) {
    INFO(row.label());
    for (std::size_t i = 0; i < row.cases[0].inputs.size(); ++i) {
      Tensors xs = sample_inputs(row, 0);
      xs[i] = Tensor();
      if (std::count(std::begin(optional), std::end(optional), std::pair(row.op, i)) > 0) continue;
      CHECK_THROWS_AS(row.f(xs), Error);
    }
  }
}

TEST_CASE("every op: no floating output drops the gradient") {
  for_each_case([](const OpSample& row, std::size_t i) {
    for (const Tensor& y : run(row, sample_inputs(row, i)).ys)
      CHECK(y.requires_grad() == is_floating(y.dtype()));
  });
}

TEST_CASE("every op: backward is linear in the cotangent") {
  for_each_case([](const OpSample& row, std::size_t i) {
    const Tensors xs = sample_inputs(row, i);
    Tensors u, v, sum, twice;
    for (const Tensor& y : run(row, xs, {.wanted = 0}).ys) {
      if (!is_floating(y.dtype())) {
        for (Tensors* list : {&u, &v, &sum, &twice}) list->push_back({});
        continue;
      }
      u.push_back(cotangent(y, 11));
      v.push_back(cotangent(y, 12));
      sum.push_back(u.back() + v.back());
      twice.push_back(u.back() * 2);
    }
    const auto gradients = [&](const Tensors& us) {
      return run(row, xs, {.cotangents = us}).gradients;
    };
    const Tensors by_u = gradients(u), by_v = gradients(v), by_sum = gradients(sum),
                  by_twice = gradients(twice);
    for (std::size_t k = 0; k < by_u.size(); ++k) {
      CHECK(bit_difference(by_twice[k], by_u[k] * 2) == "");
      const double size = largest(by_u[k]) + largest(by_v[k]);
      CHECK(difference(by_sum[k], by_u[k] + by_v[k],
                       {.rtol = 0, .atol = 1e-14 * size, .vacuous = true}) == "");
    }
  });
}

TEST_CASE("linear ops: backward is the adjoint, exactly on whole numbers") {
  std::size_t exact = 0;
  for_each_case([&](const OpSample& row, std::size_t i) {
    if (row.linear == Linear::no) return;
    for (DType dtype : {f32, f64}) {
      const Tensors xs = sample_inputs(row, i, {.dtype = dtype, .whole = true});
      const Run r = run(row, xs, {.whole = true});
      bool whole = true;
      double above = 0, below = 0;  // <f(x), u> and <x, fᵀ(u)>
      for (std::size_t m = 0; m < r.ys.size(); ++m)
        if (r.ys[m].requires_grad())
          above += inner(r.ys[m], cotangent(r.ys[m], m + 1, true), whole);
      std::size_t k = 0;
      for (const Tensor& x : r.xs) {
        if (!is_floating(x.dtype())) continue;
        const double part = inner(x, r.gradients[k++], whole);
        if (row.linear == Linear::each && whole) CHECK(part == above);
        below = row.linear == Linear::each ? part : below + part;
      }
      if (whole) CHECK(below == above);
      CHECK(std::abs(above - below) <= (dtype == f32 ? 1e-5 : 1e-13) * (1 + std::abs(above)));
      exact += whole;
    }
  });
  CHECK(exact > 200);
}

TEST_CASE("every op: nothing is recorded under NoGrad, and every graph is freed") {
  for_each_case([](const OpSample& row, std::size_t i) {
    const std::int64_t before = live_nodes();
    {
      Tensors xs = sample_inputs(row, i);
      for (Tensor& x : xs)
        if (is_floating(x.dtype())) x.requires_grad_();
      NoGrad no_grad;
      for (const Tensor& y : row.f(xs)) CHECK(y.is_leaf());
      CHECK(live_nodes() == before);
    }
    // With a graph of the backward pass, too, dropped without having been used.
    run(row, sample_inputs(row, i), {.create_graph = true});
    CHECK(live_nodes() == before);
  });
}

TEST_CASE("every op: the fast device agrees with the specification") {
  for_each_case(true, [](const OpSample& row, std::size_t i) {
    for (DType dtype : {f32, f64}) {
      INFO(std::string(name_of(dtype)));
      const Run fast = run(row, sample_inputs(row, i, {.dtype = dtype}));
      const Run plain = run(row, sample_inputs(row, i, {.dtype = dtype, .device = Device::naive}));
      CHECK(apart(fast, plain, dtype == f32 ? row.f32_error : 1e-13) == "");
    }
  });
}

TEST_CASE("every op: the number of threads changes no bit [threads]") {
  const int before = num_threads();
  for_each_case(true, [](const OpSample& row, std::size_t i) {
    if (!row.cases[i].large) return;
    const Tensors xs = sample_inputs(row, i, {.dtype = f32});
    set_num_threads(1);
    const Run alone = run(row, xs);
    for (int threads : {2, 3}) {
      CAPTURE(threads);
      set_num_threads(threads);
      CHECK(unequal(run(row, xs), alone) == "");
    }
  });
  set_num_threads(before);
}
