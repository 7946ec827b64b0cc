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

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/cpu/vec.h"

namespace labgrad::cpu {

// Registers set the largest tile. 32 registers (AVX-512): 14 x 2 vectors, with 28 accumulators.
// 16 registers: 6 x 2 with 12. Where there are fewer rows, more vectors take their place.
#if defined(__AVX512F__)
inline constexpr int tile_rows = 14;
#else
inline constexpr int tile_rows = 6;
#endif
constexpr int tile_vectors(std::int64_t rows) { return rows == 1 ? 8 : rows <= 3 ? 4 : 2; }

// The narrowest tiles are half a register wide, if that is still a vector of 16 bytes.
template <class T>
inline constexpr int half_lanes = std::max(lanes<T> / 2, 16 / static_cast<int>(sizeof(T)));

// The depth of a product: `count` runs of `length`; from run to run A and B move on by the steps.
struct Runs {
  std::int64_t length, count = 1, a_step = 0, b_step = 0;
};

// What a tile is added to: rows `stride` apart, of the old C or, with stride 0, one row for all;
// nothing if data is null.
template <class T>
struct Start {
  const T* data = nullptr;
  std::int64_t stride = 0;
};

// Lines of 64 bytes that a later tile reads, `step` elements apart: they come into the second cache
// while a tile of dense columns is busy, one in every two steps of k, as far as these go.
template <class T>
struct Fetch {
  const T* from = nullptr;
  std::int64_t step = 0, count = 0;
};

// C (M rows x V vectors of L lanes, row stride c_stride) = A B + start.
// A is read at a[i * a_stride + k] if the rows are dense (RowMajor), else at a[k * a_stride + i].
// `next` is no copy, for that would be a load of what was just stored in parts: it would wait until
// all stores before it are done, those to lines of C far away as well.
template <class T>
using TileFunction = void (*)(const Runs& depth, const T* a, std::int64_t a_stride, const T* b,
                              std::int64_t b_stride, T* c, std::int64_t c_stride, Start<T> start,
                              const Fetch<T>& next);

template <class T, int L, int M, int V, bool RowMajor>
void tile(const Runs& depth, const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride,
          T* c, std::int64_t c_stride, Start<T> start, const Fetch<T>& next) {
  using Vector = Vec<T, L>;
  Vector acc[M][V];
  // The pragmas keep acc in registers: a loop over it that is not unrolled puts it in memory.
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < V; ++j) acc[i][j] = Vector{};
  const auto step = [&](std::int64_t k) {
    Vector row[V];
#pragma GCC unroll 16
    for (int j = 0; j < V; ++j) row[j] = load<T, L>(b + k * b_stride + j * L);
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) {
      const T x = RowMajor ? a[i * a_stride + k] : a[k * a_stride + i];
#pragma GCC unroll 16
      for (int j = 0; j < V; ++j) acc[i][j] += x * row[j];
    }
  };
  for (std::int64_t r = 0; r < depth.count; ++r, a += depth.a_step, b += depth.b_step) {
    std::int64_t k = 0;
    // C is far away where it is large: it comes while the first sums are made, a row at a time, for
    // all its lines at once would fill the queue in which the loads of A and B wait as well. Where
    // rows don't begin with a line, the tile to the left has fetched what this one begins with.
    for (const std::int64_t rows = r == 0 ? std::min<std::int64_t>(M, depth.length) : 0; k < rows;
         ++k) {
#pragma GCC unroll 16
      for (int j = 0; j < V; ++j) __builtin_prefetch(c + k * c_stride + j * L + L - 1, 1);
      step(k);
    }
    if constexpr (!RowMajor) {
      const T* line = next.from;
      for (std::int64_t n = next.count; n > 0 && k + 2 <= depth.length; --n, line += next.step) {
        __builtin_prefetch(line, 0, 2);
        step(k++);
        step(k++);
      }
    }
    for (; k < depth.length; ++k) step(k);
  }
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
    T* line = c + i * c_stride;
#pragma GCC unroll 16
    for (int j = 0; j < V; ++j) {
      if (start.data) acc[i][j] += load<T, L>(start.data + i * start.stride + j * L);
      store(line + j * L, acc[i][j]);
    }
  }
}

// The tiles of 1 .. count rows; [rows - 1].
template <class T, int L, int V, bool RowMajor, int... M>
constexpr std::array<TileFunction<T>, sizeof...(M)> tiles(std::integer_sequence<int, M...>) {
  return {&tile<T, L, M + 1, V, RowMajor>...};
}
template <class T, int L, int V, bool RowMajor, int count>
inline constexpr auto tile_table =
    tiles<T, L, V, RowMajor>(std::make_integer_sequence<int, count>{});

template <class T, bool RowMajor>
TileFunction<T> tile_function(std::int64_t rows, std::int64_t width) {
  constexpr int full = lanes<T>;
  const auto i = static_cast<std::size_t>(rows - 1);
  switch (width / full) {
    case 0:
      return tile_table<T, half_lanes<T>, 1, RowMajor, tile_rows>[i];
    case 1:
      return tile_table<T, full, 1, RowMajor, tile_rows>[i];
    case 2:
      return tile_table<T, full, 2, RowMajor, tile_rows>[i];
    case 4:
      return tile_table<T, full, 4, RowMajor, 3>[i];
    default:
      return &tile<T, full, 1, 8, RowMajor>;
  }
}

// The tile of that many rows and columns: half_lanes, or 1, 2, 4 (3 rows at most) or 8 (one row)
// times the lanes.
template <class T>
TileFunction<T> tile_function(std::int64_t rows, std::int64_t width, bool row_major) {
  return row_major ? tile_function<T, true>(rows, width) : tile_function<T, false>(rows, width);
}

}  // namespace labgrad::cpu
