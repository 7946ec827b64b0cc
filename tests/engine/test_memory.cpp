// The recycling allocator: what is freed comes back, and no more is kept than is worth it.

#include "engine/memory.h"

#include <doctest/doctest.h>

using namespace labgrad;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// Allocates and gives back, without touching it.
void passing(std::size_t bytes) { deallocate(allocate(bytes), bytes); }

// Whether a block of this size comes from the cache.
bool is_cached(std::size_t bytes) {
  const std::size_t before = memory_stats().cached;
  void* block = allocate(bytes);
  const std::size_t after = memory_stats().cached;
  deallocate(block, bytes);
  return after + bytes <= before;
}

// Under the sanitizers every block has its own life.
bool recycles() {
  release_cached_memory();
  const std::size_t others = memory_stats().cached;  // by other threads, and in slabs
  passing(20 * mib);
  return memory_stats().cached >= others + 20 * mib;
}

}  // namespace

TEST_CASE("memory: a block comes back to the next request of its size") {
  if (!recycles()) return;
  CHECK(is_cached(20 * mib));
  CHECK_FALSE(is_cached(90 * mib));
  const std::size_t before = memory_stats().cached;
  release_cached_memory();
  CHECK(memory_stats().cached + 20 * mib <= before);
}

TEST_CASE("memory: sizes that nobody asks for any more make room for those in use") {
  if (!recycles()) return;
  std::size_t total = 0;
  for (std::size_t bytes = 16 * mib; bytes <= 1024 * mib; bytes *= 2) {  // never touched
    passing(bytes);
    total += bytes;
  }
  CHECK(memory_stats().cached < total);
  passing(90 * mib);
  CHECK(is_cached(90 * mib));
  release_cached_memory();
}
