#pragma once
// Arrays (N, C, ...) as dense rows of C channels, one for each pixel: where they lie so already, or
// by way of a copy.

#include <cstdint>

#include "engine/cpu/cpu.h"
#include "engine/cpu/scratch.h"

namespace labgrad::cpu {

// The strides under which an array of this shape has its channels side by side.
inline Strides channels_last(const Shape& shape) {
  Strides strides = shape;
  std::int64_t stride = 1;
  auto place = [&](int d) {
    strides[d] = stride;
    stride *= shape[d];
  };
  place(1);
  for (int d = shape.rank() - 1; d > 1; --d) place(d);
  place(0);
  return strides;
}

inline bool is_channels_last(const Array& a) {
  const Strides dense = channels_last(a.shape);
  for (int d = 0; d < a.shape.rank(); ++d)
    if (a.shape[d] != 1 && a.strides[d] != dense[d]) return false;
  return true;
}

// To read: data()[pixel * C + channel].
template <class T>
class InChannels {
 public:
  explicit InChannels(const Array& a) : copy_(is_channels_last(a) ? 0 : a.shape.numel()) {
    data_ = copy_.get() ? copy_.get() : a.as<T>();
    if (!copy_.get()) return;
    Array dense = a;
    dense.data = reinterpret_cast<std::byte*>(copy_.get());
    dense.strides = channels_last(a.shape);
    Cpu().copy(dense, a);
  }
  const T* data() const { return data_; }

 private:
  Scratch<T> copy_;
  const T* data_;
};

// To write; a copy goes back to its place in the end.
template <class T>
class OutChannels {
 public:
  explicit OutChannels(const Array& a)
      : copy_(is_channels_last(a) ? 0 : a.shape.numel()), array_(a) {}
  ~OutChannels() {
    if (!copy_.get()) return;
    Array dense = array_;
    dense.data = reinterpret_cast<std::byte*>(copy_.get());
    dense.strides = channels_last(array_.shape);
    Cpu().copy(array_, dense);
  }
  OutChannels(const OutChannels&) = delete;
  OutChannels& operator=(const OutChannels&) = delete;
  T* data() const { return copy_.get() ? copy_.get() : array_.as<T>(); }

 private:
  Scratch<T> copy_;
  Array array_;
};

}  // namespace labgrad::cpu
