#pragma once
// What kernels use on a GPU, under the same names as in simt.h: here they cost nothing.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "engine/kernels.h"

namespace labgrad {

namespace gpu {

// The stream of all kernels and copies: what is issued first is done first.
cudaStream_t stream();

// Error unless the call succeeded: names the call, the device, what it was called with and CUDA's
// reason.
void check(cudaError_t status, const char* call, const std::string& with = {});

std::string str(dim3 d);

// A shared array of one or two dimensions.
template <class T, int rows, int columns = 1>
struct Shared {
  alignas(16) T value[rows * columns];  // so that the compiler may read four floats at a time
  __device__ T& operator[](int i) { return value[i]; }
  __device__ T& operator()(int i, int j) { return value[i * columns + j]; }
};

}  // namespace gpu

// `shared_array(float, tile, 16, 17)` declares what all threads of the block share.
#define shared_array(T, name, ...) __shared__ ::labgrad::gpu::Shared<T, __VA_ARGS__> name

// Neighbouring elements that one instruction loads: 16 bytes.
template <class T>
struct alignas(16) Pack {
  static constexpr int lanes = 16 / static_cast<int>(sizeof(T));
  T lane[lanes];
};

// The elements of an array in the device's memory: m[i] is i elements from the first. Empty if the
// array's data is nullptr.
template <class T>
class Memory {
 public:
  Memory() = default;
  Memory(const Array& a, const char*) : data_(a.as<T>()) {}

  __device__ explicit operator bool() const { return data_ != nullptr; }
  __device__ T& operator[](std::int64_t i) const { return data_[i]; }
  // Elements i, i + 1, ... of a pack; the first must lie at a multiple of 16 bytes.
  __device__ Pack<std::remove_const_t<T>> pack(std::int64_t i) const {
    return *reinterpret_cast<const Pack<std::remove_const_t<T>>*>(data_ + i);
  }

 private:
  T* data_ = nullptr;
};

template <class... P, class... A>
void launch(const char* name, void (*kernel)(P...), dim3 grid, dim3 block, const A&... args) {
  kernel<<<grid, block, 0, gpu::stream()>>>(static_cast<P>(args)...);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess)
    gpu::check(status, name, "a grid of " + gpu::str(grid) + " blocks of " + gpu::str(block));
}

}  // namespace labgrad
