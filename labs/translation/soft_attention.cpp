// Part 1: attention, from one query to matrices: soft, hard, multiplicative, additive, self.

#include <cmath>

#include "engine/engine.h"
#include "labs/common/heat_map.h"
#include "labs/translation/sections.h"
#include "labs/translation/seq2seq.h"

namespace labgrad::labs::translation {
namespace {

constexpr std::int64_t n = 5, m = 3, d = 4, d_v = 2;

std::string row_text(const Tensor& x) {
  std::string text;
  for (const double v : x.to_vector()) text += fmt::format("{:7.3f}", v);
  return text;
}

// One query q (d), keys K (n, d), values V (n, d_v): b, a and o number by number.
struct ByHand {
  std::vector<double> b, a, o;
};

ByHand by_hand(const std::vector<double>& scores, const Tensor& V) {
  ByHand r{scores, {}, std::vector<double>(static_cast<std::size_t>(V.size(1)))};
  double total = 0;
  for (const double b : r.b) total += std::exp(b);
  for (std::size_t i = 0; i < r.b.size(); ++i) {
    r.a.push_back(std::exp(r.b[i]) / total);
    for (std::size_t j = 0; j < r.o.size(); ++j)
      r.o[j] += r.a[i] * V.at({static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
  }
  return r;
}

std::vector<double> dot_scores(const Tensor& q, const Tensor& K) {
  std::vector<double> b;
  for (std::int64_t i = 0; i < K.size(0); ++i) {
    double dot = 0;
    for (std::int64_t j = 0; j < K.size(1); ++j) dot += q.at({j}) * K.at({i, j});
    b.push_back(dot / std::sqrt(static_cast<double>(K.size(1))));
  }
  return b;
}

double difference(const Tensor& x, const std::vector<double>& want) {
  const std::vector<double> got = x.to_vector();
  double largest = 0;
  for (std::size_t i = 0; i < want.size(); ++i)
    largest = std::max(largest, std::abs(got[i] - want[i]));
  return largest;
}

void soft_and_hard(Lab& lab, const Tensor& Q, const Tensor& K, const Tensor& V) {
  lab.say(
      "Attention answers a query q from {} keys k_i with their values v_i. Each key gets a score "
      "e, a softmax makes weights of the scores, and the answer is the weighted sum of the values:",
      n);
  lab.equation("", "b_i = e(k_i, q),  a = softmax(b),  o = Σ_i a_i v_i");
  const Tensor q = select(Q, 0, 0);
  const ByHand r = by_hand(dot_scores(q, K), V);
  Table table({{"i", "d"}, {"b", ".3f"}, {"a", ".3f"}, {"v"}});
  for (std::int64_t i = 0; i < n; ++i)
    table.row(i, r.b[static_cast<std::size_t>(i)], r.a[static_cast<std::size_t>(i)],
              row_text(select(V, 0, i)));
  table.row("o", "", "", fmt::format("{:7.3f}{:7.3f}", r.o[0], r.o[1]));
  lab.table(table);
  const auto [out, weights] = nn::scaled_dot_product_attention(unsqueeze(q, 0), K, V);
  lab.check_close("soft attention, number by number (largest difference)", difference(out, r.o), 0,
                  1e-12);

  lab.say(
      "Hard attention draws one value with the probabilities a instead. Its answer is one of the "
      "values, another one each time, and right in the mean; but a draw has no gradient for a.");
  const std::int64_t draws = lab.by_budget<std::int64_t>(4000, 20000, 100000);
  const Tensor a = expand(weights, {draws, n});
  const Tensor drawn = nn::sample_values(a, V);
  double worst = 0;
  for (std::int64_t j = 0; j < d_v; ++j) {
    const Tensor x = select(drawn, 1, j);
    const double error = std(x).item() / std::sqrt(static_cast<double>(draws));
    worst = std::max(worst, std::abs(mean(x).item() - r.o[static_cast<std::size_t>(j)]) / error);
  }
  lab.check_less(
      fmt::format("the mean of {} draws is the soft answer (standard errors off)", draws), worst,
      4.5);
}

void multiplicative(Lab& lab, const Tensor& Q, const Tensor& K, const Tensor& V) {
  lab.say("The cheapest score is the dot product, with queries as wide as keys:");
  lab.equation("", "e(k, q) = k·q / √d");
  lab.say(
      "The root takes out what the width puts in. A vector of d ones has the norm √d; and a dot "
      "product of vectors with components of deviation 1 has the deviation √d:");
  Table table({{"d", "d"},
               {"norm of ones", ".3f"},
               {"√d", ".3f"},
               {"deviation of k·q", ".3f"},
               {"of k·q / √d", ".3f"}});
  double worst = 0;
  constexpr std::int64_t pairs = 4000;
  for (const std::int64_t width : {16, 64, 256}) {
    const Tensor s = sum(randn({pairs, width}) * randn({pairs, width}), 1);
    const double root = std::sqrt(static_cast<double>(width)), deviation = std(s).item();
    table.row(width, norm(ones({width})).item(), root, deviation, deviation / root);
    worst = std::max(worst, std::abs(deviation / root - 1));
  }
  lab.table(table);
  // The standard error of a deviation from n numbers is about 1/√(2n): four and a half of them.
  lab.check_less("the deviation of k·q is √d (relative difference)", worst,
                 4.5 / std::sqrt(2.0 * pairs));
  lab.say(
      "Without the root the softmax of a wide model would be nearly one-hot from the start, and "
      "its gradient nearly nothing: the lab `attention` measures that.");

  lab.say("{} queries at once are the rows of a matrix Q, and the whole is two products:", m);
  lab.equation("attention.1", "B = Q Kᵀ / √d,  A = softmax of each row of B,  O = A V");
  const Tensor B = matmul(Q, transpose(K)) / std::sqrt(static_cast<double>(d));
  const Tensor A = softmax(B, 1);
  const Tensor O = matmul(A, V);
  Table matrices({{"query", "d"}, {"row of B"}, {"row of A"}, {"row of O"}});
  double off = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    matrices.row(i, row_text(select(B, 0, i)), row_text(select(A, 0, i)),
                 row_text(select(O, 0, i)));
    const ByHand r = by_hand(dot_scores(select(Q, 0, i), K), V);
    off = std::max({off, difference(select(A, 0, i), r.a), difference(select(O, 0, i), r.o)});
  }
  lab.table(matrices);
  lab.check_close("every row is the query alone, by hand (largest difference)", off, 0, 1e-12);
  lab.check_close("rows of A sum to 1 (largest difference)", max(abs(sum(A, 1) - 1)).item(), 0,
                  1e-12);
}

void additive_score(Lab& lab) {
  lab.say("The additive score is a small network, and queries and keys may have different widths:");
  lab.equation("additive.1", "e(k, q) = vᵀ tanh(W_k k + W_q q)");
  constexpr std::int64_t q_dim = 3, k_dim = 5, h = 4;
  MLPAttention attention(q_dim, k_dim, k_dim, h);
  attention.to(f64);
  const Tensor q = randn({1, 2, q_dim}, {.dtype = f64}), k = randn({1, n, k_dim}, {.dtype = f64});
  const Tensor scores = attention.scores(q, k);
  double worst = 0;
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double e = 0;
      for (std::int64_t u = 0; u < h; ++u) {
        double a = 0;
        for (std::int64_t c = 0; c < k_dim; ++c)
          a += attention.wk.weight.at({u, c}) * k.at({0, j, c});
        for (std::int64_t c = 0; c < q_dim; ++c)
          a += attention.wq.weight.at({u, c}) * q.at({0, i, c});
        e += attention.v.weight.at({0, u}) * std::tanh(a);
      }
      worst = std::max(worst, std::abs(e - scores.at({0, i, j})));
    }
  lab.check_close("scores of 2 queries and 5 keys, by loops (largest difference)", worst, 0, 1e-12);
  lab.say(
      "W_k k does not depend on the query. A decoder that asks the same {} keys at every step "
      "computes it once for a sentence.",
      n);
}

void self_attention(Lab& lab) {
  lab.say(
      "Self-attention asks a sequence about itself: queries, keys and values are all made of the "
      "same x_1 .. x_n. Nothing in it knows the order: if the sequence is turned round, so is the "
      "answer, and nothing else changes. A recurrent network does know.");
  const Tensor x = randn({n, d}, {.dtype = f64});
  const auto [y, a] = nn::scaled_dot_product_attention(x, x, x);
  const Tensor turned =
      nn::scaled_dot_product_attention(flip(x, {0}), flip(x, {0}), flip(x, {0})).out;
  lab.check_close("self-attention of the turned sequence, turned back (largest difference)",
                  max(abs(flip(turned, {0}) - y)).item(), 0, 1e-12);
  nn::GRU gru(d, d);
  gru.to(f64);
  const Tensor xs = unsqueeze(x, 1);
  lab.check_greater(
      "the same for a GRU (largest difference)",
      max(abs(flip(gru.forward(flip(xs, {0})).out, {0}) - gru.forward(xs).out)).item(), 1e-3);
  HeatMap map{.title = "Self-attention of five vectors",
              .row_title = "query",
              .column_title = "key",
              .number_format = ".2f"};
  for (const Tensor& row : unbind(a, 0)) map.values.push_back(row.to_vector());
  lab.picture("self_attention", "Each vector's weights over all five.", draw_heat_map(map));
}

}  // namespace

void soft_attention(Lab& lab) {
  NoGrad no_grad;
  const Tensor Q = randn({m, d}, {.dtype = f64}), K = randn({n, d}, {.dtype = f64});
  const Tensor V = randn({n, d_v}, {.dtype = f64});
  soft_and_hard(lab, Q, K, V);
  multiplicative(lab, Q, K, V);
  additive_score(lab);
  self_attention(lab);
}

}  // namespace labgrad::labs::translation
