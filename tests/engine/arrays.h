#pragma once
// Arrays for tests of kernels: any dtype and layout, random values, and guards: whatever lies
// between and around the elements is NaN, so that reading it shows, and must stay as it was.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/kernels.h"
#include "engine/naive/walk.h"
#include "engine/random.h"

namespace labgrad::test {

// How the elements lie in memory: dimensions from the outermost to the innermost (empty: in order),
// the gap factor of the innermost one, which dimensions run backwards, and which are repeated (all
// their positions are one element; for inputs).
struct Layout {
  std::vector<int> order = {};
  std::int64_t step = 1;
  std::vector<bool> flipped = {};
  std::vector<bool> repeated = {};
};

class Buffer {
 public:
  Buffer(DType dtype, const Shape& shape, const Layout& layout = {}) {
    const int rank = shape.rank();
    Strides strides = Strides::filled(rank, 0);
    std::int64_t stride = layout.step, offset = guard;
    for (int i = rank - 1; i >= 0; --i) {
      const int d = layout.order.empty() ? i : layout.order[static_cast<std::size_t>(i)];
      const auto at = static_cast<std::size_t>(d);
      if (!layout.repeated.empty() && layout.repeated[at]) continue;
      const bool flip = !layout.flipped.empty() && layout.flipped[at] && shape[d] > 0;
      strides[d] = flip ? -stride : stride;
      if (flip) offset += (shape[d] - 1) * stride;
      if (shape[d] > 0) stride *= shape[d];
    }
    const std::size_t width = size_of(dtype);
    bytes_.assign(static_cast<std::size_t>(stride + 2 * guard) * width, poison);
    array = {bytes_.data() + static_cast<std::size_t>(offset) * width, dtype, shape, strides};
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // Are the bytes outside the elements as they were?
  bool intact() const {
    const std::size_t width = size_of(array.dtype);
    std::vector<bool> used(bytes_.size(), false);
    walk(
        array.shape,
        [&](std::int64_t i) {
          const std::byte* p = array.data + i * static_cast<std::int64_t>(width);
          for (std::size_t b = 0; b < width; ++b)
            used[static_cast<std::size_t>(p - bytes_.data()) + b] = true;
        },
        array.strides);
    for (std::size_t b = 0; b < bytes_.size(); ++b)
      if (!used[b] && bytes_[b] != poison) return false;
    return true;
  }

  // All bytes: the elements and what lies between and around them.
  std::span<std::byte> bytes() { return bytes_; }

  Array array;

 private:
  static constexpr std::int64_t guard = 64;
  static constexpr std::byte poison{0xff};
  std::vector<std::byte> bytes_;
};

// A whole number in low .. high.
inline std::int64_t any_of(Generator& random, std::int64_t low, std::int64_t high) {
  std::int64_t x = 0;
  random.random_ints(std::span(&x, 1), low, high + 1);
  return x;
}

// Some order of the dimensions, gaps, and (for inputs) directions and repetitions.
inline Layout any_layout(Generator& random, int rank, bool input) {
  Layout layout;
  for (std::int64_t d : random.randperm(rank)) layout.order.push_back(static_cast<int>(d));
  if (any_of(random, 0, 1) == 0) layout.order.clear();
  layout.step = any_of(random, 0, 3) == 0 ? 2 : 1;
  for (int d = 0; input && d < rank; ++d) {
    layout.flipped.push_back(any_of(random, 0, 5) == 0);
    layout.repeated.push_back(any_of(random, 0, 5) == 0);
  }
  return layout;
}

// Sets every element to a whole number in low .. high (bool: 0 or 1), which sums and products
// represent exactly.
inline void fill_whole(Generator& random, const Array& a, std::int64_t low, std::int64_t high) {
  dispatch(a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        a.shape,
        [&](std::int64_t i) {
          if constexpr (std::is_same_v<T, bool>)
            a.as<T>()[i] = any_of(random, 0, 1) == 1;
          else
            a.as<T>()[i] = static_cast<T>(any_of(random, low, high));
        },
        a.strides);
  });
}

// Sets every element to a normal random number.
inline void fill_normal(Generator& random, const Array& a, double mean = 0, double std = 1) {
  dispatch_floating(a.dtype, "fill_normal", [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        a.shape, [&](std::int64_t i) { random.normal(std::span(a.as<T>() + i, 1), mean, std); },
        a.strides);
  });
}

// All elements in row-major order.
template <class T>
std::vector<T> values(const Array& a) {
  std::vector<T> v;
  walk(
      a.shape, [&](std::int64_t i) { v.push_back(a.as<T>()[i]); }, a.strides);
  return v;
}

// Where two equally shaped arrays differ, as a sentence; "" if nowhere. Floating numbers agree if
// |a - b| <= absolute + relative |b|, or both are NaN, or both are the same infinity. With 0 and 0
// the match is exact, but for the sign of a zero.
inline std::string difference(const Array& a, const Array& b, double absolute = 0,
                              double relative = 0) {
  if (!(a.shape == b.shape) || a.dtype != b.dtype) return "shape or dtype";
  std::string found;
  dispatch(a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::int64_t position = 0;
    walk(
        a.shape,
        [&](std::int64_t i, std::int64_t j) {
          const T x = a.as<T>()[i], y = b.as<T>()[j];
          bool same = x == y;
          if constexpr (std::is_floating_point_v<T>) {
            const double gap = std::abs(double(x) - double(y));
            same = same || (x != x && y != y) || gap <= absolute + relative * std::abs(double(y));
          }
          if (!same && found.empty())
            found = "element " + std::to_string(position) + " of " + a.shape.str() + ": " +
                    std::to_string(x) + " and " + std::to_string(y);
          ++position;
        },
        a.strides, b.strides);
  });
  return found;
}

}  // namespace labgrad::test
