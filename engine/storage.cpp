#include "engine/storage.h"

#include <new>

#include "engine/accelerator.h"

namespace labgrad {
namespace {

// Header and elements share one block. The elements begin at the next cache line, but for a few
// numbers, which fit into the header's own.
constexpr std::size_t line = 64;
static_assert(sizeof(Storage) <= line && sizeof(Storage) % alignof(std::max_align_t) == 0);

std::size_t header(std::size_t bytes) {
  return sizeof(Storage) + bytes <= line ? sizeof(Storage) : line;
}

}  // namespace

Ref<Storage> Storage::make(std::size_t bytes, Device device) {
  if (!in_host_memory(device)) return make_apart(bytes, device);
  auto* block = static_cast<std::byte*>(allocate(header(bytes) + bytes));
  count_live(static_cast<std::int64_t>(bytes));
  return Ref<Storage>::first(new (block) Storage(block + header(bytes), bytes, device));
}

// The header in the host's memory, the elements in the device's.
Ref<Storage> Storage::make_apart(std::size_t bytes, Device device) {
  std::byte* elements = accelerator(device).allocate(bytes);
  count_live(static_cast<std::int64_t>(bytes));
  return Ref<Storage>::first(new (allocate(sizeof(Storage))) Storage(elements, bytes, device));
}

void Storage::destroy(Storage* storage) noexcept {
  const std::size_t bytes = storage->bytes_;
  count_live(-static_cast<std::int64_t>(bytes));
  if (!in_host_memory(storage->device_)) {
    accelerator(storage->device_).deallocate(storage->data_, bytes);
    storage->~Storage();
    deallocate(storage, sizeof(Storage));
    return;
  }
  storage->~Storage();
  deallocate(storage, header(bytes) + bytes);
}

}  // namespace labgrad
