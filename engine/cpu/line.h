#pragma once
// The innermost loop of every elementwise primitive: one function of vectors along a line of
// elements.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/cpu/vec.h"

namespace labgrad::cpu {

// An operand of a line: dense (step 1), or one value for all (step 0), which is then repeated in
// memory for as many bytes as a register has.
struct Operand {
  const std::byte* data;
  std::int64_t step;
};

// out[i] = f(in[0][i], in[1][i], ...) for i < n, with out dense. An operand may be out itself.
using Line = void (*)(std::int64_t n, std::byte* out, const Operand* in);

// A bool is a byte that is 0 or 1.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

// w elements at p, or if n < w, the first n of them (a single one is repeated, which is the
// quickest).
template <int w, class T>
inline Vec<T, w> load_line(const T* p, std::int64_t n) {
  if (n >= w) return load<T, w>(p);
  if (n == 1) return splat<Vec<T, w>>(*p);
  return load_part<T, w>(p, n);
}

// The lanes of a result, the first n of them if n is less; for bool, of a mask or bytes.
template <class O, class V>
inline void store_line(Stored<O>* p, V v, std::int64_t n) {
  if constexpr (std::is_same_v<O, bool> && !std::is_same_v<Lane<V>, std::uint8_t>) {
    store_line<O>(p, resize<std::uint8_t>(v) & 1, n);
  } else {
    if (n >= lanes_of<V>)
      store(p, v);
    else if (n == 1)
      *p = v[0];
    else
      store_part(p, v, n);
  }
}

// The line of F, a stateless function of vectors, from operands of types In to results of type O.
template <class F, class O, class... In>
void line(std::int64_t n, std::byte* out, const Operand* in) {
  constexpr int w = std::min({lanes<Stored<O>>, lanes<Stored<In>>...});
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    Stored<O>* const o = reinterpret_cast<Stored<O>*>(out);
    auto at = [in]<class T>(const T*, std::size_t i, std::int64_t position) {
      return reinterpret_cast<const T*>(in[i].data) + position * in[i].step;
    };
    // The last w elements (all of them if there are fewer) are read before anything is written and
    // computed at the end, so that they may overlap the vector before, even in place.
    const std::int64_t last = std::max<std::int64_t>(n - w, 0);
    [&](auto... x) {
      for (std::int64_t i = 0; i < last; i += w)
        store_line<O>(
            o + i, F{}(load<Stored<In>, w>(at(static_cast<const Stored<In>*>(nullptr), k, i))...),
            w);
      store_line<O>(o + last, F{}(x...), n);
    }(load_line<w>(at(static_cast<const Stored<In>*>(nullptr), k, last), n)...);
  }
  (std::index_sequence_for<In...>{});
}

}  // namespace labgrad::cpu
