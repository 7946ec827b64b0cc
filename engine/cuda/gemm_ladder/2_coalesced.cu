// Rung 2: neighbouring threads take neighbouring columns.
//
// The only change is that threadIdx.x counts columns. The warp's 32 elements of b now lie side by
// side, 128 bytes in 4 sectors, and its element of a is one: 5 sectors for 32 multiply-adds, 5
// bytes for each instead of 33. Loads for each multiply-add: still two.

#include "engine/cuda/gemm_ladder/ladder.h"
#include "engine/cuda/platform.h"

namespace labgrad::ladder {
namespace {

__global__ void coalesced_kernel(Memory<float> c, Memory<const float> a, Memory<const float> b,
                                 std::int64_t N, std::int64_t K) {
  const std::int64_t i = blockIdx.y * blockDim.y + threadIdx.y;
  const std::int64_t j = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (std::int64_t k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
  c[i * N + j] = sum;
}

void multiply(const Array& c, const Array& a, const Array& b) {
  const std::int64_t M = c.shape[0], N = c.shape[1], K = a.shape[1];
  launch("ladder 2, coalesced", coalesced_kernel,
         dim3(static_cast<unsigned>(N / 32), static_cast<unsigned>(M / 8)), dim3(32, 8),
         Memory<float>(c, "c"), Memory<const float>(a, "a"), Memory<const float>(b, "b"), N, K);
}

const bool added = add({"2 coalesced", multiply});

}  // namespace
}  // namespace labgrad::ladder
