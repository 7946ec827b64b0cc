#pragma once
// Stores that go past the caches, for results too large to be there still when they are read.
//
// An ordinary store first reads the line that it is going to overwrite: with maps of 154 MB on two
// threads memory takes 19 GB/s that way, and 45 GB/s this way. Small results are better written
// into the cache, where the next kernel finds them.

#include <bit>
#include <cstdint>

#include "engine/cpu/vec.h"

namespace labgrad::cpu {

// Should a result of `count` numbers go past the caches, written in whole vectors at multiples of
// `step` numbers from `data`? It should if it is large and each vector fills a line.
template <class T>
bool streams(const T* data, std::int64_t count, std::int64_t step) {
  constexpr std::int64_t large = std::int64_t{48} << 20;
  return count * static_cast<std::int64_t>(sizeof(T)) >= large && step % lanes<T> == 0 &&
         reinterpret_cast<std::uintptr_t>(data) % register_bytes == 0;
}

namespace detail {
template <int bytes>
struct WordsOf {
  using type [[gnu::vector_size(bytes), gnu::may_alias]] = long long;
};
}  // namespace detail

// One vector, to a multiple of its size. The instruction has no name in the language.
template <class V>
inline void stream(Lane<V>* to, V v) {
#if defined(__clang__)
  __builtin_nontemporal_store(v, reinterpret_cast<V*>(to));
#elif defined(__SSE2__)
  using Words = typename detail::WordsOf<sizeof(V)>::type;
  const auto words = std::bit_cast<Words>(v);
  auto* place = reinterpret_cast<Words*>(to);
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) __builtin_ia32_movntdq512(place, words);
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32) __builtin_ia32_movntdq256(place, words);
#endif
  if constexpr (sizeof(V) == 16) __builtin_ia32_movntdq(place, words);
#else
  store(to, v);
#endif
}

// After the last of them and before another thread may read: they are not ordered like others.
inline void finish_streams() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}

}  // namespace labgrad::cpu
