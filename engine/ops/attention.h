#pragma once
// Scores of queries and keys.

#include "engine/tensor.h"

namespace labgrad {

// e_ij = Σ_u v_u tanh(q_iu + k_ju) for each sample: q (B, Q, U), k (B, K, U), v (U) -> (B, Q, K).
// What additive attention asks, both projected: Bahdanau et al. 2015, appendix A.1.2. The same as
// tanh(unsqueeze(q, 2) + unsqueeze(k, 1)) times v, but no tensor of (B, Q, K, U) is made.
// Error: shapes, dtypes or devices that do not fit.
Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& v,
                       Caller caller = Caller::here());

}  // namespace labgrad
