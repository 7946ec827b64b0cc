#pragma once
// sin and cos on vectors, f32 and f64: the error is below 3 units in the last place for every
// argument (tests/engine/cpu/test_vec_math.cpp measures it); NaN for inf and NaN, and -0 for -0.
//
// x = k π/2 + r with |r| <= π/4, and of r the series of both functions; k's last two bits say which
// of them it is, and its sign. π/2 is cut into four parts, of which the first three have so few
// bits that k times each is exact (Cody and Waite, see vec_math.h): what is left after one is
// subtracted is exact where much of it goes, so that r has all its digits also near multiples of
// π/2. That holds up to some thousand quarter turns in f32, and a million in f64; lanes beyond take
// the standard library's functions.

#include <cmath>

#include "engine/cpu/row_vectors.h"
#include "engine/cpu/vec.h"
#include "engine/cpu/vec_math.h"

namespace labgrad::cpu {
namespace detail {

// How many terms of the series are more than rounding at π/4; the largest |x| with exact products.
template <class T>
struct Circle;
template <>
struct Circle<float> {
  static constexpr int sin_terms = 4, cos_terms = 5;
  static constexpr float largest = 3200;
  static constexpr float quarter[] = {0x1.921p+0f, 0x1.f6ap-13f, 0x1.11p-26f, 0x1.68c234p-39f};
};
template <>
struct Circle<double> {
  static constexpr int sin_terms = 8, cos_terms = 8;
  static constexpr double largest = 1.6e6;
  static constexpr double quarter[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69,
                                       0x1.b839a252049c1p-104};
};

// -1/n!, 1/(n + 2)!, -1/(n + 4)!, ...
template <class T, int terms>
constexpr auto alternating(int n) {
  struct {
    T c[terms];
  } table{};
  double f = -1;
  for (int k = 2; k <= n; ++k) f *= k;
  for (int i = 0; i < terms; ++i, n += 2, f *= -(n - 1) * n) table.c[i] = static_cast<T>(1 / f);
  return table;
}

// sin(size + turns π/2) for 0 <= size <= largest; the sign of zero is +.
template <class V>
inline V sin_turned(V size, int turns) {
  using T = Lane<V>;
  using C = Circle<T>;
  static constexpr auto sin_series = alternating<T, C::sin_terms>(3);
  static constexpr auto cos_series = alternating<T, C::cos_terms>(2);
  const V rounder = splat<V>(Format<T>::rounder);
  const V shifted = fma(size, splat<V>(2 / std::numbers::pi_v<T>), rounder), k = shifted - rounder;
  V r = size;
#pragma GCC unroll 4
  for (const T part : C::quarter) r = fma(-k, splat<V>(part), r);
  const V z = r * r, z2 = z * z;
  const V sine = fma(r * z, polynomial(z, z2, sin_series.c), r);
  const V cosine = fma(z, polynomial(z, z2, cos_series.c), splat<V>(1));
  const Mask<V> quadrant = std::bit_cast<Mask<V>>(shifted) + turns;
  const V y = select<V>((quadrant & 1) != 0, cosine, sine);
  const Mask<V> lower = quadrant << (8 * static_cast<int>(sizeof(T)) - 2);  // bit 1 as the sign
  return std::bit_cast<V>(std::bit_cast<Mask<V>>(y) ^ sign_bit(std::bit_cast<V>(lower)));
}

// f(x_i) in the lanes that are too large for y, in which y is wrong.
template <class V, class F>
inline V with_large(V y, V x, F f) {
  const Mask<V> large = abs(x) > Circle<Lane<V>>::largest;
  if (fold_lanes(large, [](auto a, auto b) { return a | b; }) == 0) return y;
  return select<V>(large, lanewise(f, x), y);
}

}  // namespace detail

template <class V>
inline V sin(V x) {
  const V y = detail::sin_turned(abs(x), 0);
  const V odd = std::bit_cast<V>(std::bit_cast<Mask<V>>(y) ^ sign_bit(x));
  return detail::with_large(odd, x, [](auto a) { return std::sin(a); });
}

template <class V>
inline V cos(V x) {
  return detail::with_large(detail::sin_turned(abs(x), 1), x, [](auto a) { return std::cos(a); });
}

}  // namespace labgrad::cpu
