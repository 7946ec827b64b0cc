#pragma once
// A block of elements, shared by a tensor and all views of it.

#include <cstddef>
#include <cstdint>

#include "engine/device.h"
#include "engine/memory.h"
#include "engine/ref.h"

namespace labgrad {

class Storage : public Counted {
 public:
  // A new block of `bytes` bytes, not initialised. Error: out of memory; the device is not there.
  static Ref<Storage> make(std::size_t bytes, Device device);

  std::byte* data() { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }

  // Counts in-place changes. A tensor saved for backward remembers the version it was saved at.
  std::uint32_t version() const { return version_; }
  void bump_version() { ++version_; }

  static void destroy(Storage* storage) noexcept;

 private:
  static Ref<Storage> make_apart(std::size_t bytes, Device device);

  Storage(std::byte* data, std::size_t bytes, Device device)
      : data_(data), bytes_(bytes), device_(device) {}

  std::byte* data_;
  std::size_t bytes_;
  std::uint32_t version_ = 0;
  Device device_;
};

}  // namespace labgrad
