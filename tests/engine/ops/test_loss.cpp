#include <doctest/doctest.h>

#include <cmath>

#include "engine/engine.h"
#include "tests/engine/ops/golden_ops.h"

using namespace labgrad;
using tests::check_golden;
using tests::difference;

namespace {

Tensor leaf(const NestedList& values) {
  return tensor(values, {.dtype = f64, .requires_grad = true});
}

}  // namespace

TEST_CASE("cross_entropy: golden values and gradients") {
  const auto run = [](const Json& attrs, tests::Named& in) {
    const std::int64_t ignored = attrs.at("ignore_index").as_int();
    const bool mean = attrs.at("reduction").as_string() == "mean";
    const Tensor y =
        cross_entropy(in["logits"], in["target"],
                      {.ignore_index = ignored, .reduction = mean ? Reduce::mean : Reduce::sum});
    // Where all targets are ignored the file has PyTorch's NaN; ours is 0, tested below.
    return all(in["target"] == ignored).item<bool>() ? y + std::nan("") : y;
  };
  CHECK(check_golden("cross_entropy", run) == 5);
}

TEST_CASE("cross_entropy: all targets ignored gives 0 and gradients 0") {
  const Tensor logits = leaf({{1, 2}, {3, 4}});
  const Tensor target = tensor({-100, -100});
  for (Reduce r : {Reduce::mean, Reduce::sum}) {
    const Tensor loss = cross_entropy(logits, target, {.reduction = r});
    CHECK(loss.item() == 0);
    CHECK(grad(loss, logits).to_vector() == std::vector<double>(4, 0));
  }
  const Tensor each = cross_entropy(logits, target, {.reduction = Reduce::none});
  CHECK(each.to_vector() == std::vector<double>{0, 0});
}

TEST_CASE("cross_entropy: class weights and label smoothing by their formulas") {
  // loss = Σ_i [(1-ε) w_t (-logp_t) + ε/C Σ_c w_c (-logp_c)] / Σ_i w_t
  const Tensor logits = leaf({{0.5, -1, 2}, {1, 0, -0.5}, {3, 1, 1}});
  const Tensor target = tensor({2, -100, 0}), w = tensor({0.5, 2.0, 3.0}, {.dtype = f64});
  const Tensor p = log_softmax(logits, 1);
  const double e = 0.2;
  double total = 0;
  for (const auto& [row, t] : {std::pair{0, 2}, std::pair{2, 0}}) {
    double smooth = 0;
    for (int c = 0; c < 3; ++c) smooth -= w.at({c}) * p.at({row, c});
    total += -(1 - e) * w.at({t}) * p.at({row, t}) + e / 3 * smooth;
  }
  const auto loss = [&](Reduce r) {
    return cross_entropy(logits, target, {.weight = w, .label_smoothing = e, .reduction = r});
  };
  CHECK(difference(loss(Reduce::sum), {total}) == "");
  CHECK(difference(loss(Reduce::mean), {total / 3.5}) == "");
  CHECK(loss(Reduce::none).at({1}) == 0);
  // The same smoothed target written out as a distribution.
  const Tensor spread = tensor({{e / 3, e / 3, 1 - e + e / 3}}, {.dtype = f64});
  CHECK(difference(cross_entropy(narrow(logits, 0, 0, 1), spread, {.weight = w}),
                   {cross_entropy(narrow(logits, 0, 0, 1), tensor({2}),
                                  {.weight = w, .label_smoothing = e, .reduction = Reduce::sum})
                        .item()}) == "");
}

TEST_CASE("cross_entropy: one row, and pixels") {
  const Tensor x = rand({2, 3, 4, 5}, {.dtype = f64});
  const Tensor t = randint(0, 3, {2, 4, 5});
  const Tensor each = cross_entropy(x, t, {.reduction = Reduce::none});
  CHECK(each.shape() == Shape{2, 4, 5});
  const Tensor pixel = select(select(select(x, 3, 4), 2, 1), 0, 1);
  const Tensor label = select(select(select(t, 2, 4), 1, 1), 0, 1);
  CHECK(difference(cross_entropy(pixel, label), {each.at({1, 1, 4})}) == "");
  CHECK(difference(cross_entropy(x, t), {mean(each).item()}) == "");
}

TEST_CASE("cross_entropy and nll_loss: an ignored row may hold anything") {
  const double inf = HUGE_VAL;
  const Tensor logp = leaf({{-0.5, -1}, {-inf, -inf}});
  const Tensor loss = nll_loss(logp, tensor({1, -100}));
  CHECK(loss.item() == 1);
  CHECK(difference(grad(loss, logp), {0, -1, 0, 0}) == "");
}

TEST_CASE("cross_entropy: errors name value, place and range") {
  const Tensor x = zeros({2, 5});
  CHECK_THROWS_WITH_AS(
      cross_entropy(x, tensor({0, 7})),
      doctest::Contains("cross_entropy: target 7 at (1,) is out of range; expected "
                        "0 .. 4 or ignore_index -100"),
      Error);
  CHECK_THROWS_WITH_AS(nll_loss(x, tensor({-1, 0})), doctest::Contains("nll_loss: target -1"),
                       Error);
  CHECK_THROWS_WITH_AS(cross_entropy(x, tensor({0, 1, 2})), doctest::Contains("expected i64 (2,)"),
                       Error);
  CHECK_THROWS_WITH_AS(cross_entropy(x, zeros({2})),
                       doctest::Contains("a target of distributions must have the scores' shape"),
                       Error);
  CHECK_THROWS_WITH_AS(cross_entropy(x, tensor({0, 1}), {.weight = ones({4})}),
                       doctest::Contains("class weights have shape (4,)"), Error);
  CHECK_THROWS_WITH_AS(cross_entropy(x, tensor({0, 1}), {.label_smoothing = 1.5}),
                       doctest::Contains("label_smoothing is 1.5"), Error);
}

TEST_CASE("mse_loss: reductions, gradient, and no silent broadcasting") {
  const Tensor x = leaf({1, 2, 4}), target = tensor({1.0, 0.0, 1.0}, {.dtype = f64});
  CHECK(difference(mse_loss(x, target), {13.0 / 3}) == "");
  CHECK(difference(mse_loss(x, target, Reduce::sum), {13}) == "");
  CHECK(difference(mse_loss(x, target, Reduce::none), {0, 4, 9}) == "");
  CHECK(difference(grad(mse_loss(x, target), x), {0, 4.0 / 3, 2}) == "");
  CHECK_THROWS_WITH_AS(mse_loss(zeros({3}), zeros({3, 1})),
                       doctest::Contains("mse_loss: the prediction has shape (3,)"), Error);
}

TEST_CASE("nll_loss: all targets ignored gives 0 and gradients 0, as cross_entropy does") {
  const Tensor x = leaf({{1, 2}, {3, 4}}), target = tensor({7, 7});
  for (Reduce r : {Reduce::mean, Reduce::sum}) {
    const Tensor loss = nll_loss(x, target, {.ignore_index = 7, .reduction = r});
    CHECK(loss.item() == 0);
    CHECK(grad(loss, x).to_vector() == std::vector<double>(4, 0));
  }
  const Tensor smooth = cross_entropy(
      x, target, {.ignore_index = 7, .weight = ones({2}, {.dtype = f64}), .label_smoothing = 0.1});
  CHECK(smooth.item() == 0);
  CHECK(grad(smooth, x).to_vector() == std::vector<double>(4, 0));
}

// The mean of the batches' perplexities depends on how the tokens were batched.
TEST_CASE("cross_entropy: sums over batches give one perplexity, whatever the batch size") {
  const Tensor x = 3 * randn({24, 5}, {.dtype = f64}), target = randint(0, 5, {24});
  const Tensor kept = where(arange(24) < 17, target, -100);  // the rest is padding
  std::vector<double> perplexities;
  for (std::int64_t size : {1, 7, 24}) {
    double total = 0, tokens = 0;
    for (std::int64_t i = 0; i < 24; i += size) {
      const Tensor rows = slice(x, 0, i, i + size), labels = slice(kept, 0, i, i + size);
      total += cross_entropy(rows, labels, {.reduction = Reduce::sum}).item();
      tokens += sum(labels != -100).item();
    }
    perplexities.push_back(std::exp(total / tokens));
  }
  for (double p : perplexities) CHECK(p == doctest::Approx(perplexities[0]).epsilon(1e-12));
  CHECK(std::exp(cross_entropy(x, kept).item()) == doctest::Approx(perplexities[0]));
}
