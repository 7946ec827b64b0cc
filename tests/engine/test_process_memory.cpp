#include "engine/process_memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace labgrad;

TEST_CASE("process memory: the peak rises with what is held and can be reset") {
  if (!resident_bytes()) {
    MESSAGE("this system doesn't tell what a process holds");
    return;
  }
  constexpr std::size_t bytes = std::size_t{64} << 20;
  reset_peak_resident();
  const std::size_t before = *resident_bytes();
  {
    std::vector<char> held(bytes);
    std::fill(held.begin(), held.end(), static_cast<char>(before));  // touched, so resident
    CHECK(*resident_bytes() > before + bytes * 9 / 10);
  }
  CHECK(*peak_resident_bytes() > before + bytes * 9 / 10);
  reset_peak_resident();
  CHECK(*peak_resident_bytes() < before + bytes / 2);
}
