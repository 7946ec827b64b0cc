// The additive score of every query and key, and its backward. The hyperbolic tangent of each
// (i, j, u) takes far longer than its operands' way from memory: nothing is kept of the forward
// pass, and the backward takes each tangent twice.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/cuda/cuda.h"
#include "engine/cuda/warp.h"
#include "engine/cuda/workspace.h"
#include "engine/naive/formulas.h"

namespace labgrad {

namespace {

struct Sizes {
  std::int64_t B, Q, K, U;
};

// e_bij = Σ_u v_u tanh(q_biu + k_bju): a warp for each score, of which each lane takes every 32nd
// term, so that the lanes read neighbours.
template <class T>
__global__ void scores_kernel(Memory<T> e, Memory<const T> q, Memory<const T> k, Memory<const T> v,
                              Sizes s) {
  const std::int64_t step = std::int64_t{gridDim.x} * warps_in_block();
  for (std::int64_t at = std::int64_t{blockIdx.x} * warps_in_block() + warp_index();
       at < s.B * s.Q * s.K; at += step) {
    const std::int64_t row = at / s.K;  // b Q + i
    const std::int64_t from_q = row * s.U, from_k = (row / s.Q * s.K + at % s.K) * s.U;
    T sum = 0;
    for (std::int64_t u = lane_index(); u < s.U; u += warpSize)
      sum += v[u] * std::tanh(q[from_q + u] + k[from_k + u]);
    const naive::Wide<T> total = warp_sum(naive::Wide<T>(sum));
    if (lane_index() == 0) e[at] = static_cast<T>(total);
  }
}

// With t = tanh(q_biu + k_bju): dq_biu = Σ_j de_bij v_u (1 - t²), and for dv this query's share,
// Σ_j de_bij t.
template <class T>
__global__ void queries_backward_kernel(Memory<T> dq, Memory<T> dv_share, Memory<const T> de,
                                        Memory<const T> q, Memory<const T> k, Memory<const T> v,
                                        Sizes s) {
  for (std::int64_t at = first_index(); at < s.B * s.Q * s.U; at += index_step()) {
    const std::int64_t row = at / s.U, u = at % s.U, b = row / s.Q;
    T of_q = 0, of_v = 0;
    for (std::int64_t j = 0; j < s.K; ++j) {
      const T t = std::tanh(q[at] + k[(b * s.K + j) * s.U + u]);
      const T d = de[row * s.K + j];
      of_q += d * (1 - t * t);
      of_v += d * t;
    }
    dq[at] = of_q * v[u];
    dv_share[at] = of_v;
  }
}

// dk_bju = Σ_i de_bij v_u (1 - t²)
template <class T>
__global__ void keys_backward_kernel(Memory<T> dk, Memory<const T> de, Memory<const T> q,
                                     Memory<const T> k, Memory<const T> v, Sizes s) {
  for (std::int64_t at = first_index(); at < s.B * s.K * s.U; at += index_step()) {
    const std::int64_t row = at / s.U, u = at % s.U, b = row / s.K, j = row % s.K;
    T of_k = 0;
    for (std::int64_t i = b * s.Q; i < (b + 1) * s.Q; ++i) {
      const T t = std::tanh(q[i * s.U + u] + k[at]);
      of_k += de[i * s.K + j] * (1 - t * t);
    }
    dk[at] = of_k * v[u];
  }
}

// dv_bu = Σ_i of the queries' shares
template <class T>
__global__ void add_shares_kernel(Memory<T> dv, Memory<const T> dv_share, Sizes s) {
  for (std::int64_t at = first_index(); at < s.B * s.U; at += index_step()) {
    naive::Wide<T> sum = 0;
    for (std::int64_t i = 0; i < s.Q; ++i) sum += dv_share[(at / s.U * s.Q + i) * s.U + at % s.U];
    dv[at] = static_cast<T>(sum);
  }
}

}  // namespace

void Cuda::additive_scores(const Array& e, const Array& q, const Array& k, const Array& v) const {
  const Sizes s{e.shape[0], e.shape[1], e.shape[2], v.shape[0]};
  const std::int64_t n = e.shape.numel();
  if (n == 0) return;
  dispatch_floating(e.dtype, "additive_scores", [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr unsigned lanes = 32;  // CUDA's warpSize is for kernels alone
    const auto warps = static_cast<unsigned>(std::min<std::int64_t>(n, block_size / lanes));
    launch("additive_scores", scores_kernel<T>, grid_of(n, warps), warps * lanes, Memory<T>(e, "e"),
           Memory<const T>(q, "q"), Memory<const T>(k, "k"), Memory<const T>(v, "v"), s);
  });
}

void Cuda::additive_scores_backward(const Array& dq, const Array& dk, const Array& dv,
                                    const Array& de, const Array& q, const Array& k,
                                    const Array& v) const {
  const Sizes s{de.shape[0], de.shape[1], de.shape[2], v.shape[0]};
  dispatch_floating(dq.dtype, "additive_scores_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Memory<const T> grad(de, "de"), x(q, "q"), y(k, "k"), w(v, "v");
    const std::int64_t queries = s.B * s.Q * s.U, keys = s.B * s.K * s.U;
    const Workspace share({s.B, s.Q, s.U}, dq.dtype);
    if (queries > 0)
      launch("additive_scores_backward, queries", queries_backward_kernel<T>, grid_of(queries),
             block_size, Memory<T>(dq, "dq"), Memory<T>(share.array(), "dv_share"), grad, x, y, w,
             s);
    if (keys > 0)
      launch("additive_scores_backward, keys", keys_backward_kernel<T>, grid_of(keys), block_size,
             Memory<T>(dk, "dk"), grad, x, y, w, s);
    if (s.B * s.U > 0)
      launch("additive_scores_backward, v", add_shares_kernel<T>, grid_of(s.B * s.U), block_size,
             Memory<T>(dv, "dv"), Memory<const T>(share.array(), "dv_share"), s);
  });
}

}  // namespace labgrad
