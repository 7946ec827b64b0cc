#pragma once
// Arrays of the host, copied as they lie to the device whose kernels are tested.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "engine/accelerator.h"
#include "engine/cuda/simt.h"
#include "tests/engine/arrays.h"
#include "tests/engine/cuda/device.h"

namespace labgrad::tests {

inline std::string describe(const Array& a) {
  return std::string(name_of(a.dtype)) + a.shape.str() + " strides " + a.strides.str();
}

// Copies with the same strides, gaps included; an array without data stays one. The first element
// lies `shift` elements behind a multiple of 256 bytes, so that 1 forbids loads of whole packs.
class Arrays {
 public:
  Arrays(Device device, std::initializer_list<const Array*> arrays, std::int64_t shift = 0)
      : device_(accelerator(device)) {
    for (const Array* a : arrays) {
      arrays_.push_back(*a);
      blocks_.push_back({nullptr, 0, 0});
      if (!a->data) continue;
      const Span s = span(*a);
      Block& b = blocks_.back();
      const auto skip = static_cast<std::size_t>(shift) * size_of(a->dtype);
      b = {nullptr, s.bytes + skip, skip};
      b.memory = device_.allocate(b.bytes);
      device_.upload(b.memory + skip, s.begin, s.bytes);
      arrays_.back().data = b.memory + skip + (a->data - s.begin);
    }
  }
  ~Arrays() {
    for (const Block& b : blocks_)
      if (b.memory) device_.deallocate(b.memory, b.bytes);
  }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  const Array& operator[](std::size_t i) const { return arrays_[i]; }

  // Brings array i back, gaps included; `to` has its shape and strides.
  void bring_back(std::size_t i, const Array& to) const {
    const Span s = span(to);
    device_.download(s.begin, blocks_[i].memory + blocks_[i].skip, s.bytes);
  }

 private:
  struct Block {
    std::byte* memory;
    std::size_t bytes, skip;
  };
  struct Span {
    std::byte* begin;
    std::size_t bytes;
  };
  static Span span(const Array& a) {
    const simt::Extent e = simt::extent(a);
    const auto size = static_cast<std::int64_t>(size_of(a.dtype));
    return {a.data + e.low * size, static_cast<std::size_t>((e.high - e.low) * size)};
  }

  Accelerator& device_;
  std::vector<Array> arrays_;
  std::vector<Block> blocks_;
};

}  // namespace labgrad::tests
