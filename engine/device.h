#pragma once
// Where a tensor's elements live and which kernels work on them.

#include <cstdint>
#include <string_view>

namespace labgrad {

enum class Device : std::uint8_t {
  cpu,    // the fast kernels of engine/cpu
  naive,  // the plain loops of engine/naive: the specification, in the same host memory
};

constexpr const char* name_of(Device d) { return d == Device::cpu ? "cpu" : "naive"; }

// The device named by a command line: "cpu" or "naive". Error: lists the names this build knows.
Device device_from_name(std::string_view name);

// The device of tensors that are created without naming one; cpu at first. One for the process.
Device default_device();
void set_default_device(Device d);

}  // namespace labgrad
