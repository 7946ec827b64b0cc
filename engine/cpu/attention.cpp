// The additive score of every query and key, without a tensor of all their sums: what is between
// the two layers of the small network stays in registers, forward and backward.

#include <algorithm>

#include "engine/cpu/cpu.h"
#include "engine/cpu/each_vector.h"
#include "engine/cpu/row_vectors.h"
#include "engine/cpu/threads.h"
#include "engine/cpu/vec_math.h"

namespace labgrad {

using namespace cpu;

namespace {

// How many samples one task takes: some ten thousand elements of Q K U.
std::int64_t samples_in_group(std::int64_t Q, std::int64_t K, std::int64_t U) {
  return std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, Q * K * U));
}

// e_j = Σ_u v_u tanh(q_u + k_ju) of one query.
template <class T>
void scores(T* e, const T* q, const T* k, const T* v, std::int64_t K, std::int64_t U) {
  using V = Vec<T>;
  for (std::int64_t j = 0; j < K; ++j) {
    const T* key = k + j * U;
    V total{};
    each_vector<T>(0, U, T(0),
                   [&](auto read, auto) { total += read(v) * tanh(V(read(q) + read(key))); });
    e[j] = sum_lanes(total);
  }
}

// One query's share: dq is its own, dk and dv are added to.
template <class T>
void scores_backward(T* dq, T* dk, T* dv, const T* de, const T* q, const T* k, const T* v,
                     std::int64_t K, std::int64_t U) {
  using V = Vec<T>;
  each_vector<T>(0, U, T(0), [&](auto read, auto write) {
    const V asked = read(q), weight = read(v);
    V of_q{}, of_v = read(dv);
    for (std::int64_t j = 0; j < K; ++j) {
      const V t = tanh(V(asked + read(k + j * U)));
      const V g = de[j] * weight * (1 - t * t);
      of_q += g;
      of_v += de[j] * t;
      write(dk + j * U, V(read(dk + j * U) + g));
    }
    write(dq, of_q);
    write(dv, of_v);
  });
}

}  // namespace

void Cpu::additive_scores(const Array& e, const Array& q, const Array& k, const Array& v) const {
  const std::int64_t B = e.shape[0], Q = e.shape[1], K = e.shape[2], U = v.shape[0];
  dispatch_floating(e.dtype, "additive_scores", [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(B, samples_in_group(Q, K, U), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b)
        for (std::int64_t i = 0; i < Q; ++i)
          scores<T>(e.as<T>() + (b * Q + i) * K, q.as<T>() + (b * Q + i) * U, k.as<T>() + b * K * U,
                    v.as<T>(), K, U);
    });
  });
}

void Cpu::additive_scores_backward(const Array& dq, const Array& dk, const Array& dv,
                                   const Array& de, const Array& q, const Array& k,
                                   const Array& v) const {
  const std::int64_t B = de.shape[0], Q = de.shape[1], K = de.shape[2], U = v.shape[0];
  dispatch_floating(de.dtype, "additive_scores_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(B, samples_in_group(Q, K, U), [&](std::int64_t begin, std::int64_t end) {
      std::fill(dk.as<T>() + begin * K * U, dk.as<T>() + end * K * U, T(0));
      std::fill(dv.as<T>() + begin * U, dv.as<T>() + end * U, T(0));
      for (std::int64_t b = begin; b < end; ++b)
        for (std::int64_t i = 0; i < Q; ++i)
          scores_backward<T>(dq.as<T>() + (b * Q + i) * U, dk.as<T>() + b * K * U,
                             dv.as<T>() + b * U, de.as<T>() + (b * Q + i) * K,
                             q.as<T>() + (b * Q + i) * U, k.as<T>() + b * K * U, v.as<T>(), K, U);
    });
  });
}

}  // namespace labgrad
