#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/memory.h"

namespace labgrad::cpu {

// `count` elements, not initialised, from the recycling allocator for the length of a scope.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count) : bytes_(static_cast<std::size_t>(count) * sizeof(T)) {
    if (count > 0) data_ = static_cast<T*>(allocate(bytes_));
  }
  ~Scratch() {
    if (data_) deallocate(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* get() const { return data_; }

 private:
  std::size_t bytes_;
  T* data_ = nullptr;
};

}  // namespace labgrad::cpu
