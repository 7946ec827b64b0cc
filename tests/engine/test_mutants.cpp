// The test of the tests: a fault planted in a backward is found.
//
// build/bin/tests -tc='table of mutants' -no-skip prints what finds which.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>

#include "engine/backward.h"
#include "engine/create.h"
#include "engine/ops.h"
#include "tests/engine/mutants.h"

using namespace labgrad;
using tests::Gradients;
using tests::Mutant;

namespace {

// True if one of the row's cases fails; so does one that throws.
bool found(const OpSample& row, GradcheckOptions options) {
  for (std::size_t i = 0; i < row.cases.size(); ++i) {
    if (row.cases[i].large) continue;
    if (!check_gradients(row.f, sample_inputs(row, i), options).ok()) return true;
  }
  return false;
}

bool has_gradient(const OpSample& row) {
  for (std::size_t i = 0; i < row.cases.size(); ++i) {
    const Tensors xs = sample_inputs(row, i);
    NoGrad no_grad;
    const Tensor y = row.f(xs)[0];
    if (row.cases[i].large || y.numel() == 0) continue;
    // An uneven cotangent: a softmax's sum is constant.
    const Tensor dy = reshape(linspace(0.5, 1.5, y.numel(), {.dtype = f64}), y.shape());
    for (const Tensor& dx : tests::gradients_of(row.f)(xs, y, dy))
      if (dx.defined() && to(any(abs(dx) > 1e-6), i64).item() != 0) return true;
  }
  return false;
}

// The right gradients, all put through `change`.
OpSample altered(const OpSample& row, Tensor (*change)(const Tensor&)) {
  OpSample other = row;
  const Gradients right = tests::gradients_of(row.f);
  other.f = tests::with_gradients(row.f, [=](const Tensors& x, const Tensor& y, const Tensor& dy) {
    Tensors dxs = right(x, y, dy);
    for (Tensor& dx : dxs)
      if (dx.defined()) dx = change(dx);
    return dxs;
  });
  return other;
}

}  // namespace

TEST_CASE("mutants: each planted fault is found, and the message says where") {
  const std::vector<Mutant> all = tests::mutants();
  CHECK(all.size() >= 50);
  for (const Mutant& mutant : all) {
    INFO(mutant.label, ": ", mutant.fault);
    const OpSample row = tests::mutated(mutant);
    GradcheckReport report;
    CHECK_NOTHROW(report = check_sample(row, 1));
    CHECK(report.message.find("gradcheck of '" + row.label() + " of (") == 0);
    CHECK(report.message.find("': input ") != std::string::npos);
    CHECK(report.message.find("analytic") != std::string::npos);
    CHECK(report.message.find("numeric") != std::string::npos);
  }
}

TEST_CASE("mutants: the wrapper alone is no fault") {
  for (const OpSample& row : op_samples()) {
    if (row.op == "split" || row.op == "chunk" || row.op == "unbind") continue;  // more outputs
    INFO(row.label());
    CHECK(check_sample(altered(row, [](const Tensor& dx) { return dx; }), 1).message == "");
  }
}

TEST_CASE("mutants: in every op a sign, a factor of 1.001 and a deleted gradient are found") {
  std::size_t rows = 0;
  for (const OpSample& row : op_samples()) {
    if (!has_gradient(row)) {
      CHECK((row.op == "sign" || row.op == "floor" || row.arguments == "(2, 0, 3)"));
      continue;
    }
    INFO(row.label());
    ++rows;
    CHECK_FALSE(check_sample(altered(row, [](const Tensor& dx) { return -dx; }), 1).ok());
    CHECK_FALSE(check_sample(altered(row, [](const Tensor& dx) { return dx * 1.001; }), 1).ok());
    CHECK_FALSE(check_sample(altered(row, [](const Tensor& dx) { return dx * 0; }), 1).ok());
  }
  CHECK(rows > 100);
}

TEST_CASE("table of mutants" * doctest::skip()) {
  const GradcheckOptions ours, loose{.step = 1e-6, .atol = 1e-5, .rtol = 1e-3},
      looser{.step = 1e-4, .atol = 1e-5, .rtol = 1e-2};
  std::printf("accepted error:  1e-6   1e-3   1e-2\n");
  for (const Mutant& mutant : tests::mutants()) {
    const OpSample row = tests::mutated(mutant);
    const auto word = [&](const GradcheckOptions& o) { return found(row, o) ? "found" : "-"; };
    std::printf("%16s %-6s %-6s %-6s %s: %s\n", "", word(ours), word(loose), word(looser),
                mutant.label.c_str(), mutant.fault.c_str());
  }
}
