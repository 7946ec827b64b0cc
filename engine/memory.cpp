#include "engine/memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "engine/error.h"

namespace labgrad {
namespace {

// Sizes are rounded up to 64 bytes, then to four classes for each power of two, so a block wastes
// at most a fifth of itself.
constexpr std::size_t unit = 64;
constexpr int class_count = 160;
constexpr std::size_t slab_small = 1024;  // blocks up to this size are cut from slabs, for good
constexpr std::size_t slab_bytes = std::size_t{64} << 10;
constexpr std::size_t keep_small = std::size_t{64} << 10;  // larger blocks go to the shared pool
constexpr std::size_t keep_per_class = std::size_t{4} << 20;
constexpr std::size_t cache_floor = std::size_t{64} << 20;

struct SizeClass {
  int index;
  std::size_t bytes;
};

SizeClass large_class(std::size_t units) {
  const int shift = static_cast<int>(std::bit_width(units - 1)) - 3;
  const std::size_t step = std::size_t{1} << shift;
  const std::size_t rounded = (units + step - 1) & ~(step - 1);
  const std::size_t quarter = rounded >> shift;  // 5 .. 8
  return {8 + (shift - 1) * 4 + static_cast<int>(quarter - 4), rounded * unit};
}

SizeClass size_class(std::size_t bytes) {
  const std::size_t units = bytes <= unit ? 1 : (bytes + unit - 1) / unit;
  if (units <= 8) return {static_cast<int>(units), units * unit};
  return large_class(units);
}

// A free block's first bytes hold the link to the next one of its class.
struct FreeBlock {
  FreeBlock* next;
};

struct FreeLists {
  std::array<FreeBlock*, class_count> head{};
  std::array<std::size_t, class_count> bytes{};

  void* pop(SizeClass c) {
    FreeBlock* block = head[static_cast<std::size_t>(c.index)];
    if (!block) return nullptr;
    FreeBlock* next = block->next;
    head[static_cast<std::size_t>(c.index)] = next;
    // The blocks of a graph that was freed lie all over the caches: the next one is fetched while
    // this one is used.
    if (next && c.bytes <= slab_small)
      for (std::size_t at = 0; at < c.bytes; at += unit)
        __builtin_prefetch(reinterpret_cast<std::byte*>(next) + at, 1);
    bytes[static_cast<std::size_t>(c.index)] -= c.bytes;
    return block;
  }
  void push(SizeClass c, void* block) {
    auto i = static_cast<std::size_t>(c.index);
    head[i] = new (block) FreeBlock{head[i]};
    bytes[i] += c.bytes;
  }
};

std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> peak{0};
std::atomic<std::int64_t> most{0};   // the largest `live` of all, which no reset lowers
std::atomic<std::size_t> cached{0};  // in the shared pool

// Bytes of elements that a thread has counted by itself, and the largest value of that count: an
// atomic addition for each small tensor would cost as much as its arithmetic. Beyond `untold`, or
// when it asks for the statistics, it tells the others.
struct Count {
  std::int64_t bytes = 0, largest = 0;
};
constexpr std::int64_t untold = 4096;

void tell(Count& count) {
  const std::int64_t now = live.fetch_add(count.bytes, std::memory_order_relaxed) + count.largest;
  for (std::atomic<std::int64_t>* largest : {&peak, &most}) {
    std::int64_t seen = largest->load(std::memory_order_relaxed);
    while (now > seen && !largest->compare_exchange_weak(seen, now, std::memory_order_relaxed)) {}
  }
  count = {};
}

// Shared by all threads and never destroyed, since tensors in static variables die after it would.
struct Pool {
  std::mutex mutex;
  FreeLists lists;
};
Pool& pool() {
  static Pool* p = new Pool;
  return *p;
}

// What a thread gives back at its end goes to the pool; blocks freed even later go there directly.
struct ThreadCache {
  FreeLists lists;
  Count count;
  ~ThreadCache();
};
enum class CacheState : unsigned char { unused, alive, gone };
thread_local CacheState state = CacheState::unused;
thread_local ThreadCache* this_cache = nullptr;

void release_pool();

// What one thread has freed of another's may have been told before.
std::size_t bytes_in(const std::atomic<std::int64_t>& count) {
  return static_cast<std::size_t>(std::max<std::int64_t>(0, count.load(std::memory_order_relaxed)));
}

void pool_push(SizeClass c, void* block) {
  // In use and cached together stay within twice what has been in use at once. A step of training
  // needs as much: its gradients have the sizes of its results, which live on until then.
  const std::size_t limit = 2 * std::max(cache_floor, bytes_in(most));
  const std::size_t held = bytes_in(live) + cached.load(std::memory_order_relaxed);
  // Beyond that all cached blocks go: what is needed again will come back, and sizes that a program
  // has done with don't keep out those that it uses.
  if (c.bytes > slab_small && held + c.bytes > limit) release_pool();
  std::lock_guard lock(pool().mutex);
  pool().lists.push(c, block);
  cached.fetch_add(c.bytes, std::memory_order_relaxed);
}

void* pool_pop(SizeClass c) {
  std::lock_guard lock(pool().mutex);
  void* block = pool().lists.pop(c);
  if (block) cached.fetch_sub(c.bytes, std::memory_order_relaxed);
  return block;
}

SizeClass class_of_index(int index) {
  if (index <= 8) return {index, static_cast<std::size_t>(index) * unit};
  const int shift = (index - 9) / 4 + 1;
  const int quarter = (index - 9) % 4 + 5;
  return {index, (static_cast<std::size_t>(quarter) << shift) * unit};
}

// Frees what the shared pool caches, but for the parts of slabs.
void release_pool() {
  for (int i = 1; i < class_count; ++i) {
    const SizeClass c = class_of_index(i);
    if (c.bytes <= slab_small) continue;
    while (void* block = pool_pop(c)) std::free(block);
  }
}

ThreadCache::~ThreadCache() {
  state = CacheState::gone;
  this_cache = nullptr;
  tell(count);
  for (int i = 1; i < class_count; ++i)
    while (void* block = lists.pop(class_of_index(i))) pool_push(class_of_index(i), block);
}

ThreadCache* cache() {
  if (state == CacheState::alive) return this_cache;
  if (state == CacheState::gone) return nullptr;
  thread_local ThreadCache mine;
  this_cache = &mine;
  state = CacheState::alive;
  return this_cache;
}

// Cuts a slab into blocks of class c: one to hand out, the others into the thread's list. A million
// graph nodes then cost a million times their size, without the C library's bookkeeping between.
void* cut_slab(SizeClass c, FreeLists& lists) {
  auto* slab = static_cast<std::byte*>(std::aligned_alloc(unit, slab_bytes));
  if (!slab) return nullptr;
  for (std::size_t at = slab_bytes / c.bytes - 1; at > 0; --at) lists.push(c, slab + at * c.bytes);
  return slab;
}

// The sanitizers must see each block's own life, or they miss a use after it was given back.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool recycle = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool recycle = false;
#else
constexpr bool recycle = true;
#endif
#else
constexpr bool recycle = true;
#endif

// A new block from the C library, or null. Large ones ask for pages of 2 MiB: on pages of 4 KiB a
// kernel that walks through an activation or a matrix waits for a new address on every one of them.
void* new_block(std::size_t bytes) {
  constexpr std::size_t large_page = std::size_t{2} << 20;
  if (!recycle || bytes % large_page != 0) return std::aligned_alloc(unit, bytes);
  void* block = std::aligned_alloc(large_page, bytes);
#ifdef MADV_HUGEPAGE
  if (block)
    madvise(block, bytes, MADV_HUGEPAGE);  // advice: where it can't be had, nothing is lost
#endif
  return block;
}

// What this thread has no free block for. Apart from allocate(), whose way is then short.
[[gnu::noinline]] void* allocate_elsewhere(SizeClass c, std::size_t bytes) {
  if (c.index >= class_count)
    fail("allocate: out of memory, " + std::to_string(bytes) + " bytes are needed");
  void* block = nullptr;
  if (recycle) {
    if (c.bytes <= keep_small)
      if (ThreadCache* mine = cache()) block = mine->lists.pop(c);
    if (!block) block = pool_pop(c);
    if (!block && c.bytes <= slab_small)
      if (ThreadCache* mine = cache()) block = cut_slab(c, mine->lists);
  }
  if (!block) block = new_block(c.bytes);
  if (!block) {
    release_cached_memory();
    block = new_block(c.bytes);
  }
  if (!block) fail("allocate: out of memory, " + std::to_string(bytes) + " bytes are needed");
  return block;
}

}  // namespace

void* allocate(std::size_t bytes) {
  const SizeClass c = size_class(bytes);
  void* block = nullptr;
  if (recycle && c.bytes <= keep_small && state == CacheState::alive)
    block = this_cache->lists.pop(c);
  if (!block) block = allocate_elsewhere(c, bytes);
#ifndef NDEBUG
  std::memset(block, 0xff, c.bytes);  // all ones is NaN in f32 and f64
#endif
  return block;
}

void deallocate(void* block, std::size_t bytes) noexcept {
  if (!block) return;
  const SizeClass c = size_class(bytes);
  if (!recycle) {
    std::free(block);
    return;
  }
  if (c.bytes <= keep_small)
    if (ThreadCache* mine = cache();
        mine && mine->lists.bytes[static_cast<std::size_t>(c.index)] < keep_per_class) {
      mine->lists.push(c, block);
      return;
    }
  pool_push(c, block);
}

MemoryStats memory_stats() {
  std::size_t kept = cached.load(std::memory_order_relaxed);
  if (ThreadCache* mine = cache()) {
    tell(mine->count);
    for (std::size_t bytes : mine->lists.bytes) kept += bytes;
  }
  return {bytes_in(live), bytes_in(peak), kept};
}

void reset_peak_memory() {
  if (ThreadCache* mine = cache()) tell(mine->count);
  peak.store(live.load(std::memory_order_relaxed));
}

void release_cached_memory() {
  if (ThreadCache* mine = cache())
    for (int i = 1; i < class_count; ++i)
      if (const SizeClass c = class_of_index(i); c.bytes > slab_small)
        while (void* block = mine->lists.pop(c)) std::free(block);
  release_pool();
}

void count_live(std::int64_t bytes) {
  ThreadCache* const mine = state == CacheState::alive ? this_cache : cache();
  Count without_cache;
  Count& count = mine ? mine->count : without_cache;
  count.bytes += bytes;
  count.largest = std::max(count.largest, count.bytes);
  if (!mine || count.bytes > untold || count.bytes < -untold) tell(count);
}

}  // namespace labgrad
