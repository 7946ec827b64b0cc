#pragma once
// Elementary functions on vectors, f32 and f64, without branches and without tables: the error is
// below 3 units in the last place for every argument, but 8 for gelu
// (tests/engine/cpu/test_vec_math.cpp measures it), with the limits that IEEE arithmetic gives at
// 0, inf and NaN, and with subnormal results.
//
// A lane's result depends on that lane alone, so it is the same in a full vector and in a padded
// one.
//
// The series are those of the textbooks; the four fits were computed for this file.
// W. Cody, W. Waite: "Software Manual for the Elementary Functions", 1980 (argument reductions).
// P. Tang: "Table-driven implementation of the logarithm", 1990; Sun's fdlibm (form of log).
// W. Cody: "Rational Chebyshev approximation for the error function", 1969 (split of erf).

#include <cmath>
#include <limits>
#include <numbers>

#include "engine/cpu/vec.h"

namespace labgrad::cpu {

// What the algorithms need to know about a type. ln 2 = ln2_high + ln2_low, where ln2_high has so
// few bits that its product with an exponent is exact. Beyond exp_min .. exp_max, e^x rounds to 0
// or inf. rounder = 1.5 * 2^mantissa: adding it pushes the digits after the point out of the
// number.
template <class T>
struct Format;
template <>
struct Format<float> {
  static constexpr int mantissa = 23, bias = 127, exp_terms = 6, log_terms = 4;
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  static constexpr float exp_min = -104, exp_max = 89, rounder = 0x1.8p23f;
};
template <>
struct Format<double> {
  static constexpr int mantissa = 52, bias = 1023, exp_terms = 13, log_terms = 10;
  static constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 1.90821492927058770002e-10;
  static constexpr double exp_min = -746, exp_max = 710, rounder = 0x1.8p52;
};

// c[0] + x (c[1] + x (c[2] + ...)), Horner's scheme.
template <class V, std::size_t n>
inline V polynomial(V x, const Lane<V> (&c)[n]) {
  V y = splat<V>(c[n - 1]);
#pragma GCC unroll 16
  for (std::size_t i = n - 1; i > 0; --i) y = fma(y, x, splat<V>(c[i - 1]));
  return y;
}

// The same in pairs, (c[0] + c[1] x) + x² ((c[2] + c[3] x) + x² (...)): as many operations where
// the square is at hand, but half as many of them wait for each other.
template <class V, std::size_t n>
inline V polynomial(V x, V square, const Lane<V> (&c)[n]) {
  auto pair = [&](std::size_t i) {
    return i + 1 < n ? fma(x, splat<V>(c[i + 1]), splat<V>(c[i])) : splat<V>(c[i]);
  };
  constexpr std::size_t last = (n - 1) / 2 * 2;
  V y = pair(last);
#pragma GCC unroll 16
  for (std::size_t i = last; i > 0; i -= 2) y = fma(y, square, pair(i - 2));
  return y;
}

// f(x_i) for the functions that are left to the standard library.
template <class V, class F>
inline V lanewise(F f, V x) {
  V y{};
  for (int i = 0; i < lanes_of<V>; ++i) y[i] = f(x[i]);
  return y;
}

// a - b of integers, wrapping around: the bits of a number that is not in a function's domain may
// give a difference beyond the range of signed integers.
template <class M>
inline M wrapping_difference(M a, M b) {
  using Unsigned = Vec<std::make_unsigned_t<Lane<M>>, lanes_of<M>>;
  return std::bit_cast<M>(std::bit_cast<Unsigned>(a) - std::bit_cast<Unsigned>(b));
}

// The integers of small size in the other representation.
template <class V>
inline V to_float(Mask<V> n) {
  const V rounder = splat<V>(Format<Lane<V>>::rounder);
  return std::bit_cast<V>(n + std::bit_cast<Mask<V>>(rounder)) - rounder;
}

// floor(x): truncates by way of the rounder's trick, which is exact below 2^mantissa; above there
// are only integers.
template <class V>
inline V floor(V x) {
  using T = Lane<V>;
  const V rounder = splat<V>(T(1) / std::numeric_limits<T>::epsilon()), size = abs(x);
  const V near = copysign((size + rounder) - rounder, x);
  const V down = select<V>(near > x, copysign(near - 1, x), near);
  return select<V>(size < rounder, down, x);
}

namespace detail {

// x = n ln 2 + r with |r| <= ln(2)/2, and minus_one = e^r - 1. The low bits of `biased` are n +
// bias, which costs nothing: the number that n is rounded by has the bias in it.
template <class V>
struct Exponential {
  Mask<V> biased;
  V minus_one;
};
// The coefficients of r², r³, ... in e^r: 1/2!, 1/3!, ... or, where that takes fewer terms, a fit.
template <class T>
constexpr auto exp_series() {
  struct {
    T c[Format<T>::exp_terms - 1];
  } table{};
  double f = 1;
  for (int k = 2; k <= Format<T>::exp_terms; ++k) table.c[k - 2] = static_cast<T>(1 / (f *= k));
  return table;
}
template <>
constexpr auto exp_series<float>() {
  struct {
    float c[5] = {0.5f, 0.166665769f, 0.0416665546f, 0.00836318626f, 0.00139261926f};
  } table{};
  return table;
}
template <int bias, class V>
inline Exponential<V> exponential(V x) {
  using T = Lane<V>;
  using F = Format<T>;
  static constexpr auto series = exp_series<T>();
  const V rounder = splat<V>(F::rounder + bias);
  const V shifted = fma(x, splat<V>(std::numbers::log2e_v<T>), rounder);
  const V n = shifted - rounder;
  V r = fma(n, splat<V>(-F::ln2_high), x);
  r = fma(n, splat<V>(-F::ln2_low), r);
  const V square = r * r;
  return {std::bit_cast<Mask<V>>(shifted), fma(square, polynomial(r, square, series.c), r)};
}

// 2^n of an integer whose low bits are n + F::bias, for n among the exponents of normal numbers.
template <class V>
inline V power_of_two(Mask<V> biased) {
  return std::bit_cast<V>(biased << Format<Lane<V>>::mantissa);
}

}  // namespace detail

// e^x. The power of two is applied in two steps, so that subnormal results and the largest ones are
// reached without an overflow on the way.
template <class V>
inline V exp(V x) {
  using F = Format<Lane<V>>;
  // e^-inf, of every masked place, is a choice and no product: arithmetic that ends below the
  // normal numbers takes a hundred times as long.
  const Mask<V> vanishes = x < F::exp_min;
  const V most = splat<V>(F::exp_max);
  x = select<V>(vanishes, V{}, select<V>(x > most, most, x));
  const auto [biased, minus_one] = detail::exponential<2 * F::bias>(x);
  const Mask<V> half = biased >> 1;
  const V first = detail::power_of_two<V>(half), y = fma(minus_one, first, first);
  return select<V>(vanishes, V{}, y * detail::power_of_two<V>(biased - half));
}

// e^x for x <= 0, with a quarter less to do: 2^n is 2^(n + lift), which is normal, times 2^-lift.
template <class V>
inline V exp_to_one(V x) {
  using F = Format<Lane<V>>;
  constexpr int lift = F::mantissa + 2;
  constexpr Lane<V> lowered = 1 / static_cast<Lane<V>>(std::int64_t{1} << lift);
  const Mask<V> vanishes = x < F::exp_min;
  const auto [biased, minus_one] = detail::exponential<F::bias + lift>(select<V>(vanishes, V{}, x));
  const V lifted = detail::power_of_two<V>(biased), y = fma(minus_one, lifted, lifted);
  return select<V>(vanishes, V{}, y * lowered);
}

// tanh |x| = (e^2|x| - 1) / (e^2|x| + 1), by e^2|x| - 1, which has no cancellation near 0. Divided
// and not multiplied: near 1, where 1 - tanh² is to keep its digits, each rounding counts.
template <class V>
inline V tanh(V x) {
  const V most = splat<V>(22);  // tanh 22 rounds to 1 in f64, too
  const V size = select<V>(abs(x) > most, most, abs(x));
  const auto [biased, minus_one] = detail::exponential<Format<Lane<V>>::bias>(2 * size);
  const V scale = detail::power_of_two<V>(biased);
  const V e = fma(minus_one, scale, scale - 1);  // e^2|x| - 1
  return with_sign(e / (e + 2), x);
}

// 1/(1 + e^-x), by e^-|x|, which never overflows.
template <class V>
inline V sigmoid(V x) {
  const V e = exp_to_one(with_sign(x, splat<V>(-1)));
  return select<V>(x >= 0, splat<V>(1), e) / (e + 1);
}

// With x = 2^n m and m in [1/√2, √2), f = m - 1, s = f/(2 + f):
// log x = n ln 2 + 2 artanh s, where 2 artanh s = f - (f²/2 - s (f²/2 + R)), R = 2/3 s² + 2/5 s⁴
// ...
template <class V>
inline V log(V x) {
  using T = Lane<V>;
  using F = Format<T>;
  using limits = std::numeric_limits<T>;
  static constexpr auto series = [] {
    struct {
      T c[F::log_terms];  // 2/3, 2/5, ...
    } table{};
    for (int k = 0; k < F::log_terms; ++k) table.c[k] = static_cast<T>(2.0 / (2 * k + 3));
    return table;
  }();
  constexpr T lift = T(1) / limits::epsilon();  // 2^mantissa: makes a subnormal number normal
  const Mask<V> tiny = x < splat<V>(limits::min());
  const Mask<V> bits = std::bit_cast<Mask<V>>(select<V>(tiny, x * lift, x));
  const Mask<V> root_half = std::bit_cast<Mask<V>>(splat<V>(std::numbers::sqrt2_v<T> / 2));
  const Mask<V> n = wrapping_difference(bits, root_half) >> F::mantissa;
  const V f = std::bit_cast<V>(wrapping_difference(bits, n << F::mantissa)) - 1;
  const V exponent = to_float<V>(n + (tiny & -F::mantissa));
  const V s = f / (f + 2), z = s * s, half = T(0.5) * (f * f);
  const V tail = s * (half + z * polynomial(z, series.c));
  const V low = fma(exponent, splat<V>(F::ln2_low), tail);
  const V y = exponent * F::ln2_high - ((half - low) - f);
  const V edge = select<V>(x == 0, splat<V>(-limits::infinity()), splat<V>(limits::quiet_NaN()));
  const V inf = splat<V>(limits::infinity());
  return select<V>(x == inf, inf, select<V>(x > 0, y, edge));
}

// log(1 + x) = log u + (x - (u - 1)) / u with u = 1 + x as rounded: the second term gives back what
// the rounding took. At u = 0 and inf it is NaN and left out.
template <class V>
inline V log1p(V x) {
  const V u = x + 1;
  const V lost = (x - (u - 1)) / u;
  return log(u) + select<V>(lost == lost, lost, V{});
}

// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
template <class V>
inline V softplus(V x) {
  return max(x, V{}) + log1p(exp(-abs(x)));
}

namespace detail {

// e^(a²) erfc(a) for 0 <= a <= 10.2: (1 + 2a) of it varies little, and is fitted by a polynomial in
// (a - 3)/(a + 3), interpolated at Chebyshev points; relative error 3e-9.
inline Vec<float> scaled_erfc(Vec<float> a) {
  static constexpr float c[] = {1.25300806f,    -0.135621145f,   -0.0475622894f, 0.129646612f,
                                -0.119272474f,  0.0682933674f,   -0.0237913480f, 0.00257884536f,
                                0.00199637574f, -7.95749233e-4f, -2.76390256e-4f};
  return polynomial((a - 3) / (a + 3), c) / (a * 2 + 1);
}

}  // namespace detail

// erf x = x P(x²) for |x| < 1, P interpolated at Chebyshev points (relative error 1e-9) and less 1,
// so that x + x (P - 1) rounds once; beyond, 1 - e^(-x²) (e^(x²) erfc|x|).
inline Vec<float> erf(Vec<float> x) {
  using V = Vec<float>;
  static constexpr float c[] = {0.12837910652f,   -0.37612625957f, 0.11283594370f, -0.026854211465f,
                                0.0051890872419f, -8.0168643e-4f,  7.8758749e-5f};
  const V size = min(abs(x), splat<V>(10)), square = size * size;
  const V inside = fma(x, polynomial(square, c), x);
  const V outside = copysign(1 - exp_to_one(-square) * detail::scaled_erfc(size), x);
  return select<V>(size < 1, inside, outside);
}

// x Φ(x) is -u for x < 0 and x - u for x > 0, where u = |x|/2 erfc(|x|/√2). The digits that x²
// loses to rounding would be wrong digits of e^(-x²/2): they are kept in `lost`, e^(-lost/2) = 1 -
// lost/2.
inline Vec<float> gelu(Vec<float> x) {
  using V = Vec<float>;
  const V size = min(abs(x), splat<V>(14.4f)), square = size * size;
  const V lost = fma(size, size, -square);
  const V scaled = 0.5f * size * detail::scaled_erfc(size * (std::numbers::sqrt2_v<float> / 2));
  const V u = fma(-0.5f * lost, scaled, scaled) * exp_to_one(-0.5f * square);
  return select<V>(x < 0, -u, x - u);
}

inline Vec<double> erf(Vec<double> x) {
  return lanewise([](double v) { return std::erf(v); }, x);
}
inline Vec<double> gelu(Vec<double> x) {
  return lanewise(
      [](double v) {  // the limit at -inf, where the formula would be inf times 0
        return v < -40 ? -0.0 : v / 2 * std::erfc(-v * (std::numbers::sqrt2 / 2));
      },
      x);
}

}  // namespace labgrad::cpu
