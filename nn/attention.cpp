#include "nn/attention.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "engine/create.h"
#include "engine/ops.h"

namespace labgrad::nn {

Attended scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                      const Tensor& keep, Caller caller) {
  if (q.rank() < 2 || k.rank() < 2 || v.rank() < 2 || q.size(-1) != k.size(-1) ||
      k.size(-2) != v.size(-2))
    fail(fmt::format("attention: q {}, k {}, v {}: expected (..., Q, d_k), (..., K, d_k), "
                     "(..., K, d_v)",
                     q.shape().str(), k.shape().str(), v.shape().str()),
         caller);
  const double d_k = static_cast<double>(q.size(-1));
  const Tensor scores = matmul(q, transpose(k)) * (1 / std::sqrt(d_k));  // Q Kᵀ / √d_k
  const Tensor weights = keep.defined() ? masked_softmax(scores, keep, -1) : softmax(scores, -1);
  return {matmul(weights, v), weights};
}

Tensor causal_mask(std::int64_t T) {
  const Tensor t = arange(T);
  return unsqueeze(t, 0) <= unsqueeze(t, 1);
}

Tensor length_mask(const Tensor& lengths, std::int64_t T) {
  return unsqueeze(arange(T, {.device = lengths.device()}), 0) < unsqueeze(lengths, 1);
}

MultiHeadAttention::MultiHeadAttention(std::int64_t d_model, std::int64_t n_heads, Generator& g)
    : q(d_model, d_model, {}, g),
      k(d_model, d_model, {}, g),
      v(d_model, d_model, {}, g),
      out(d_model, d_model, {}, g),
      heads(n_heads) {
  if (heads < 1 || d_model % heads != 0)
    fail(fmt::format("MultiHeadAttention: d_model {} is not a multiple of {} heads", d_model,
                     heads));
}

Tensor MultiHeadAttention::split(const Tensor& x) const {
  return transpose(reshape(x, {x.size(0), x.size(1), heads, -1}), 1, 2);
}

Tensor MultiHeadAttention::merge(const Tensor& x) const {
  return flatten(transpose(x, 1, 2), 2, 3);
}

Attended MultiHeadAttention::forward(const Tensor& queries, const Tensor& keys,
                                     const Tensor& values, const Tensor& keep) {
  const Tensor Q = split(q(queries));
  const Tensor K = split(k(keys));
  const Tensor V = split(v(values));
  const auto [heads_out, weights] = scaled_dot_product_attention(Q, K, V, keep);
  return {out(merge(heads_out)), weights};
}

void MultiHeadAttention::members(Members& m) {
  m("q", q);
  m("k", k);
  m("v", v);
  m("out", out);
}

std::string MultiHeadAttention::details() const {
  return fmt::format("d_model={}, heads={}", q.weight.shape()[0], heads);
}

AdditiveAttention::AdditiveAttention(std::int64_t q_dim, std::int64_t k_dim, std::int64_t h_dim,
                                     Generator& g)
    : wk(k_dim, h_dim, {.bias = false}, g),
      wq(q_dim, h_dim, {.bias = false}, g),
      v(h_dim, 1, {.bias = false}, g) {}

namespace {

// vᵀ tanh(W_q q + W_k k) of q (B, Q, h) and k (B, K, h), both projected.
Tensor additive(const Tensor& q, const Tensor& k, const Linear& v) {
  return additive_scores(q, k, squeeze(v.weight, 0));
}

}  // namespace

Tensor AdditiveAttention::scores(const Tensor& queries, const Tensor& keys) {
  return additive(wq(queries), project(keys), v);
}

Attended AdditiveAttention::ask(const Tensor& queries, const Tensor& projected,
                                const Tensor& values, const Tensor& keep) {
  const Tensor s = additive(wq(queries), projected, v);
  const Tensor weights = keep.defined() ? masked_softmax(s, keep, -1) : softmax(s, -1);
  return {matmul(weights, values), weights};
}

Attended AdditiveAttention::forward(const Tensor& queries, const Tensor& keys, const Tensor& values,
                                    const Tensor& seq_len) {
  const Tensor keep =
      seq_len.defined() ? unsqueeze(length_mask(seq_len, keys.size(1)), 1) : Tensor();
  return ask(queries, project(keys), values, keep);
}

void AdditiveAttention::members(Members& m) {
  m("wk", wk);
  m("wq", wq);
  m("v", v);
}

std::string AdditiveAttention::details() const {
  return fmt::format("q_dim={}, k_dim={}, h_dim={}", wq.weight.shape()[1], wk.weight.shape()[1],
                     wk.weight.shape()[0]);
}

Tensor sample_values(const Tensor& weights, const Tensor& values, Generator& g) {
  NoGrad no_grad;
  const std::int64_t K = weights.size(-1);
  const std::vector<double> p = weights.to_vector();
  Shape drawn = weights.shape();
  drawn[drawn.rank() - 1] = 1;
  const auto rows = static_cast<std::size_t>(drawn.numel());
  std::vector<double> u(rows);
  g.uniform(std::span<double>(u));
  std::vector<std::int64_t> chosen(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const double* w = p.data() + row * static_cast<std::size_t>(K);
    const double total = std::accumulate(w, w + K, 0.0);
    if (!(std::abs(total - 1) <= 1e-4))
      fail(fmt::format("sample_values: row {} of the weights sums to {}, expected 1", row, total));
    std::int64_t j = 0;  // the first key with u < w_0 + ... + w_j
    for (double below = w[0]; j + 1 < K && u[row] >= below; below += w[++j]) {}
    chosen[row] = j;
  }
  const Tensor one =
      one_hot(squeeze(from_values(std::span<const std::int64_t>(chosen), drawn), -1), K);
  return matmul(to(to(one, values.dtype()), values.device()), values);
}

}  // namespace labgrad::nn
