// The recycling allocator: what is freed comes back, and no more is kept than is worth it.

#include "engine/memory.h"

#include <doctest/doctest.h>

#include <thread>

#include "engine/tensor.h"

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

TEST_CASE("[threads] memory: elements in use, however few, and those of threads that have ended") {
  const std::size_t before = memory_stats().live;
  reset_peak_memory();
  const auto small = [] { return empty({10}, f32, Device::cpu); };
  {
    const Tensor a = small();
    CHECK(memory_stats().live == before + 40);
    small();
  }
  CHECK(memory_stats().live == before);
  CHECK(memory_stats().peak == before + 80);
  { const Tensor large = empty({1000, 1000}, f32, Device::cpu); }
  CHECK(memory_stats().peak == before + 4'000'000);
  reset_peak_memory();
  CHECK(memory_stats().peak == before);

  Tensors kept;
  std::thread([&] {
    for (int i = 0; i < 50; ++i) kept.push_back(small());
  }).join();
  CHECK(memory_stats().live == before + 2000);
  kept.clear();
  CHECK(memory_stats().live == before);
}
