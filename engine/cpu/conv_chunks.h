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

template <class T>
class Chunks {
 public:
  // `size` numbers are summed over the strips of `samples`.
  Chunks(const Slide& s, std::int64_t samples, std::int64_t size)
      : slide_(s),
        rows_(strip_rows<T>(s, samples)),
        strips_(divide_up(s.h.result, rows_)),
        tasks_(samples * strips_),
        size_(size),
        count_(chunk_count()),
        sums_(count_ * size) {}

  // Calls f(sums, plane, n, row, rows) for each strip: result rows [row, row + rows) of sample n;
  // f adds to the `size` sums. `plane` has room for the strip and a few vectors more.
  template <class F>
  void run(F f) const {
    parallel_for(count_, 1, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t area = slide_.h.reach(rows_) * slide_.width() * slide_.channels;
      const Scratch<T> plane(area + 8 * lanes<T>);
      std::fill(plane.get() + area, plane.get() + area + 8 * lanes<T>, T(0));
      for (std::int64_t chunk = begin; chunk < end; ++chunk) {
        T* sums = sums_.get() + chunk * size_;
        std::fill(sums, sums + size_, T(0));
        for (std::int64_t task = chunk * tasks_ / count_; task < (chunk + 1) * tasks_ / count_;
             ++task) {
          const std::int64_t row = task % strips_ * rows_;
          f(sums, plane.get(), task / strips_, row, std::min(rows_, slide_.h.result - row));
        }
      }
    });
  }

  // Calls f(i, sum) for i < n; sum(k) is sum k of all chunks.
  template <class F>
  void total(std::int64_t n, F f) const {
    parallel_for(n, std::max<std::int64_t>(1, 65536 * n / (size_ * count_ + 1)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     f(i, [&](std::int64_t k) {
                       T sum = sums_.get()[k];
                       for (std::int64_t c = 1; c < count_; ++c) sum += sums_.get()[c * size_ + k];
                       return sum;
                     });
                 });
  }

 private:
  // Enough for the threads of most machines, unless that is little work or many sums to add up.
  std::int64_t chunk_count() const {
    const std::int64_t work = tasks_ * rows_ * slide_.w.result * slide_.depth();
    const std::int64_t most = size_ > 65536 ? 8 : 16;
    return std::clamp<std::int64_t>(std::min(tasks_, work / 65536), 1, most);
  }

  Slide slide_;
  std::int64_t rows_, strips_, tasks_, size_, count_;
  Scratch<T> sums_;
};

}  // namespace labgrad::cpu
