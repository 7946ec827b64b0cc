#pragma once
// The memory of the emulated device: the host's, kept apart so that an array of the host that
// reaches a kernel is noticed.

#include <cstddef>

namespace labgrad::simt {

// How much the device has; at first LABGRAD_DEVICE_MEMORY (bytes) or no limit.
void set_capacity(std::size_t bytes);

// How much of it is taken, what is kept for reuse included.
std::size_t used();

// Do these bytes lie in one block?
bool owns(const std::byte* data, std::size_t bytes);

}  // namespace labgrad::simt
