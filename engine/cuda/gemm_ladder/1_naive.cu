// Rung 1: a thread for each element of c.
//
// Each multiply-add waits for two loads. Worse, neighbouring threads of a warp take neighbouring
// rows here: their elements of a lie K floats apart, and each is fetched with a sector of 32 bytes
// of its own, of which 4 are used. Their element of b is one and the same. A warp's 32
// multiply-adds so cost 32 + 1 sectors: 33 bytes for each. A GPU whose memory brings 10 bytes in
// the time of 100 multiply-adds is idle but for 0.3 % of it, if caches did not help.

#include "engine/cuda/gemm_ladder/ladder.h"
#include "engine/cuda/platform.h"

namespace labgrad::ladder {
namespace {

__global__ void naive_kernel(Memory<float> c, Memory<const float> a, Memory<const float> b,
                             std::int64_t N, std::int64_t K) {
  const std::int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const std::int64_t j = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (std::int64_t k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
  c[i * N + j] = sum;
}

void multiply(const Array& c, const Array& a, const Array& b) {
  const std::int64_t M = c.shape[0], N = c.shape[1], K = a.shape[1];
  launch("ladder 1, naive", naive_kernel,
         dim3(static_cast<unsigned>(M / 32), static_cast<unsigned>(N / 8)), dim3(32, 8),
         Memory<float>(c, "c"), Memory<const float>(a, "a"), Memory<const float>(b, "b"), N, K);
}

const bool added = add({"1 naive", multiply});

}  // namespace
}  // namespace labgrad::ladder
