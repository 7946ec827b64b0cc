// Rung 3: tiles in shared memory.
//
// The 1024 threads of a block compute a tile of 32 x 32. For each 32 terms of the sum they load a
// tile of a and one of b, an element each, and every element then serves 32 threads: 1/16 load for
// each multiply-add instead of 2, and 1/4 byte instead of 5. In its place each multiply-add now
// reads shared memory twice, and that is the new limit: a multiprocessor can do 128 multiply-adds
// in a cycle, but read only 32 words of shared memory.
//
// The barriers: the first, because a thread reads what others have loaded; the second, because the
// next step's loads must not overwrite what a slower thread still reads. (Take one out, and the
// emulator says which two threads met where.)

#include "engine/cuda/gemm_ladder/ladder.h"
#include "engine/cuda/platform.h"

namespace labgrad::ladder {
namespace {

constexpr int side = 32;

__global__ void shared_kernel(Memory<float> c, Memory<const float> a, Memory<const float> b,
                              std::int64_t N, std::int64_t K) {
  shared_array(float, tile_a, side, side);
  shared_array(float, tile_b, side, side);
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t i = std::int64_t{blockIdx.y} * side + y,
                     j = std::int64_t{blockIdx.x} * side + x;
  float sum = 0;
  for (std::int64_t k = 0; k < K; k += side) {
    tile_a(y, x) = a[i * K + k + x];
    tile_b(y, x) = b[(k + y) * N + j];
    __syncthreads();
    for (int t = 0; t < side; ++t) sum += tile_a(y, t) * tile_b(t, x);
    __syncthreads();
  }
  c[i * N + j] = sum;
}

void multiply(const Array& c, const Array& a, const Array& b) {
  const std::int64_t M = c.shape[0], N = c.shape[1], K = a.shape[1];
  launch("ladder 3, shared tiles", shared_kernel,
         dim3(static_cast<unsigned>(N / side), static_cast<unsigned>(M / side)), dim3(side, side),
         Memory<float>(c, "c"), Memory<const float>(a, "a"), Memory<const float>(b, "b"), N, K);
}

const bool added = add({"3 shared tiles", multiply});

}  // namespace
}  // namespace labgrad::ladder
