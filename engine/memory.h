#pragma once
// The recycling allocator behind every tensor and graph node. Blocks are kept by size class and
// handed out again: a page fault on fresh memory costs more than the arithmetic done in it.

#include <cstddef>
#include <cstdint>

namespace labgrad {

// At least `bytes` bytes, aligned to 64 (a cache line and the widest vector register). Filled with
// NaN bytes in debug builds, so that reading what was never written shows. Error: out of memory.
void* allocate(std::size_t bytes);

// Gives back a block of allocate(bytes), from any thread.
void deallocate(void* block, std::size_t bytes) noexcept;

// What other threads do at the same time shows within 4 KiB for each of them.
struct MemoryStats {
  std::size_t live;    // bytes of tensor elements in use now
  std::size_t peak;    // the largest `live` since the start or the last reset_peak_memory()
  std::size_t cached;  // bytes kept for reuse
};
MemoryStats memory_stats();
void reset_peak_memory();

// Frees the cached blocks of this thread and of the shared pool (those above 1 KiB; smaller ones
// are parts of slabs and stay).
void release_cached_memory();

// Storage tells the statistics of its elements: bytes more, or less, in use.
void count_live(std::int64_t bytes);

// Base for classes whose objects come from the recycling allocator.
template <class T>
struct Recycled {
  static void* operator new(std::size_t bytes) { return allocate(bytes); }
  static void operator delete(void* block, std::size_t bytes) { deallocate(block, bytes); }
};

}  // namespace labgrad
