#pragma once
// The sum over a whole batch, for weight gradients, in an order that no number of threads changes:
// the strips of all samples are dealt to a number of chunks that their size alone decides, each
// chunk sums on its own, and the chunks' sums are added in order.

#include <algorithm>
#include <cstdint>

#include "engine/cpu/conv_plane.h"
#include "engine/cpu/scratch.h"
#include "engine/cpu/threads.h"

namespace labgrad::cpu {

// `size` sums over tasks 0 .. tasks, dealt to `count` chunks.
template <class T>
class ChunkSums {
 public:
  ChunkSums(std::int64_t tasks, std::int64_t size, std::int64_t count)
      : tasks_(tasks), size_(size), count_(count), sums_(count * size) {}

  // Calls f(sums, first, last) for each chunk, in parallel: f adds to its `size` sums, 0 at first,
  // what tasks first .. last give.
  template <class F>
  void run(F f) const {
    parallel_for(count_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t chunk = begin; chunk < end; ++chunk) {
        T* sums = sums_.get() + chunk * size_;
        std::fill(sums, sums + size_, T(0));
        f(sums, chunk * tasks_ / count_, (chunk + 1) * tasks_ / count_);
      }
    });
  }

  // Sum k of all chunks; and a vector of such sums from k on.
  T sum(std::int64_t k) const {
    return total(k, [](const T* p) { return *p; });
  }
  Vec<T> vector(std::int64_t k) const {
    return total(k, [](const T* p) { return load(p); });
  }
  std::int64_t numbers() const { return size_ * count_; }

 private:
  template <class Read>
  auto total(std::int64_t k, Read read) const {
    auto sum = read(sums_.get() + k);
    for (std::int64_t c = 1; c < count_; ++c) sum += read(sums_.get() + c * size_ + k);
    return sum;
  }

  std::int64_t tasks_, size_, count_;
  Scratch<T> sums_;
};

template <class T>
class Chunks {
 public:
  // `size` numbers are summed over the strips of `samples`.
  Chunks(const Slide& s, std::int64_t samples, std::int64_t size)
      : slide_(s),
        rows_(strip_rows<T>(s, samples)),
        strips_(divide_up(s.h.result, rows_)),
        sums_(samples * strips_, size, chunk_count(samples * strips_, size)) {}

  // Calls f(sums, plane, n, row, rows) for each strip: result rows [row, row + rows) of sample n;
  // f adds to the `size` sums. `plane` has room for the strip and a few vectors more.
  template <class F>
  void run(F f) const {
    sums_.run([&](T* sums, std::int64_t first, std::int64_t last) {
      const std::int64_t area = slide_.h.reach(rows_) * slide_.width() * slide_.channels;
      const Scratch<T> plane(area + 8 * lanes<T>);
      std::fill(plane.get() + area, plane.get() + area + 8 * lanes<T>, T(0));
      for (std::int64_t task = first; task < last; ++task) {
        const std::int64_t row = task % strips_ * rows_;
        f(sums, plane.get(), task / strips_, row, std::min(rows_, slide_.h.result - row));
      }
    });
  }

  // Calls f(i, sum) for i < n; sum(k) is sum k of all chunks.
  template <class F>
  void total(std::int64_t n, F f) const {
    parallel_for(n, std::max<std::int64_t>(1, 65536 * n / (sums_.numbers() + 1)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     f(i, [&](std::int64_t k) { return sums_.sum(k); });
                 });
  }

 private:
  // Enough for the threads of most machines, unless that is little work or many sums to add up.
  std::int64_t chunk_count(std::int64_t tasks, std::int64_t size) const {
    const std::int64_t work = tasks * rows_ * slide_.w.result * slide_.depth();
    const std::int64_t most = size > 65536 ? 8 : 16;
    return std::clamp<std::int64_t>(std::min(tasks, work / 65536), 1, most);
  }

  Slide slide_;
  std::int64_t rows_, strips_;
  ChunkSums<T> sums_;
};

}  // namespace labgrad::cpu
