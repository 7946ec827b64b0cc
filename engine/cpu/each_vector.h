#pragma once

#include <cstdint>

#include "engine/cpu/vec.h"

namespace labgrad::cpu {

// Calls f(read, write) for each vector of the elements [begin, end) of dense arrays: read(p) gives
// those of p, with `pad` beyond the end, and write(p, v) stores those that belong to the array.
template <class T, class F>
void each_vector(std::int64_t begin, std::int64_t end, T pad, F&& f) {
  constexpr int w = lanes<T>;
  std::int64_t i = begin;
  for (; i + w <= end; i += w)
    f([i](const T* p) { return load(p + i); }, [i](T* p, Vec<T> v) { store(p + i, v); });
  if (const std::int64_t rest = end - i; rest > 0)
    f(
        [=](const T* p) {
          T part[w];
          store(part, splat<Vec<T>>(pad));
          copy_part<w / 2>(part, p + i, rest);
          return load(part);
        },
        [=](T* p, Vec<T> v) { store_part(p + i, v, rest); });
}

// A short run of elements; std::memcpy costs more than it copies at these lengths.
template <class T>
void copy_run(T* to, const T* from, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + lanes<T> <= n; i += lanes<T>) store(to + i, load(from + i));
  for (; i < n; ++i) to[i] = from[i];
}

}  // namespace labgrad::cpu
