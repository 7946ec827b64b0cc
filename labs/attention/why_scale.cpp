// Section 2: what unscaled dot products do to a softmax, and to its gradient.

#include <cmath>

#include "engine/engine.h"
#include "labs/attention/sections.h"
#include "labs/common/plot.h"

namespace labgrad::labs::attention {
namespace {

// A softmax over 64 scores of deviation `std`, averaged over many draws.
struct Sharpness {
  double largest = 0;   // the largest weight
  double entropy = 0;   // -Σ w ln w; ln 64 for equal weights
  double gradient = 0;  // the size of the softmax's Jacobian, ‖diag(w) - w wᵀ‖ (Frobenius)
};

Sharpness sharpness(double std, const Tensor& unit_scores) {
  const Tensor w = softmax(unit_scores * std, -1);
  const Tensor entropy = -sum(where(w > 0, w * log(where(w > 0, w, 1)), 0), -1);
  // ‖diag(w) - w wᵀ‖² = Σ w² - 2 Σ w³ + (Σ w²)²
  const Tensor w2 = sum(square(w), -1);
  const Tensor jacobian = sqrt(relu(w2 - 2 * sum(w * square(w), -1) + square(w2)));
  return {mean(max(w, -1).values).item(), mean(entropy).item(), mean(jacobian).item()};
}

}  // namespace

void why_scale(Lab& lab) {
  lab.say(
      "The components of q and k shall be independent, with mean 0 and variance 1. Then q·k is a "
      "sum of d_k independent terms of variance 1, so its standard deviation is √d_k. Measured on "
      "2,000 pairs for each d_k; then a softmax is taken of 64 scores of that deviation, and of "
      "the same 64 scores divided by √d_k, in the mean of 200 draws.");
  const auto prediction = lab.predict(
      "With d_k = 1,024, how large will the largest of the 64 "
      "unscaled weights be?");

  manual_seed(static_cast<std::uint64_t>(lab.seed()));
  constexpr std::int64_t pairs = 2000;
  const Tensor unit_scores = randn({200, 64}, {.dtype = f64});  // 1 - w is smaller than f32 tells
  Table table(
      {{"d_k", "d"},
       {"std q·k", ".3f"},
       {"std/√d_k", ".3f"},
       {"max weight", ".4f"},
       {"scaled", ".4f"},
       {"entropy", ".3f"},
       {"scaled", ".3f"},
       {"gradient", ".4f"},
       {"scaled", ".4f"}},
      "Largest weight, entropy and size of the Jacobian of the softmax: unscaled, then scaled");
  Series unscaled{.name = "unscaled", .style = Style::line_and_points};
  Series scaled{.name = "divided by √d_k", .style = Style::line_and_points};
  double worst_ratio = 0, last_largest = 0;
  std::vector<double> raw_gradients, scaled_gradients;
  for (const std::int64_t d_k : {4, 16, 64, 256, 1024}) {
    const Tensor q = randn({pairs, d_k}), k = randn({pairs, d_k});
    const double deviation = std(sum(q * k, -1)).item();
    const double ratio = deviation / std::sqrt(static_cast<double>(d_k));
    const Sharpness raw = sharpness(deviation, unit_scores);
    const Sharpness soft = sharpness(ratio, unit_scores);
    table.row(d_k, deviation, ratio, raw.largest, soft.largest, raw.entropy, soft.entropy,
              raw.gradient, soft.gradient);
    worst_ratio = std::max(worst_ratio, std::abs(ratio - 1));
    last_largest = raw.largest;
    raw_gradients.push_back(raw.gradient);
    scaled_gradients.push_back(soft.gradient);
    for (auto [series, value] : {std::pair{&unscaled, raw.gradient}, {&scaled, soft.gradient}}) {
      series->x.push_back(static_cast<double>(d_k));
      series->y.push_back(value);
    }
  }
  lab.reveal(prediction, last_largest, 0.1);
  lab.table(table);
  lab.picture("softmax_gradient", "The size of the softmax's Jacobian against d_k.",
              draw_plot({.title = "How much of a gradient the softmax lets through",
                         .x = {.label = "d_k", .log = true},
                         .y = {.label = "‖diag(w) - w wᵀ‖", .log = true},
                         .series = {unscaled, scaled}}));

  // The deviation of n normal numbers has a standard error of about 1/√(2n), and a dot product has
  // heavier tails than that (kurtosis 3 + 6/d_k): four standard errors at d_k = 4.
  const double error = 4 * std::sqrt((2 + 6.0 / 4) / (4.0 * pairs));
  lab.check_less("the deviation over √d_k is 1, up to sampling", worst_ratio, error);
  // Saturated, w is nearly one-hot and the Jacobian nearly 0: a fifth of its size in the middle.
  const double peak = *std::max_element(raw_gradients.begin(), raw_gradients.end());
  lab.check_less("unscaled, the gradient has fallen at d_k = 1,024 (of its largest)",
                 raw_gradients.back() / peak, 0.5);
  const auto [low, high] = std::minmax_element(scaled_gradients.begin(), scaled_gradients.end());
  lab.check_greater("scaled, it stays as it is (smallest over largest)", *low / *high, 0.9);
  lab.say(
      "Unscaled, one weight takes all as d_k grows: at 1,024 the largest of 64 is {:.4f} in the "
      "mean. A softmax that is saturated passes hardly any gradient back, so the keys and queries "
      "behind it stop learning. Divided by √d_k the scores have variance 1 whatever the width, and "
      "nothing changes with it. That is what the factor is for.",
      last_largest);
}

}  // namespace labgrad::labs::attention
