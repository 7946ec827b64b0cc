// Q3.1: the function `attend` on numbers by hand, with a zero query, and against a second one.

#include <cmath>

#include "engine/engine.h"
#include "labs/digit_reader/readers.h"
#include "labs/digit_reader/sections.h"

namespace labgrad::labs::digit_reader {
namespace {

void by_hand(Lab& lab) {
  constexpr double q[2] = {1.2, 0.6};
  constexpr double k[3][2] = {{1.4, 0.9}, {-1.1, 1.3}, {-0.8, -1.4}};
  constexpr double v[3][3] = {{0.86, 0.20, 0.18}, {0.22, 0.62, 0.28}, {0.48, 0.30, 0.78}};
  const auto [c, alpha] =
      attend(tensor({{1.2, 0.6}}), tensor({{{1.4, 0.9}, {-1.1, 1.3}, {-0.8, -1.4}}}),
             tensor({{{0.86, 0.20, 0.18}, {0.22, 0.62, 0.28}, {0.48, 0.30, 0.78}}}));
  double e[3], total = 0;
  for (int j = 0; j < 3; ++j) {
    e[j] = (q[0] * k[j][0] + q[1] * k[j][1]) / std::sqrt(2.0);
    total += std::exp(e[j]);
  }
  Table table(
      {{"key"}, {"value"}, {"q·k / √2", ".4f"}, {"weight by hand", ".6f"}, {"attend", ".6f"}},
      "One query q = (1.2, 0.6)");
  double by_hand_c[3] = {}, worst_weight = 0, worst_c = 0;
  for (std::int64_t j = 0; j < 3; ++j) {
    const double w = std::exp(e[j]) / total;
    table.row(fmt::format("({}, {})", k[j][0], k[j][1]),
              fmt::format("({:.2f}, {:.2f}, {:.2f})", v[j][0], v[j][1], v[j][2]), e[j], w,
              alpha.at({0, j}));
    worst_weight = std::max(worst_weight, std::abs(w - alpha.at({0, j})));
    for (int d = 0; d < 3; ++d) by_hand_c[d] += w * v[j][d];
  }
  for (std::int64_t d = 0; d < 3; ++d)
    worst_c = std::max(worst_c, std::abs(by_hand_c[d] - c.at({0, d})));
  lab.table(table);
  lab.say("The context is the mixture of the three values: ({:.4f}, {:.4f}, {:.4f}).", c.at({0, 0}),
          c.at({0, 1}), c.at({0, 2}));
  lab.check_close("the weights are those by hand (largest difference)", worst_weight, 0, 1e-6);
  lab.check_close("and so is the context", worst_c, 0, 1e-6);
}

void zero_query(Lab& lab) {
  const auto prediction = lab.predict(
      "A query of zeros meets three keys. What is the largest weight, whatever the keys?");
  const auto alpha = attend(zeros({1, 2}), randn({1, 3, 2}), randn({1, 3, 3})).alpha;
  lab.reveal(prediction, max(alpha).item(), 0.01);
  lab.check_close("a query of zeros weighs all keys alike (largest difference from 1/3)",
                  max(abs(alpha - 1.0 / 3.0)).item(), 0, 1e-6);
}

// The context once more, by plain loops in double precision.
std::vector<double> reference(const Tensor& q, const Tensor& K, const Tensor& V) {
  const std::int64_t B = K.size(0), N = K.size(1), d_k = K.size(2), d_v = V.size(2);
  const std::vector<double> qs = q.to_vector(), ks = K.to_vector(), vs = V.to_vector();
  const auto at = [](const std::vector<double>& x, std::int64_t i) {
    return x[static_cast<std::size_t>(i)];
  };
  std::vector<double> out;
  for (std::int64_t b = 0; b < B; ++b) {
    std::vector<double> w;
    double total = 0;
    for (std::int64_t j = 0; j < N; ++j) {
      double e = 0;
      for (std::int64_t d = 0; d < d_k; ++d)
        e += at(qs, b * d_k + d) * at(ks, (b * N + j) * d_k + d);
      w.push_back(std::exp(e / std::sqrt(static_cast<double>(d_k))));
      total += w.back();
    }
    for (std::int64_t d = 0; d < d_v; ++d) {
      double c = 0;
      for (std::int64_t j = 0; j < N; ++j) c += at(w, j) / total * at(vs, (b * N + j) * d_v + d);
      out.push_back(c);
    }
  }
  return out;
}

void random_tensors(Lab& lab) {
  constexpr std::int64_t B = 5, N = 21, d_k = 64, d_v = 128;
  manual_seed(0);
  const Tensor q = randn({B, d_k}), K = randn({B, N, d_k}), V = randn({B, N, d_v});
  const auto [c, alpha] = attend(q, K, V);
  const std::vector<double> got = c.to_vector(), want = reference(q, K, V);
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(got[i] - want[i]));
  lab.say("Random tensors of this lab's sizes, B = {}, N = {}, d_k = {}, d_v = {}:", B, N, d_k,
          d_v);
  lab.check_close("every row of weights sums to 1 (largest difference)",
                  max(abs(sum(alpha, 1) - 1)).item(), 0, 1e-6);
  lab.check_close("the context, against loops in double precision (largest difference)", worst, 0,
                  1e-5);
}

}  // namespace

void attend_checks(Lab& lab) {
  lab.equation("reader.2", "e_j = q·k_j / √d_k,  α = softmax(e),  c = Σ_j α_j v_j");
  by_hand(lab);
  zero_query(lab);
  random_tensors(lab);
}

}  // namespace labgrad::labs::digit_reader
