#pragma once
// Lines of elements that run along one dimension, as dense rows.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "engine/cpu/scratch.h"
#include "engine/cpu/threads.h"
#include "engine/shape.h"

namespace labgrad::cpu {

// Calls f(i, j, ...) for each line along dim, in parallel, with the offsets of the line's first
// element under each of the strides. `elements`: how many elements make a chunk that pays.
template <class F, class... S>
void parallel_lines(const Shape& shape, int dim, std::int64_t elements, F f, const S&... strides) {
  constexpr std::size_t n = sizeof...(S);
  const std::array<const Strides*, n> steps{&strides...};
  const std::int64_t length = std::max<std::int64_t>(1, shape[dim]);
  const std::int64_t lines = shape.numel() / length;
  const std::int64_t grain = std::max<std::int64_t>(1, elements / length);
  parallel_for(lines, grain, [&](std::int64_t begin, std::int64_t end) {
    std::array<std::int64_t, n> at{};
    Shape index = Shape::filled(shape.rank(), 0);
    auto move = [&](int d, std::int64_t by) {
      for (std::size_t k = 0; k < n; ++k) at[k] += by * (*steps[k])[d];
    };
    std::int64_t rest = begin;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (d == dim) continue;
      index[d] = rest % shape[d];
      rest /= shape[d];
      move(d, index[d]);
    }
    for (std::int64_t line = begin; line < end; ++line) {
      std::apply(f, at);
      for (int d = shape.rank() - 1; d >= 0; --d) {
        if (d == dim) continue;
        move(d, 1);
        if (++index[d] < shape[d]) break;
        move(d, -shape[d]);
        index[d] = 0;
      }
    }
  });
}

// A line that is read as a dense row: where it is, or copied.
template <class T>
class InRow {
 public:
  InRow(const T* line, std::int64_t n, std::int64_t stride) : copy_(stride == 1 ? 0 : n) {
    data_ = stride == 1 ? line : copy_.get();
    if (stride != 1)
      for (std::int64_t i = 0; i < n; ++i) copy_.get()[i] = line[i * stride];
  }
  const T* get() const { return data_; }

 private:
  Scratch<T> copy_;
  const T* data_;
};

// A line that is written as a dense row; a copy goes back to its place in the end.
template <class T>
class OutRow {
 public:
  OutRow(T* line, std::int64_t n, std::int64_t stride)
      : copy_(stride == 1 ? 0 : n), line_(line), n_(n), stride_(stride) {}
  ~OutRow() {
    if (stride_ != 1)
      for (std::int64_t i = 0; i < n_; ++i) line_[i * stride_] = copy_.get()[i];
  }
  OutRow(const OutRow&) = delete;
  OutRow& operator=(const OutRow&) = delete;
  T* get() const { return stride_ == 1 ? line_ : copy_.get(); }

 private:
  Scratch<T> copy_;
  T* line_;
  std::int64_t n_, stride_;
};

}  // namespace labgrad::cpu
