#pragma once
// Kernels that work along one dimension: the rows of an array, and how many threads share one.

#include <cstdint>
#include <cstdlib>

#include "engine/cuda/layout.h"
#include "engine/cuda/warp.h"
#include "engine/dtype.h"
#include "engine/naive/walk.h"

namespace labgrad {

// The rows of n arrays along a dimension: element k of array a's row i is at
// starts[i].at[a] + k step[a].
template <int n>
struct Rows {
  Layout<n> starts;
  std::int64_t columns;
  std::int64_t step[n];
};

// `shape` is that of the elements along dim; arrays may have another size there.
template <int n>
Rows<n> rows_along(int dim, const Shape& shape, const Array* const (&arrays)[n]) {
  const Strides* strides[n];
  for (int a = 0; a < n; ++a) strides[a] = &arrays[a]->strides;
  Rows<n> rows{row_major(without(shape, dim), strides), shape[dim], {}};
  for (int a = 0; a < n; ++a) rows.step[a] = arrays[a]->strides[dim];
  return rows;
}

// Who shares a row. A kernel is a template of one of these three and reads
//   for (row = Team::first_row(); row < count; row += Team::row_step())
//     for (k = Team::first(); k < columns; k += Team::step()) ...
// All threads of a team see the same rows, so all of them reach its sums.

struct ThreadARow {
  static __device__ std::int64_t first_row() { return first_index(); }
  static __device__ std::int64_t row_step() { return index_step(); }
  static __device__ int first() { return 0; }
  static __device__ int step() { return 1; }
  template <class T>
  static __device__ T sum(T v) {
    return v;
  }
  template <class T>
  static __device__ T max(T v) {
    return v;
  }
};

struct WarpARow {
  static __device__ std::int64_t first_row() { return first_index() / warpSize; }
  static __device__ std::int64_t row_step() { return index_step() / warpSize; }
  static __device__ int first() { return lane_index(); }
  static __device__ int step() { return warpSize; }
  template <class T>
  static __device__ T sum(T v) {
    return warp_sum(v);
  }
  template <class T>
  static __device__ T max(T v) {
    return warp_max(v);
  }
};

struct BlockARow {
  static __device__ std::int64_t first_row() { return blockIdx.x; }
  static __device__ std::int64_t row_step() { return gridDim.x; }
  static __device__ int first() { return thread_index(); }
  static __device__ int step() { return static_cast<int>(blockDim.x); }
  template <class T>
  static __device__ T sum(T v) {
    return block_sum(v);
  }
  template <class T>
  static __device__ T max(T v) {
    return block_max(v);
  }
};

// Calls f(Type<Team>{}, grid, block) with the team that suits the rows:
// - up to 1024 elements, a warp: neighbouring lanes read neighbouring elements, and sums need
//   shuffles alone;
// - beyond, a block;
// - a single thread where a warp would find less than one element for each lane, and where array
//   1's rows lie closer together than a row's elements (dim is not the innermost): then
//   neighbouring lanes read neighbouring rows. Only if there are many rows, or too few threads
//   would be at work.
template <int n, class F>
void share_rows(const Rows<n>& rows, F f) {
  const std::int64_t count = rows.starts.numel;
  if (count == 0) return;
  const std::int64_t next_row = rows.starts.stride[1][rows.starts.rank - 1];
  const bool crosswise = std::abs(next_row) < std::abs(rows.step[1]) && count >= rows.columns;
  if (rows.columns < 32 || crosswise) {
    const unsigned threads = threads_of(count);
    f(Type<ThreadARow>{}, grid_of(count, threads), threads);
  } else if (rows.columns <= 1024) {
    const unsigned threads = count < 4 ? static_cast<unsigned>(32 * count) : 128;
    f(Type<WarpARow>{}, grid_of(count, threads / 32), threads);
  } else {
    f(Type<BlockARow>{}, grid_of(count, 1), block_size);
  }
}

}  // namespace labgrad
