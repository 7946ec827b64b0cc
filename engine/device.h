#pragma once
// Where a tensor's elements live and which kernels work on them.

#include <cstdint>
#include <string_view>

namespace labgrad {

enum class Device : std::uint8_t {
  cpu,    // the fast kernels of engine/cpu
  naive,  // the plain loops of engine/naive: the specification, in the same host memory
  cuda,   // the kernels of engine/cuda on a GPU; in builds with CUDA=1 (engine/accelerator.h)
  simt,   // the same kernels in the emulator of engine/cuda/simt.h; in builds with SIMT=1
};

constexpr const char* name_of(Device d) {
  switch (d) {
    case Device::cpu:
      return "cpu";
    case Device::naive:
      return "naive";
    case Device::cuda:
      return "cuda";
    case Device::simt:
      return "simt";
  }
  return "?";
}

// Do its tensors lie in the host's memory, where span() and item() can look at them as they are?
constexpr bool in_host_memory(Device d) { return d == Device::cpu || d == Device::naive; }

// The device of that name. Errors: there is none; it is not in this build; NoDevice
// (engine/accelerator.h): it is, but this machine has no such hardware.
Device device_from_name(std::string_view name);

// The device of tensors that are created without naming one; cpu at first. One for the process.
Device default_device();
void set_default_device(Device d);

}  // namespace labgrad
