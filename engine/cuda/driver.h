#pragma once
// The few things that a GPU and the emulated device do each in its own way. gpu.cu has the one,
// simt_memory.cpp the other.

#include <cstddef>
#include <string>

#include "engine/device.h"

namespace labgrad::driver {

#if defined(__CUDACC__)
inline constexpr Device this_device = Device::cuda;
#else
inline constexpr Device this_device = Device::simt;
#endif

// Finds the device. Error: NoDevice.
void start();

// A block aligned to 256 bytes; nullptr when the device is full.
std::byte* allocate(std::size_t bytes);
void release(std::byte* block) noexcept;
// "512 MiB free of 15.8 GiB", or "" where it is not known.
std::string memory_state();

// After all kernels launched before; return when the host may use its memory again. Error: one of
// those kernels failed.
void upload(std::byte* device, const std::byte* host, std::size_t bytes);
void download(std::byte* host, const std::byte* device, std::size_t bytes);
void synchronize();

}  // namespace labgrad::driver
