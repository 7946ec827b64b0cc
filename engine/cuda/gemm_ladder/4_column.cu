// Rung 4: a thread computes a column of 8 elements.
//
// An element of b, once read from shared memory to a register, now serves 8 multiply-adds: 9 reads
// of shared memory for 8 of them, 1.1 for each instead of 2. And a block of 512 threads computes
// 64 x 64 elements, so that each element loaded serves 64 threads' work: 1/32 load for each
// multiply-add, 1/8 byte. The tiles are only 8 terms deep: depth does not change how often an
// element is used, and shared memory is scarce.

#include "engine/cuda/gemm_ladder/ladder.h"
#include "engine/cuda/platform.h"

namespace labgrad::ladder {
namespace {

constexpr int side = 64, depth = 8, m = 8;  // m rows for each thread
constexpr int threads = side / m * side;

__global__ void column_kernel(Memory<float> c, Memory<const float> a, Memory<const float> b,
                              std::int64_t N, std::int64_t K) {
  shared_array(float, tile_a, side, depth);
  shared_array(float, tile_b, depth, side);
  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread / side * m, column = thread % side;
  const std::int64_t i = std::int64_t{blockIdx.y} * side, j = std::int64_t{blockIdx.x} * side;
  float sum[m] = {};
  for (std::int64_t k = 0; k < K; k += depth) {
    // One element of each tile for each thread.
    tile_a(thread / depth, thread % depth) = a[(i + thread / depth) * K + k + thread % depth];
    tile_b(thread / side, thread % side) = b[(k + thread / side) * N + j + thread % side];
    __syncthreads();
    for (int t = 0; t < depth; ++t) {
      const float y = tile_b(t, column);
      for (int r = 0; r < m; ++r) sum[r] += tile_a(row + r, t) * y;
    }
    __syncthreads();
  }
  for (int r = 0; r < m; ++r) c[(i + row + r) * N + j + column] = sum[r];
}

void multiply(const Array& c, const Array& a, const Array& b) {
  const std::int64_t M = c.shape[0], N = c.shape[1], K = a.shape[1];
  launch("ladder 4, columns", column_kernel,
         dim3(static_cast<unsigned>(N / side), static_cast<unsigned>(M / side)), threads,
         Memory<float>(c, "c"), Memory<const float>(a, "a"), Memory<const float>(b, "b"), N, K);
}

const bool added = add({"4 a column for each thread", multiply});

}  // namespace
}  // namespace labgrad::ladder
