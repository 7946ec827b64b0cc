// Section 8: additive scores in place of dot products, and drawing one value in place of averaging.

#include <cmath>

#include "engine/engine.h"
#include "labs/attention/sections.h"
#include "labs/common/heat_map.h"
#include "nn/attention.h"

namespace labgrad::labs::attention {
namespace {

std::vector<std::vector<double>> rows(const Tensor& weights) {
  std::vector<std::vector<double>> all;
  for (const Tensor& row : unbind(weights, 0)) all.push_back(row.to_vector());
  return all;
}

}  // namespace

void additive_and_hard(Lab& lab) {
  NoGrad no_grad;
  manual_seed(static_cast<std::uint64_t>(lab.seed()));
  constexpr std::int64_t T = 6, D = 8, h = 16, real = 4;
  lab.say(
      "The same {} vectors of width {} attend to each other with two kinds of scores. The last {} "
      "are padding and may not be seen.",
      T, D, T - real);
  lab.equation("attention.1", "multiplicative: score(q, k) = q·k / √d_k");
  lab.equation("additive.1", "additive: score(q, k) = vᵀ tanh(W_q q + W_k k)");
  const Tensor x = randn({1, T, D});
  const Tensor lengths = tensor({real});
  nn::AdditiveAttention additive(D, D, h);
  const auto [mul_out, mul_weights] =
      nn::scaled_dot_product_attention(x, x, x, unsqueeze(nn::length_mask(lengths, T), 1));
  const auto [add_out, add_weights] = additive.forward(x, x, x, lengths);

  Table table({{"query", "d"}, {"multiplicative weights"}, {"additive weights"}});
  auto text = [](const Tensor& w, std::int64_t query) {
    std::string line;
    for (double v : select(select(w, 0, 0), 0, query).to_vector())
      line += fmt::format("{:.3f} ", v);
    return line;
  };
  for (std::int64_t i = 0; i < T; ++i) table.row(i, text(mul_weights, i), text(add_weights, i));
  lab.table(table);
  lab.say(
      "The dot product needs queries and keys of one width and costs one multiplication a "
      "component "
      "({} for each pair here); the additive score learns a small network for each pair ({} "
      "multiplications) and takes any widths. Untrained, the additive weights are nearly equal; a "
      "vector finds itself by the dot product at once.",
      D, h);
  for (const auto& [name, w] :
       {std::pair{"multiplicative", mul_weights}, {"additive", add_weights}}) {
    lab.check_close(fmt::format("{}: rows sum to 1 (largest difference)", name),
                    max(abs(sum(w, -1) - 1)).item(), 0, 1e-6);
    lab.check_equal(fmt::format("{}: padding gets exactly nothing", name),
                    sum(narrow(w, 2, real, T - real) != 0).item<std::int64_t>(), 0);
  }
  HeatMap map{.title = "Multiplicative weights",
              .values = rows(select(mul_weights, 0, 0)),
              .row_title = "query",
              .column_title = "key",
              .number_format = ".2f"};
  lab.picture("multiplicative_weights", "Dot products: each vector mostly sees itself.",
              draw_heat_map(map));
  map.title = "Additive weights, untrained";
  map.values = rows(select(add_weights, 0, 0));
  lab.picture("additive_weights", "Additive scores before training.", draw_heat_map(map));

  // By plain loops, from the equation: one pair.
  const std::vector<double> q = select(select(x, 0, 0), 0, 1).to_vector();
  const std::vector<double> k = select(select(x, 0, 0), 0, 2).to_vector();
  double by_hand = 0;
  for (std::int64_t j = 0; j < h; ++j) {
    double a = 0;
    for (std::int64_t d = 0; d < D; ++d)
      a += additive.wq.weight.at({j, d}) * q[static_cast<std::size_t>(d)] +
           additive.wk.weight.at({j, d}) * k[static_cast<std::size_t>(d)];
    by_hand += additive.v.weight.at({0, j}) * std::tanh(a);
  }
  lab.check_close("additive score of query 1 and key 2, by plain loops",
                  additive.scores(x, x).at({0, 1, 2}), by_hand, 1e-5);

  const std::int64_t draws = lab.by_budget<std::int64_t>(4000, 20000, 100000);
  lab.say(
      "Hard attention draws one key with the probability of its weight and returns that key's "
      "value "
      "alone. It has no gradient, but the right mean: over {} draws the mean approaches soft "
      "attention, up to a standard error of σ/√n for each component.",
      draws);
  const Tensor w = select(select(mul_weights, 0, 0), 0, 0);  // query 0
  const Tensor values = select(x, 0, 0);
  const Tensor drawn =
      nn::sample_values(expand(unsqueeze(w, 0), {draws, T}), values);  // (draws, D)
  const Tensor soft = select(select(mul_out, 0, 0), 0, 0);
  const Tensor hard = mean(drawn, 0);
  const Tensor error = std(drawn, 0) * (1 / std::sqrt(static_cast<double>(draws)));
  Table means({{"component", "d"},
               {"soft", ".4f"},
               {"mean of draws", ".4f"},
               {"standard error", ".4f"},
               {"difference / error", ".2f"}});
  double worst = 0;
  for (std::int64_t d = 0; d < D; ++d) {
    const double z = (hard.at({d}) - soft.at({d})) / error.at({d});
    worst = std::max(worst, std::abs(z));
    means.row(d, soft.at({d}), hard.at({d}), error.at({d}), z);
  }
  lab.table(means);
  lab.check_less("hard attention is right in the mean (largest difference in standard errors)",
                 worst, 4.5);
}

}  // namespace labgrad::labs::attention
