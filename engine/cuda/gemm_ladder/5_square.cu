// Rung 5: a thread computes a square of 8 x 8 elements.
//
// For each term it reads 8 elements of a's tile and 8 of b's, and does 64 multiply-adds: 1/4 read
// of shared memory for each, just what a multiprocessor can do. 256 threads compute 128 x 128
// elements: 1/64 load for each multiply-add, 1/16 byte. A GPU with 100 multiply-adds for 10 bytes
// has what it needs.
//
// The price is registers: 64 sums, 16 operands, addresses, some 120 for each thread. A
// multiprocessor has 65536 of them, enough for 16 warps of such threads, where the naive kernel
// runs 64. It does not matter: a thread's 64 multiply-adds don't depend on one another, and so keep
// the arithmetic units as busy as 64 threads with one each would.

#include "engine/cuda/gemm_ladder/ladder.h"
#include "engine/cuda/platform.h"

namespace labgrad::ladder {
namespace {

constexpr int side = 128, depth = 8, m = 8;  // m x m elements for each thread
constexpr int across = side / m, threads = across * across;

__global__ void square_kernel(Memory<float> c, Memory<const float> a, Memory<const float> b,
                              std::int64_t N, std::int64_t K) {
  shared_array(float, tile_a, side, depth);
  shared_array(float, tile_b, depth, side);
  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread / across * m, column = thread % across * m;
  const std::int64_t i = std::int64_t{blockIdx.y} * side, j = std::int64_t{blockIdx.x} * side;
  float sum[m][m] = {};
  for (std::int64_t k = 0; k < K; k += depth) {
    for (int at = thread; at < side * depth; at += threads) {
      tile_a(at / depth, at % depth) = a[(i + at / depth) * K + k + at % depth];
      tile_b(at / side, at % side) = b[(k + at / side) * N + j + at % side];
    }
    __syncthreads();
    for (int t = 0; t < depth; ++t) {
      float x[m], y[m];
      for (int r = 0; r < m; ++r) x[r] = tile_a(row + r, t);
      for (int s = 0; s < m; ++s) y[s] = tile_b(t, column + s);
      for (int r = 0; r < m; ++r)
        for (int s = 0; s < m; ++s) sum[r][s] += x[r] * y[s];
    }
    __syncthreads();
  }
  for (int r = 0; r < m; ++r)
    for (int s = 0; s < m; ++s) c[(i + row + r) * N + j + column + s] = sum[r][s];
}

void multiply(const Array& c, const Array& a, const Array& b) {
  const std::int64_t M = c.shape[0], N = c.shape[1], K = a.shape[1];
  launch("ladder 5, squares", square_kernel,
         dim3(static_cast<unsigned>(N / side), static_cast<unsigned>(M / side)), threads,
         Memory<float>(c, "c"), Memory<const float>(a, "a"), Memory<const float>(b, "b"), N, K);
}

const bool added = add({"5 a square for each thread", multiply});

}  // namespace
}  // namespace labgrad::ladder
