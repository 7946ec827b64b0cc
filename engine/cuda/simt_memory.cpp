#include "engine/cuda/simt_memory.h"

#include "engine/cuda/driver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <new>

namespace labgrad::simt {
namespace {

constexpr std::align_val_t alignment{256};

struct Blocks {
  std::mutex mutex;
  std::map<const std::byte*, std::size_t> sizes;  // by first byte
  std::size_t used = 0;
  std::size_t capacity = std::numeric_limits<std::size_t>::max();
};

// Never destroyed: tensors in static variables die late.
Blocks& blocks() {
  static Blocks* all = [] {
    auto* b = new Blocks;
    if (const char* limit = std::getenv("LABGRAD_DEVICE_MEMORY"))
      b->capacity = std::strtoull(limit, nullptr, 10);
    return b;
  }();
  return *all;
}

}  // namespace

void set_capacity(std::size_t bytes) {
  std::lock_guard lock(blocks().mutex);
  blocks().capacity = bytes;
}

std::size_t used() {
  std::lock_guard lock(blocks().mutex);
  return blocks().used;
}

bool owns(const std::byte* data, std::size_t bytes) {
  Blocks& b = blocks();
  std::lock_guard lock(b.mutex);
  auto after = b.sizes.upper_bound(data);
  if (after == b.sizes.begin()) return false;
  --after;
  return data + bytes <= after->first + after->second;
}

}  // namespace labgrad::simt

namespace labgrad::driver {

void start() {}

std::byte* allocate(std::size_t bytes) {
  simt::Blocks& b = simt::blocks();
  std::lock_guard lock(b.mutex);
  if (bytes > b.capacity || b.used > b.capacity - bytes) return nullptr;
  void* memory = operator new(bytes, simt::alignment, std::nothrow);
  if (!memory) return nullptr;
  std::memset(memory, 0xff, bytes);  // NaN, as f32 and as f64
  auto* block = static_cast<std::byte*>(memory);
  b.sizes.emplace(block, bytes);
  b.used += bytes;
  return block;
}

void release(std::byte* block) noexcept {
  simt::Blocks& b = simt::blocks();
  std::lock_guard lock(b.mutex);
  const auto at = b.sizes.find(block);
  if (at == b.sizes.end()) return;
  b.used -= at->second;
  b.sizes.erase(at);
  operator delete(block, simt::alignment);
}

std::string memory_state() {
  simt::Blocks& b = simt::blocks();
  std::lock_guard lock(b.mutex);
  return std::to_string(b.used) + " in use of " + std::to_string(b.capacity);
}

void upload(std::byte* device, const std::byte* host, std::size_t bytes) {
  std::memcpy(device, host, bytes);
}
void download(std::byte* host, const std::byte* device, std::size_t bytes) {
  std::memcpy(host, device, bytes);
}
void synchronize() {}

}  // namespace labgrad::driver
