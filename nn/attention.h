#pragma once
// Attention: a query asks, keys answer how well they match, and the values are averaged by that.
//
// Masks say what may be seen: keep is true where the query may look at the key. A query that may
// look at none gets zeros (weights and output), not NaN; and its gradients are zeros.
//
// B batch, Q queries, K keys (and values), H heads, D = d_model, d_k width of a query and a key.

#include <utility>

#include "nn/linear.h"

namespace labgrad::nn {

struct Attended {
  Tensor out;      // the averaged values
  Tensor weights;  // the averages' weights, over the keys
};

// Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V         Vaswani et al. 2017, equation 1 [attention.1]
// q (..., Q, d_k), k (..., K, d_k), v (..., K, d_v) -> out (..., Q, d_v), weights (..., Q, K).
// keep: bool, broadcasts to (..., Q, K); undefined: all may be seen.
// Errors: sizes that do not match; keep is not bool.
Attended scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                      const Tensor& keep = {}, Caller caller = Caller::here());

// (T, T) of bool: query i may look at the keys 0 .. i.
Tensor causal_mask(std::int64_t T);
// (B, T) of bool: key j of row b may be seen if j < lengths[b]. lengths (B).
Tensor length_mask(const Tensor& lengths, std::int64_t T);

// MultiHead(x) = Concat(head_1 ... head_H) W_O, head_i = Attention(x W_Qi, x W_Ki, x W_Vi)
class MultiHeadAttention : public Module {
 public:
  Linear q, k, v, out;  // D -> D each; heads are slices of D/H
  std::int64_t heads;

  // Error: d_model is not a multiple of heads.
  MultiHeadAttention(std::int64_t d_model, std::int64_t heads, Generator& g = default_generator());

  // Self-attention. x (B, T, D), keep broadcasts to (B, H, T, T)
  // -> out (B, T, D), weights (B, H, T, T).
  Attended forward(const Tensor& x, const Tensor& keep = {}) { return forward(x, x, x, keep); }
  // queries (B, Q, D); keys and values (B, K, D); keep broadcasts to (B, H, Q, K).
  Attended forward(const Tensor& queries, const Tensor& keys, const Tensor& values,
                   const Tensor& keep = {});

  void members(Members& m) override;
  std::string kind() const override { return "MultiHeadAttention"; }
  std::string details() const override;

 private:
  Tensor split(const Tensor& x) const;  // (B, T, D) -> (B, H, T, d_k)
  Tensor merge(const Tensor& x) const;  // and back
};

// score(q, k) = vᵀ tanh(W_q q + W_k k)           Bahdanau et al. 2015, appendix A.1.2 [additive.1]
class AdditiveAttention : public Module {
 public:
  Linear wk, wq, v;  // without bias; drawn in this order

  AdditiveAttention(std::int64_t q_dim, std::int64_t k_dim, std::int64_t h_dim,
                    Generator& g = default_generator());

  // q (B, Q, q_dim), k (B, K, k_dim), values (B, K, v_dim) -> out (B, Q, v_dim), weights (B, Q, K).
  // seq_len (B) of i64: how many of the K keys are real in each row; undefined: all.
  Attended forward(const Tensor& queries, const Tensor& keys, const Tensor& values,
                   const Tensor& seq_len = {});
  // The same in two halves, for a decoder that asks the same keys at every step: W_k k once,
  // (B, K, h_dim), and all that depends on the query. keep: bool, broadcasts to (B, Q, K).
  Tensor project(const Tensor& keys) { return wk(keys); }
  Attended ask(const Tensor& queries, const Tensor& projected, const Tensor& values,
               const Tensor& keep = {});
  // The scores alone: (B, Q, K).
  Tensor scores(const Tensor& queries, const Tensor& keys);

  void members(Members& m) override;
  std::string kind() const override { return "AdditiveAttention"; }
  std::string details() const override;
};

// Hard attention: instead of the average, the value of one key drawn with the weights'
// probabilities. weights (..., Q, K), values (..., K, d_v) -> (..., Q, d_v). Without a gradient for
// the weights: a draw has none. Error: a row of weights does not sum to 1.
Tensor sample_values(const Tensor& weights, const Tensor& values,
                     Generator& g = default_generator());

}  // namespace labgrad::nn
