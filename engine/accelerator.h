#pragma once
// A device with memory of its own. None is part of the library as such: a build with CUDA=1 or
// SIMT=1 links engine/cuda, whose objects announce one before main() begins.

#include <cstddef>

#include "engine/device.h"
#include "engine/error.h"

namespace labgrad {

class Kernels;

// The build knows the device, the machine has none.
class NoDevice : public Error {
 public:
  using Error::Error;
};

class Accelerator {
 public:
  virtual ~Accelerator() = default;

  // Ready to compute? Called before the first use. Error: NoDevice, with the reason.
  virtual void start() = 0;

  // Memory of the device, aligned to 256 bytes, not initialised. Error: out of memory; what is
  // allocated stays as it is.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void deallocate(std::byte* block, std::size_t bytes) noexcept = 0;
  // Gives what is kept for reuse back to the device, where other programs can have it.
  virtual void release_cached() = 0;

  // Bytes from the host's memory to the device's and back, after all kernels that were launched
  // before. `upload` and `download` return when the host may use its memory again.
  virtual void upload(std::byte* device, const std::byte* host, std::size_t bytes) = 0;
  virtual void download(std::byte* host, const std::byte* device, std::size_t bytes) = 0;

  // Waits until every kernel launched so far has ended. Error: one of them failed.
  virtual void synchronize() = 0;

  virtual const Kernels& kernels() = 0;
};

// To be called once for a device, before main().
void announce(Device device, Accelerator& accelerator);

// Is the device in this build?
bool is_built_in(Device device);

// Error: it is not in this build; NoDevice.
Accelerator& accelerator(Device device);

}  // namespace labgrad
