#pragma once
// Channels that lie side by side, taken as a few vectors at once: as many as keep the adders busy.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/cpu/stream.h"
#include "engine/cpu/vec.h"

namespace labgrad::cpu {

// Calls f(c, vectors, width) for each group of channels from c on: four or two whole vectors, or
// one with `width` numbers in it.
template <class T, class F>
void each_group(std::int64_t channels, F f) {
  constexpr std::int64_t width = lanes<T>;
  std::int64_t c = 0;
  for (; c + 4 * width <= channels; c += 4 * width) f(c, std::integral_constant<int, 4>(), width);
  for (; c + 2 * width <= channels; c += 2 * width) f(c, std::integral_constant<int, 2>(), width);
  for (; c < channels; c += width)
    f(c, std::integral_constant<int, 1>(), std::min(width, channels - c));
}

// V vectors of a row; of the last only `n` numbers if V is 1.
template <class T, int V>
struct Group {
  Vec<T> v[V];

  static Group read(const T* p, std::int64_t n) {
    Group g;
    if (V == 1 && n < lanes<T>) {
      g.v[0] = load_part(p, n);
    } else {
#pragma GCC unroll 4
      for (int i = 0; i < V; ++i) g.v[i] = load(p + i * lanes<T>);
    }
    return g;
  }
  // All V vectors, as stream() writes them.
  void write_past_caches(T* p) const {
#pragma GCC unroll 4
    for (int i = 0; i < V; ++i) stream(p + i * lanes<T>, v[i]);
  }
  void write(T* p, std::int64_t n) const {
    if (V == 1 && n < lanes<T>) {
      store_part(p, v[0], n);
    } else {
#pragma GCC unroll 4
      for (int i = 0; i < V; ++i) store(p + i * lanes<T>, v[i]);
    }
  }
};

}  // namespace labgrad::cpu
