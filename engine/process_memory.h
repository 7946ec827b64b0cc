#pragma once
// What the whole process holds in memory, tensors and all else, as the system counts it.

#include <cstddef>
#include <optional>

namespace labgrad {

// Bytes in physical memory: now, and at most since the start or the last reset. Nothing where the
// system doesn't tell (proc(5) is Linux's).
std::optional<std::size_t> resident_bytes();
std::optional<std::size_t> peak_resident_bytes();

// From here on the peak counts anew, where the system allows it.
void reset_peak_resident();

}  // namespace labgrad
