#pragma once
// What a kernel is written in: CUDA's own words on a GPU, the emulator's on a host.
//
//   threadIdx blockIdx blockDim gridDim dim3    as in CUDA
//   __global__ __device__                       as in CUDA
//   __syncthreads() __syncwarp()                as in CUDA
//   __shfl_xor_sync(all_lanes, v, mask), __shfl_sync(all_lanes, v, lane)
//   shared_array(T, name, rows, columns)        shared memory: name[i] or name(i, j)
//   Memory<T>(array, "name")                    an array in the device's memory: m[i], and
//   m.pack(i)
//                                               for 16 bytes at once
//   launch("name", kernel, grid, block, args...)
//
// docs/gpu.md has the rules for authors.

#if defined(__CUDACC__)
#include "engine/cuda/gpu.h"
#else
#include "engine/cuda/simt.h"
#endif

namespace labgrad {

inline constexpr unsigned all_lanes = 0xffffffffu;
inline constexpr int warp_lanes = 32;  // as a constant, which CUDA's warpSize is not

// This thread's number among all of the grid, and how many there are, in one dimension: a kernel
// visits n elements by `for (i = first_index(); i < n; i += index_step())`.
__device__ inline std::int64_t first_index() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t index_step() { return std::int64_t{gridDim.x} * blockDim.x; }

// Threads of a block, and blocks, for n elements: enough to fill a large GPU, then each thread
// takes several.
inline constexpr unsigned block_size = 256;
inline dim3 grid_of(std::int64_t n, std::int64_t in_block = block_size) {
  constexpr std::int64_t most = 4096;
  const std::int64_t blocks = (n + in_block - 1) / in_block;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

// Threads of the only block for n elements, or of each of many: no more warps than are needed.
inline unsigned threads_of(std::int64_t n) {
  if (n >= block_size) return block_size;
  return n <= 32 ? 32u : static_cast<unsigned>((n + 31) / 32 * 32);
}

}  // namespace labgrad
