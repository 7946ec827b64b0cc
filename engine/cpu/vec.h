#pragma once
// Vectors of numbers on the vector types of g++ and clang++: `a * b + c` works lane by lane, and
// the same source becomes SSE, AVX2, AVX-512 or NEON code according to -march. No intrinsics.
//
// Everything here is inlined. Values that are the same in every lane are written `splat<V>(x)`;
// comparisons give a Mask (all bits set where true), which select() reads.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace labgrad::cpu {

// Bytes in a register of this machine.
#if defined(__AVX512F__)
inline constexpr std::size_t register_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t register_bytes = 32;
#else
inline constexpr std::size_t register_bytes = 16;
#endif

// Elements of T in a register.
template <class T>
inline constexpr int lanes = static_cast<int>(register_bytes / sizeof(T));

namespace detail {
template <class T, int n>
struct VecOf {
  using type [[gnu::vector_size(n * static_cast<int>(sizeof(T)))]] = T;
};
}  // namespace detail

// n lanes of T: one register unless n says otherwise.
template <class T, int n = lanes<T>>
using Vec = typename detail::VecOf<T, n>::type;

// What a vector type is made of, and how many.
template <class V>
using Lane = std::remove_cvref_t<decltype(V{}[0])>;
template <class V>
inline constexpr int lanes_of = static_cast<int>(sizeof(V) / sizeof(Lane<V>));

// Signed integers of the lanes' size: what a comparison of V gives.
template <class V>
using Mask = decltype(V{} < V{});

template <class V>
inline V splat(Lane<V> x) {
  return x - V{};  // not V{} + x, which would turn -0 into +0
}

// ---- memory; no alignment is asked for ----
template <class T, int n = lanes<T>>
inline Vec<T, n> load(const T* from) {
  Vec<T, n> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class V>
inline void store(Lane<V>* to, V v) {
  std::memcpy(to, &v, sizeof v);
}

// n < 2 w elements, in pieces whose sizes the compiler knows: much quicker than a call of memcpy.
template <int w, class T>
inline void copy_part(T* to, const T* from, std::int64_t n) {
  if (n & w) {
    std::memcpy(to, from, w * sizeof(T));
    to += w;
    from += w;
  }
  if constexpr (w > 1) copy_part<w / 2>(to, from, n);
}

// The first n lanes only, 0 < n < lanes; the others are loaded as 0.
template <class T, int w = lanes<T>>
inline Vec<T, w> load_part(const T* from, std::int64_t n) {
  Vec<T, w> v{};
  copy_part<w / 2>(reinterpret_cast<T*>(&v), from, n);
  return v;
}
template <class V>
inline void store_part(Lane<V>* to, V v, std::int64_t n) {
  copy_part<lanes_of<V> / 2>(to, reinterpret_cast<const Lane<V>*>(&v), n);
}

// Integer lanes in another size, step by step: g++ 12 takes one lane at a time otherwise.
template <class T, class V>
inline Vec<T, lanes_of<V>> resize(V v) {
  constexpr std::size_t from = sizeof(Lane<V>);
  if constexpr (from == sizeof(T)) {
    return std::bit_cast<Vec<T, lanes_of<V>>>(v);
  } else {
    constexpr std::size_t next = from < sizeof(T) ? 2 * from : from / 2;
    using Next = std::conditional_t<
        next == 1, std::int8_t,
        std::conditional_t<next == 2, std::int16_t,
                           std::conditional_t<next == 4, std::int32_t, std::int64_t>>>;
    return resize<T>(__builtin_convertvector(v, Vec<Next, lanes_of<V>>));
  }
}

// ---- arithmetic beyond + - * / and comparisons ----
// m ? a : b in each lane.
template <class V>
inline V select(Mask<V> m, V a, V b) {
  return m ? a : b;
}

// The larger and the smaller; NaN if either is NaN.
template <class V>
inline V max(V a, V b) {
  return select<V>((a > b) | (a != a), a, b);
}
template <class V>
inline V min(V a, V b) {
  return select<V>((a < b) | (a != a), a, b);
}

// a b + c, rounded once where the machine can (the loops over lanes below become one instruction).
template <class V>
inline V fma(V a, V b, V c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  V r;
  for (int i = 0; i < lanes_of<V>; ++i) r[i] = std::fma(a[i], b[i], c[i]);
  return r;
#else
  return a * b + c;
#endif
}

template <class V>
inline V sqrt(V x) {
  V r;
  for (int i = 0; i < lanes_of<V>; ++i) r[i] = std::sqrt(x[i]);
  return r;
}

// The sign bit alone; |x|; |x| with the sign of y; the same for x that has no sign, or y's
// negative.
template <class V>
inline Mask<V> sign_bit(V x) {
  return std::bit_cast<Mask<V>>(x) & std::bit_cast<Mask<V>>(splat<V>(Lane<V>(-0.0)));
}
template <class V>
inline V abs(V x) {
  return std::bit_cast<V>(std::bit_cast<Mask<V>>(x) ^ sign_bit(x));
}
template <class V>
inline V copysign(V x, V y) {
  return std::bit_cast<V>(std::bit_cast<Mask<V>>(abs(x)) | sign_bit(y));
}
template <class V>
inline V with_sign(V x, V y) {
  return std::bit_cast<V>(std::bit_cast<Mask<V>>(x) | sign_bit(y));
}

// The sum of the lanes, in pairs: always in the same order.
template <class V>
inline Lane<V> sum(V v) {
  Lane<V> part[lanes_of<V>];
  std::memcpy(part, &v, sizeof v);
  for (int half = lanes_of<V> / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) part[i] += part[i + half];
  return part[0];
}

}  // namespace labgrad::cpu
