#pragma once
// The micro-kernel of every product: a tile of C held in registers.
//
// For each k, one column of the left operand (M numbers) meets one row of the right operand
// (V vectors):
//
//            b[k][0 .. V·lanes)                 acc[i][j] += a[i][k] · b[k][j]
//   a[0][k]  acc[0][0] ... acc[0][V-1]
//    ...                                        M·V fused steps for M + V loads: the arithmetic
//   a[M-1][k]          ... acc[M-1][V-1]        units, and not the loads, set the pace
//
// Every element of C is one chain of fused steps in the order of k, whatever the tile's size, so
// how C is cut into tiles does not show in the result.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/cpu/vec.h"

namespace labgrad::cpu {

// Registers set the largest tile. 32 registers (AVX-512): 14 x 2 vectors, with 28 accumulators.
// 16 registers: 6 x 2 with 12.
#if defined(__AVX512F__)
inline constexpr int tile_rows = 14;
#else
inline constexpr int tile_rows = 6;
#endif
inline constexpr int tile_vectors = 2;
template <class T>
inline constexpr int tile_columns = tile_vectors* lanes<T>;

// C (rows x V vectors, row stride c_stride) = A B, plus the old C if accumulate.
// A is read at a[i * a_stride + k] if the rows are dense (RowMajor), else at a[k * a_stride + i].
template <class T>
using TileFunction = void (*)(std::int64_t depth, const T* a, std::int64_t a_stride, const T* b,
                              std::int64_t b_stride, T* c, std::int64_t c_stride, bool accumulate);

template <class T, int M, int V, bool RowMajor>
void tile(std::int64_t depth, const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride,
          T* c, std::int64_t c_stride, bool accumulate) {
  constexpr int width = lanes<T>;
  Vec<T> acc[M][V];
  // The pragmas keep acc in registers: a loop over it that is not unrolled puts it in memory.
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < V; ++j) acc[i][j] = Vec<T>{};
  for (std::int64_t k = 0; k < depth; ++k) {
    Vec<T> row[V];
#pragma GCC unroll 16
    for (int j = 0; j < V; ++j) row[j] = load(b + k * b_stride + j * width);
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) {
      const T x = RowMajor ? a[i * a_stride + k] : a[k * a_stride + i];
#pragma GCC unroll 16
      for (int j = 0; j < V; ++j) acc[i][j] += x * row[j];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
    T* line = c + i * c_stride;
#pragma GCC unroll 16
    for (int j = 0; j < V; ++j) {
      if (accumulate) acc[i][j] += load(line + j * width);
      store(line + j * width, acc[i][j]);
    }
  }
}

// The tiles of 1 .. tile_rows rows and V vectors; [rows - 1].
template <class T, int V, bool RowMajor, int... M>
constexpr std::array<TileFunction<T>, sizeof...(M)> tiles(std::integer_sequence<int, M...>) {
  return {&tile<T, M + 1, V, RowMajor>...};
}
template <class T, int V, bool RowMajor>
inline constexpr auto tile_table =
    tiles<T, V, RowMajor>(std::make_integer_sequence<int, tile_rows>{});

template <class T>
TileFunction<T> tile_function(std::int64_t rows, std::int64_t vectors, bool row_major) {
  const auto i = static_cast<std::size_t>(rows - 1);
  if (vectors == 1) return row_major ? tile_table<T, 1, true>[i] : tile_table<T, 1, false>[i];
  return row_major ? tile_table<T, 2, true>[i] : tile_table<T, 2, false>[i];
}

}  // namespace labgrad::cpu
