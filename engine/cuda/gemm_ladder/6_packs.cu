// Rung 6: 16 bytes with one instruction.
//
// The bytes are the same, but a load of four neighbouring floats is one instruction, not four, and
// so is a read of shared memory: 1/256 load for each multiply-add, and 1/16 read of shared memory.
// What issues instructions is then free for multiply-adds. For that, what a thread reads must lie
// side by side. a's tile is turned round on its way to shared memory: a thread writes its pack down
// a column, its neighbour the column's other half. The tile's rows are 4 longer than needed, or the
// two would always meet in one of the 32 banks, which gives or takes one word in a cycle. And a
// thread's 8 rows and columns lie in two groups of 4, half a tile apart, so that neighbouring
// threads read neighbouring packs.

#include "engine/cuda/gemm_ladder/ladder.h"
#include "engine/cuda/platform.h"

namespace labgrad::ladder {
namespace {

constexpr int side = 128, depth = 8, m = 8;
constexpr int across = side / m, threads = across * across;

// The thread's r-th row or column of the tile.
__device__ constexpr int place(int thread, int r) {
  return r / 4 * (side / 2) + thread * 4 + r % 4;
}

__global__ void packs_kernel(Memory<float> c, Memory<const float> a, Memory<const float> b,
                             std::int64_t N, std::int64_t K) {
  shared_array(float, tile_a, depth, side + 4);
  shared_array(float, tile_b, depth, side + 4);
  const int thread = static_cast<int>(threadIdx.x);
  const int down = thread / across, right = thread % across;
  const std::int64_t i = std::int64_t{blockIdx.y} * side, j = std::int64_t{blockIdx.x} * side;
  float sum[m][m] = {};
  for (std::int64_t k = 0; k < K; k += depth) {
    // One pack of each tile for each thread: two to a row of a's, 32 to a row of b's.
    const int i_a = thread / 2, k_a = thread % 2 * 4, k_b = thread / 32, j_b = thread % 32 * 4;
    const Pack<float> of_a = a.pack((i + i_a) * K + k + k_a);
    const Pack<float> of_b = b.pack((k + k_b) * N + j + j_b);
    for (int l = 0; l < 4; ++l) {
      tile_a(k_a + l, i_a) = of_a.lane[l];
      tile_b(k_b, j_b + l) = of_b.lane[l];
    }
    __syncthreads();
    for (int t = 0; t < depth; ++t) {
      float x[m], y[m];
      for (int r = 0; r < m; ++r) x[r] = tile_a(t, place(down, r));
      for (int s = 0; s < m; ++s) y[s] = tile_b(t, place(right, s));
      for (int r = 0; r < m; ++r)
        for (int s = 0; s < m; ++s) sum[r][s] += x[r] * y[s];
    }
    __syncthreads();
  }
  for (int r = 0; r < m; ++r)
    for (int s = 0; s < m; ++s) c[(i + place(down, r)) * N + j + place(right, s)] = sum[r][s];
}

void multiply(const Array& c, const Array& a, const Array& b) {
  const std::int64_t M = c.shape[0], N = c.shape[1], K = a.shape[1];
  launch("ladder 6, packs", packs_kernel,
         dim3(static_cast<unsigned>(N / side), static_cast<unsigned>(M / side)), threads,
         Memory<float>(c, "c"), Memory<const float>(a, "a"), Memory<const float>(b, "b"), N, K);
}

const bool added = add({"6 packs of four floats", multiply});

}  // namespace
}  // namespace labgrad::ladder
