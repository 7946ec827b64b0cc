#include "engine/cuda/simt_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "engine/cuda/driver.h"
#include "engine/cuda/simt.h"
#include "engine/error.h"

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

bool owns(const std::byte* data, std::size_t bytes) {
  Blocks& b = blocks();
  std::lock_guard lock(b.mutex);
  auto after = b.sizes.upper_bound(data);
  if (after == b.sizes.begin()) return false;
  --after;
  return data + bytes <= after->first + after->second;
}

void out_of_bounds(const char* variable, std::int64_t i, std::int64_t low, std::int64_t high) {
  report(
      (std::string(variable) + "[" + std::to_string(i) + "]").c_str(),
      ("is out of bounds: permitted are " + std::to_string(low) + " .. " + std::to_string(high - 1))
          .c_str());
}

void never_written(const char* variable, std::int64_t i) {
  report((std::string(variable) + "[" + std::to_string(i) + "]").c_str(),
         "is read before anyone in the block has written it: is a barrier missing, or a value?");
}

Extent extent(const Array& a) {
  Extent e{0, 1};
  for (int d = 0; d < a.shape.rank(); ++d) {
    if (a.shape[d] == 0) return {0, 0};
    const std::int64_t reach = (a.shape[d] - 1) * a.strides[d];
    (reach < 0 ? e.low : e.high) += reach;
  }
  return e;
}

void check_argument(const Array& a, DType dtype, const char* name) {
  if (a.dtype != dtype)
    fail(std::string("simt: the argument ") + name + " is " + name_of(a.dtype) +
         ", and the kernel takes " + name_of(dtype));
  const Extent e = extent(a);
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  if (e.low < e.high &&
      !owns(a.data + e.low * size, static_cast<std::size_t>((e.high - e.low) * size)))
    fail(std::string("simt: the argument ") + name + " of shape " + a.shape.str() +
         " does not lie in the device's memory");
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
