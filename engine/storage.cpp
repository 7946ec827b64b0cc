#include "engine/storage.h"

#include <atomic>
#include <new>
#include <string>

#include "engine/error.h"

namespace labgrad {
namespace {

// Header and elements share one block. The elements begin at the next cache line, but for a few
// numbers, which fit into the header's own.
constexpr std::size_t line = 64;
static_assert(sizeof(Storage) <= line && sizeof(Storage) % alignof(std::max_align_t) == 0);

std::size_t header(std::size_t bytes) {
  return sizeof(Storage) + bytes <= line ? sizeof(Storage) : line;
}

std::atomic<Device> chosen{Device::cpu};

}  // namespace

Ref<Storage> Storage::make(std::size_t bytes, Device device) {
  auto* block = static_cast<std::byte*>(allocate(header(bytes) + bytes));
  count_live(bytes);
  return Ref<Storage>(new (block) Storage(block + header(bytes), bytes, device));
}

void Storage::destroy(Storage* storage) noexcept {
  const std::size_t bytes = storage->bytes_;
  discount_live(bytes);
  storage->~Storage();
  deallocate(storage, header(bytes) + bytes);
}

Device device_from_name(std::string_view name) {
  for (Device d : {Device::cpu, Device::naive})
    if (name == name_of(d)) return d;
  fail("device: '" + std::string(name) + "' is not in this build; it has cpu and naive");
}

Device default_device() { return chosen.load(std::memory_order_relaxed); }
void set_default_device(Device d) { chosen.store(d, std::memory_order_relaxed); }

}  // namespace labgrad
