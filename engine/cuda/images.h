#pragma once
// Batches of images (N, C, H, W) with any strides, and the places on them that threads take.

#include <cstdint>
#include <cstdlib>

#include "engine/cuda/layout.h"

namespace labgrad {

// The elements of a batch: images(n, c, h, w).
template <class T>
class Images {
 public:
  Images() = default;
  Images(const Array& a, const char* name) : elements_(a, name) {
    if (!a.data) return;
    for (int d = 0; d < 4; ++d) stride_[d] = a.strides[d];
  }

  __device__ explicit operator bool() const { return static_cast<bool>(elements_); }
  __device__ T& operator()(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return elements_[n * stride_[0] + c * stride_[1] + h * stride_[2] + w * stride_[3]];
  }

 private:
  Memory<T> elements_;
  std::int64_t stride_[4] = {};
};

struct Position {
  std::int64_t n, c, i, j;
};

// All positions of a batch, numbered so that neighbouring threads find neighbours in memory: along
// the row, or across the channels where these lie closer together.
struct Positions {
  std::int64_t numel, images, channels, height, width;
  bool channels_last;

  // Of `shape`, ordered by the strides of `a`.
  Positions(const Shape& shape, const Array& a)
      : numel(shape.numel()),
        images(shape[0]),
        channels(shape[1]),
        height(shape[2]),
        width(shape[3]),
        channels_last(a.shape[1] > 1 && std::abs(a.strides[1]) < std::abs(a.strides[3])) {}

  __device__ Position operator[](std::int64_t k) const {
    Position p{};
    if (channels_last) p.c = next(k, channels);
    p.j = next(k, width);
    p.i = next(k, height);
    if (!channels_last) p.c = next(k, channels);
    p.n = k;
    return p;
  }

  // Those of one channel: how many, and the k-th.
  std::int64_t of_channel() const { return images * height * width; }
  __device__ Position of_channel(std::int64_t c, std::int64_t k) const {
    Position p{};
    p.c = c;
    p.j = next(k, width);
    p.i = next(k, height);
    p.n = k;
    return p;
  }

 private:
  // Takes a digit of base n from k.
  __device__ std::int64_t next(std::int64_t& k, std::int64_t n) const {
    const std::int64_t rest = quotient(k, n, numel), digit = k - rest * n;
    k = rest;
    return digit;
  }
};

}  // namespace labgrad
