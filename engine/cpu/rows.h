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

// The dimension along which lines follow each other: the last one, besides dim, that is longer than
// 1; -1 if there is a single line.
inline int run_dim(const Shape& shape, int dim) {
  int d = shape.rank() - 1;
  while (d >= 0 && (d == dim || shape[d] == 1)) --d;
  return d;
}

// The lines along dim with the numbers [begin, end), as runs of lines that lie evenly: calls
// f(count, i, j, ...) with the offsets of the first line's first element under each of the strides.
// From one line of a run to the next it is the stride of run_dim.
template <class F, class... S>
void each_run(const Shape& shape, int dim, std::int64_t begin, std::int64_t end, F f,
              const S&... strides) {
  constexpr std::size_t n = sizeof...(S);
  const std::array<const Strides*, n> steps{&strides...};
  const int inner = run_dim(shape, dim);
  std::array<std::int64_t, n> at{};
  Shape index = Shape::filled(shape.rank(), 0);
  auto move = [&](int d, std::int64_t by) {
    index[d] += by;
    for (std::size_t k = 0; k < n; ++k) at[k] += by * (*steps[k])[d];
  };
  std::int64_t rest = begin;
  for (int d = inner; d >= 0; --d) {
    if (d == dim) continue;
    move(d, rest % shape[d]);
    rest /= shape[d];
  }
  while (begin < end) {
    const std::int64_t count = inner < 0 ? 1 : std::min(end - begin, shape[inner] - index[inner]);
    std::apply([&](auto... first) { f(count, first...); }, at);
    begin += count;
    std::int64_t by = count;
    for (int d = inner; d >= 0; --d) {
      if (d == dim) continue;
      move(d, by);
      if (index[d] < shape[d]) break;
      move(d, -shape[d]);
      by = 1;
    }
  }
}

// The same for all lines, in parallel. `elements`: how many make a chunk that pays.
template <class F, class... S>
void parallel_runs(const Shape& shape, int dim, std::int64_t elements, F f, const S&... strides) {
  const std::int64_t length = std::max<std::int64_t>(1, shape[dim]);
  const std::int64_t grain = std::max<std::int64_t>(1, elements / length);
  parallel_for(shape.numel() / length, grain, [&](std::int64_t begin, std::int64_t end) {
    each_run(shape, dim, begin, end, f, strides...);
  });
}

// Calls f(i, j, ...) for each line along dim, in parallel, with the offsets of its first element.
template <class F, class... S>
void parallel_lines(const Shape& shape, int dim, std::int64_t elements, F f, const S&... strides) {
  const int inner = run_dim(shape, dim);
  const std::array<std::int64_t, sizeof...(S)> step{(inner < 0 ? 0 : strides[inner])...};
  parallel_runs(
      shape, dim, elements,
      [&](std::int64_t count, auto... first) {
        std::array<std::int64_t, sizeof...(S)> at{first...};
        for (; count > 0; --count) {
          std::apply(f, at);
          for (std::size_t k = 0; k < at.size(); ++k) at[k] += step[k];
        }
      },
      strides...);
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
