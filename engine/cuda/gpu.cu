// The GPU itself: found, filled, emptied. For nvcc alone.

#include "engine/accelerator.h"
#include "engine/cuda/driver.h"
#include "engine/cuda/gpu.h"

namespace labgrad {

namespace gpu {
namespace {

cudaStream_t the_stream = nullptr;
std::string device_name = "no device";

std::string mib(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

cudaStream_t stream() { return the_stream; }

void check(cudaError_t status, const char* call, const std::string& with) {
  if (status == cudaSuccess) return;
  fail(std::string("cuda: ") + call + (with.empty() ? "" : ", " + with) + " on " + device_name +
       ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")");
}

std::string str(dim3 d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

}  // namespace gpu

namespace driver {

using gpu::check;
using gpu::mib;

void start() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0)
    throw NoDevice(std::string("cuda: no GPU can be used here: ") +
                   (status != cudaSuccess ? cudaGetErrorString(status) : "none is visible"));
  check(cudaSetDevice(0), "cudaSetDevice", "device 0");
  cudaDeviceProp about{};
  check(cudaGetDeviceProperties(&about, 0), "cudaGetDeviceProperties", "device 0");
  gpu::device_name = std::string("device 0, ") + about.name;
  check(cudaStreamCreateWithFlags(&gpu::the_stream, cudaStreamNonBlocking),
        "cudaStreamCreateWithFlags");
}

std::byte* allocate(std::size_t bytes) {
  void* block = nullptr;
  const cudaError_t status = cudaMalloc(&block, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // it is remembered, and would be found after the next launch
    return nullptr;
  }
  check(status, "cudaMalloc", mib(bytes));
  return static_cast<std::byte*>(block);
}

void release(std::byte* block) noexcept { cudaFree(block); }

std::string memory_state() {
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) return {};
  return mib(free) + " free of " + mib(total);
}

void upload(std::byte* device, const std::byte* host, std::size_t bytes) {
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, gpu::stream()),
        "cudaMemcpyAsync to the device", std::to_string(bytes) + " bytes");
  synchronize();
}

void download(std::byte* host, const std::byte* device, std::size_t bytes) {
  check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, gpu::stream()),
        "cudaMemcpyAsync to the host", std::to_string(bytes) + " bytes");
  synchronize();
}

void synchronize() { check(cudaStreamSynchronize(gpu::stream()), "a kernel or copy"); }

}  // namespace driver
}  // namespace labgrad
