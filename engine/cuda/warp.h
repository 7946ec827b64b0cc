#pragma once
// Sums and other folds over the threads of a warp and of a block. Every thread gets the result. The
// order in which values meet is fixed by the number of threads alone, so a result has the same bits
// each time.

#include <limits>

#include "engine/cuda/platform.h"
#include "engine/naive/formulas.h"

namespace labgrad {

// Two values that are folded side by side.
template <class T>
struct Pair {
  T first, second;
};
template <class T>
__device__ Pair<T> operator+(Pair<T> a, Pair<T> b) {
  return {a.first + b.first, a.second + b.second};
}

// This thread's number in its block, its warp's number there, and its place in the warp.
__device__ inline int thread_index() {
  return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
__device__ inline int warp_index() { return thread_index() / warpSize; }
__device__ inline int lane_index() { return thread_index() % warpSize; }
__device__ inline int warps_in_block() {
  return static_cast<int>(blockDim.x * blockDim.y * blockDim.z) / warpSize;
}

// The value of the lane whose number differs in the bits of `mask`.
template <class T>
__device__ T from_lane_xor(T v, int mask) {
  return __shfl_xor_sync(all_lanes, v, mask);
}
template <class T>
__device__ Pair<T> from_lane_xor(Pair<T> v, int mask) {
  return {from_lane_xor(v.first, mask), from_lane_xor(v.second, mask)};
}

// f(v_0, f(v_1, ...)) over the warp's lanes, for an f that is associative (but for rounding) and
// commutative. Five rounds, in each of which a lane folds its value with that of the lane 16, 8, 4,
// 2 and 1 away: a butterfly, after which all have met all. No shared memory, no barrier of the
// block.
template <class T, class F>
__device__ T warp_fold(T v, F f) {
  for (int mask = warpSize / 2; mask > 0; mask /= 2) v = f(v, from_lane_xor(v, mask));
  return v;
}

// The same over the whole block, in two stages: each warp folds its lanes and leaves the result in
// shared memory, then each warp folds these. `identity` stands for the warps that a block doesn't
// have. All threads of the block must call.
template <class T, class F>
__device__ T block_fold(T v, T identity, F f) {
  shared_array(T, of_warps, 32);
  v = warp_fold(v, f);
  if (lane_index() == 0) of_warps[warp_index()] = v;
  __syncthreads();
  T of_warp = identity;
  if (lane_index() < warps_in_block()) of_warp = of_warps[lane_index()];
  v = warp_fold(of_warp, f);
  __syncthreads();  // before the next fold writes
  return v;
}

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Larger {  // NaN if either is
  template <class T>
  __device__ T operator()(T a, T b) const {
    return naive::larger(a, b);
  }
};

template <class T>
__device__ T warp_sum(T v) {
  return warp_fold(v, Plus{});
}
template <class T>
__device__ T warp_max(T v) {
  return warp_fold(v, Larger{});
}
template <class T>
__device__ T block_sum(T v) {
  return block_fold(v, T{}, Plus{});
}
template <class T>
__device__ T block_max(T v) {
  return block_fold(v, -std::numeric_limits<T>::infinity(), Larger{});
}

}  // namespace labgrad
