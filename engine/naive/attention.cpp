// The additive score of every query and key.

#include <cmath>

#include "engine/naive/formulas.h"
#include "engine/naive/naive.h"

namespace labgrad {

// e_ij = Σ_u v_u tanh(q_iu + k_ju)
void Naive::additive_scores(const Array& e, const Array& q, const Array& k, const Array& v) const {
  const std::int64_t B = e.shape[0], Q = e.shape[1], K = e.shape[2], U = v.shape[0];
  dispatch_floating(e.dtype, "additive_scores", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t i = 0; i < Q; ++i)
        for (std::int64_t j = 0; j < K; ++j) {
          double total = 0;
          for (std::int64_t u = 0; u < U; ++u)
            total += v.as<T>()[u] * std::tanh(double(q.as<T>()[(b * Q + i) * U + u]) +
                                              k.as<T>()[(b * K + j) * U + u]);
          e.as<T>()[(b * Q + i) * K + j] = static_cast<T>(total);
        }
  });
}

// g = de_ij v_u (1 - t²),  t = tanh(q_iu + k_ju):  dq_iu = Σ_j g,  dk_ju = Σ_i g,
// dv_u = Σ_ij de_ij t
void Naive::additive_scores_backward(const Array& dq, const Array& dk, const Array& dv,
                                     const Array& de, const Array& q, const Array& k,
                                     const Array& v) const {
  const std::int64_t B = de.shape[0], Q = de.shape[1], K = de.shape[2], U = v.shape[0];
  dispatch_floating(de.dtype, "additive_scores_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto t = [&](std::int64_t b, std::int64_t i, std::int64_t j, std::int64_t u) {
      return std::tanh(double(q.as<T>()[(b * Q + i) * U + u]) + k.as<T>()[(b * K + j) * U + u]);
    };
    auto e = [&](std::int64_t b, std::int64_t i, std::int64_t j) {
      return double(de.as<T>()[(b * Q + i) * K + j]);
    };
    auto g = [&](std::int64_t b, std::int64_t i, std::int64_t j, std::int64_t u) {
      return e(b, i, j) * v.as<T>()[u] * (1 - t(b, i, j, u) * t(b, i, j, u));
    };
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t u = 0; u < U; ++u) {
        double of_v = 0;
        for (std::int64_t i = 0; i < Q; ++i) {
          double of_q = 0;
          for (std::int64_t j = 0; j < K; ++j) {
            of_q += g(b, i, j, u);
            of_v += e(b, i, j) * t(b, i, j, u);
          }
          dq.as<T>()[(b * Q + i) * U + u] = static_cast<T>(of_q);
        }
        for (std::int64_t j = 0; j < K; ++j) {
          double of_k = 0;
          for (std::int64_t i = 0; i < Q; ++i) of_k += g(b, i, j, u);
          dk.as<T>()[(b * K + j) * U + u] = static_cast<T>(of_k);
        }
        dv.as<T>()[b * U + u] = static_cast<T>(of_v);
      }
  });
}

}  // namespace labgrad
