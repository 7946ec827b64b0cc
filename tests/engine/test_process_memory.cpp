#include "engine/process_memory.h"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <cstring>

using namespace labgrad;

TEST_CASE("process memory: the peak rises with what is held and can be reset") {
  if (!resident_bytes()) {
    MESSAGE("this system doesn't tell what a process holds");
    return;
  }
  constexpr std::size_t bytes = std::size_t{64} << 20;
  reset_peak_resident();
  const std::size_t before = *resident_bytes();
  // From the system itself: an allocator may keep what is freed.
  void* held = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(held != MAP_FAILED);
  std::memset(held, 1, bytes);  // touched, so resident
  CHECK(*resident_bytes() > before + bytes * 9 / 10);
  ::munmap(held, bytes);
  CHECK(*peak_resident_bytes() > before + bytes * 9 / 10);
  reset_peak_resident();
  CHECK(*peak_resident_bytes() < before + bytes / 2);
}
