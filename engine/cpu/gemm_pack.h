#pragma once
// Copies of operands in the order in which the micro-kernel reads them.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/cpu/each_vector.h"
#include "engine/cpu/vec.h"

namespace labgrad::cpu {

// ---- N x N blocks turned in registers ----

// Elements (lo, or hi half of a and b) in turn: a0 b0 a1 b1 ...
template <bool High, class V, int... I>
V interleave(V a, V b, std::integer_sequence<int, I...>) {
  constexpr int n = sizeof...(I);
  return __builtin_shufflevector(a, b, (I / 2 + (I % 2) * n + (High ? n / 2 : 0))...);
}

// rows[i][j] becomes rows[j][i]. Interleaving row i with row i + N/2 turns the bits of an element's
// address (row, column) round by one place; log2 N rounds exchange row and column.
template <int N, class V>
void transpose_block(V (&rows)[N]) {
  using Lanes = std::make_integer_sequence<int, N>;
#pragma GCC unroll 4
  for (int round = 1; round < N; round *= 2) {
    V turned[N];
#pragma GCC unroll 8
    for (int i = 0; i < N / 2; ++i) {
      turned[2 * i] = interleave<false>(rows[i], rows[i + N / 2], Lanes{});
      turned[2 * i + 1] = interleave<true>(rows[i], rows[i + N / 2], Lanes{});
    }
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) rows[i] = turned[i];
  }
}

// to[k * to_stride + j] = from[j * from_stride + k] for j < N, k < N; lines beyond `lines` are 0.
template <class T, int N>
void turn_block(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride,
                std::int64_t lines) {
  using V = Vec<T, N>;
  V rows[N];
#pragma GCC unroll 8
  for (int j = 0; j < N; ++j) {
    rows[j] = V{};
    if (j < lines) std::memcpy(&rows[j], from + j * from_stride, sizeof(V));
  }
  transpose_block(rows);
#pragma GCC unroll 8
  for (int k = 0; k < N; ++k) std::memcpy(to + k * to_stride, &rows[k], sizeof(V));
}

// The side of the blocks: half a 64-byte vector, so that the rows before and after a round fit in
// the registers.
template <class T>
inline constexpr int block_side = std::min(lanes<T>, 32 / static_cast<int>(sizeof(T)));

// to[k * stride + j] = from[j * j_step + k] for j < columns, zero from there to the stride, which
// is a multiple of N.
template <class T, int N>
void turn(T* to, std::int64_t stride, const T* from, std::int64_t j_step, std::int64_t depth,
          std::int64_t columns) {
  for (std::int64_t j = 0; j < stride; j += N) {
    const std::int64_t lines = std::clamp<std::int64_t>(columns - j, 0, N);
    const T* source = from + j * j_step;
    std::int64_t k = 0;
    for (; k + N <= depth; k += N)
      turn_block<T, N>(to + k * stride + j, stride, source + k, j_step, lines);
    for (; k < depth; ++k)
      for (std::int64_t i = 0; i < N; ++i)
        to[k * stride + j + i] = i < lines ? source[i * j_step + k] : T(0);
  }
}

// ---- panels of the right operand: to[k * stride + j], j < stride, zero from `columns` on ----
// The stride is a multiple of the narrowest tile's width; `from` is read at
// from[k * k_step + j * j_step].
template <class T>
void pack_right(T* to, std::int64_t stride, const T* from, std::int64_t k_step, std::int64_t j_step,
                std::int64_t depth, std::int64_t columns) {
  if (j_step == 1) {
    for (std::int64_t k = 0; k < depth; ++k) {
      T* line = to + k * stride;
      copy_run(line, from + k * k_step, columns);
      for (std::int64_t j = columns; j < stride; ++j) line[j] = T(0);
    }
  } else if (k_step == 1) {
    if (stride % block_side<T> == 0 && depth % block_side<T> == 0)
      turn<T, block_side<T>>(to, stride, from, j_step, depth, columns);
    else
      turn<T, 16 / static_cast<int>(sizeof(T))>(to, stride, from, j_step, depth, columns);
  } else {
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t j = 0; j < stride; ++j)
        to[k * stride + j] = j < columns ? from[k * k_step + j * j_step] : T(0);
  }
}

}  // namespace labgrad::cpu
