#include "engine/process_memory.h"

#include <fstream>
#include <string>

namespace labgrad {
namespace {

// A line "VmRSS:   747900 kB" of /proc/self/status.
std::optional<std::size_t> status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::size_t kib = 0; word == name && status >> kib) return kib * 1024;
  return {};
}

}  // namespace

std::optional<std::size_t> resident_bytes() { return status_bytes("VmRSS:"); }
std::optional<std::size_t> peak_resident_bytes() { return status_bytes("VmHWM:"); }

void reset_peak_resident() {
  std::ofstream("/proc/self/clear_refs") << 5;  // proc(5): resets the peak
}

}  // namespace labgrad
