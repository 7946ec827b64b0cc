#pragma once
// Images as operands of a product. A convolution is one: its rows are filters, its columns the
// pixels of the result, and the terms of the sum the taps and channels. The matrix of all patches
// is never made: a tile's elements are read from where they lie in the image.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/cuda/gemm_tile.h"
#include "engine/cuda/platform.h"

namespace labgrad::tiled {

// Divides 0 .. 2^31 - 1 by a fixed number d with one multiplication, which costs a GPU a fifth of a
// division: n / d = n m / 2^s rounded down, for s = 31 + log2 d and m = 2^s / d rounded up. The
// error n (m - 2^s / d) / 2^s is below n / 2^s < 1 / d, too small to reach the next whole number.
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(std::int64_t d) {
    while ((std::int64_t{1} << (shift_ - 31)) < d) ++shift_;
    const auto u = static_cast<std::uint64_t>(d);
    factor_ = ((std::uint64_t{1} << shift_) + u - 1) / u;
  }
  __device__ std::int64_t operator()(std::int64_t n) const {
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(n) * factor_) >> shift_);
  }

 private:
  int shift_ = 31;
  std::uint64_t factor_ = std::uint64_t{1} << 31;
};

// What one of an axis's three indices does: how far a step goes in memory, and in the plane.
struct Part {
  std::int64_t size = 1, offset = 0, h = 0, w = 0;
};

// Where an index leads.
struct Place {
  std::int64_t offset = 0;
  std::int32_t h = 0, w = 0;
};

// An index that stands for three, of which the last turns fastest: (n, i, j) of a pixel or (a, b,
// channel) of a tap.
class Axis {
 public:
  Axis(const Part& first, const Part& second, const Part& third, Place start = {})
      : part_{first, second, third},
        by_{Divisor(std::max<std::int64_t>(1, second.size)),
            Divisor(std::max<std::int64_t>(1, third.size))},
        start_(start),
        small_(size() <= 0x7fffffff) {}

  std::int64_t size() const { return part_[0].size * part_[1].size * part_[2].size; }

  __device__ Place operator()(std::int64_t i) const {
    const std::int64_t rest = small_ ? by_[1](i) : i / part_[2].size;
    const std::int64_t first = small_ ? by_[0](rest) : rest / part_[1].size;
    const std::int64_t index[3] = {first, rest - first * part_[1].size, i - rest * part_[2].size};
    Place p = start_;
    for (int d = 0; d < 3; ++d) {
      p.offset += index[d] * part_[d].offset;
      p.h += static_cast<std::int32_t>(index[d] * part_[d].h);
      p.w += static_cast<std::int32_t>(index[d] * part_[d].w);
    }
    return p;
  }

  // Are neighbours on the axis neighbours in memory?
  bool is_dense() const { return part_[fastest()].offset == 1; }
  // Are they so in packs of n, all elements of which lie at one place of the plane?
  bool is_dense_by(int n) const {
    const Part& p = part_[fastest()];
    return p.offset == 1 && p.h == 0 && p.w == 0 && p.size % n == 0;
  }
  // Are all steps, but for that one if `dense`, multiples of n?
  bool goes_by(int n, bool dense) const {
    bool all = start_.offset % n == 0;
    for (int d = 0; d < 3; ++d)
      all = all && ((dense && d == fastest()) || part_[d].size == 1 || part_[d].offset % n == 0);
    return all;
  }

 private:
  int fastest() const { return part_[2].size > 1 ? 2 : part_[1].size > 1 ? 1 : 0; }

  Part part_[3];
  Divisor by_[2];
  Place start_;
  bool small_;
};

// The operand whose element (i, k) lies in the plane where outer(i) and inner(k) add up to, and is
// 0 beyond the plane's edges.
template <class T>
struct Patches {
  using Place = tiled::Place;
  using Value = std::remove_const_t<T>;

  Patches(const Array& a, const char* name, const Axis& outer_, const Axis& inner_,
          std::int64_t batch_stride)
      : memory(a, name),
        outer(outer_),
        inner(inner_),
        height(static_cast<std::int32_t>(a.shape[2])),
        width(static_cast<std::int32_t>(a.shape[3])),
        along_inner(inner.is_dense() || !outer.is_dense()) {
    constexpr int lanes = Pack<Value>::lanes;
    packed = (along_inner ? inner : outer).is_dense_by(lanes) &&
             inner.goes_by(lanes, along_inner) && outer.goes_by(lanes, !along_inner) &&
             batch_stride % lanes == 0 && reinterpret_cast<std::uintptr_t>(a.data) % 16 == 0;
  }

  __device__ bool inside(Place i, Place k) const {
    const std::int32_t h = i.h + k.h, w = i.w + k.w;
    return h >= 0 && h < height && w >= 0 && w < width;
  }
  __device__ Value at(Place i, Place k) const {
    return inside(i, k) ? memory[i.offset + k.offset] : Value(0);
  }
  __device__ Pack<Value> pack(Place i, Place k) const {
    Pack<Value> p{};
    if (inside(i, k)) p = memory.pack(i.offset + k.offset);
    return p;
  }

  Memory<T> memory;
  Axis outer, inner;
  std::int32_t height, width;
  bool along_inner, packed = false;
};

}  // namespace labgrad::tiled
