#pragma once
// The scalar formulas of the elementwise primitives, one line each. kernels.h says for which dtypes
// each is defined. All are constexpr: then nvcc lets device code call them, too.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/error.h"
#include "engine/kernels.h"

namespace labgrad::naive {

// Sums and products of f32 are accumulated in f64.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;

template <class T>
constexpr bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x != x;
  else
    return false;
}

// a + b, a - b, a b. Integers wrap around (as unsigned numbers do, without undefined behaviour);
// for bool they are or, xor and and.
template <class T>
constexpr T plus(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else
    return a + b;
}
template <class T>
constexpr T minus(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else if constexpr (std::is_same_v<T, bool>)
    return a != b;
  else
    return a - b;
}
template <class T>
constexpr T times(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else if constexpr (std::is_same_v<T, bool>)
    return a && b;
  else
    return a * b;
}

// Truncated quotient; x/0 = 0. The most negative number divided by -1 wraps to itself.
constexpr std::int64_t divide(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  return b == -1 ? minus<std::int64_t>(0, a) : a / b;
}

// a^b by squaring, wrapping; a^-n = 1/a^n truncated: 0 unless a is 1 or -1.
constexpr std::int64_t power(std::int64_t a, std::int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
  std::int64_t result = 1;
  for (; b > 0; b /= 2) {
    if (b % 2 == 1) result = times(result, a);
    a = times(a, a);
  }
  return result;
}

// The larger and the smaller; NaN if either is NaN.
template <class T>
constexpr T larger(T a, T b) {
  return a > b || is_nan(a) ? a : b;
}
template <class T>
constexpr T smaller(T a, T b) {
  return a < b || is_nan(a) ? a : b;
}

// 1/(1 + e^-x), written so that e never overflows.
template <class T>
constexpr T sigmoid(T x) {
  const T e = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

// x converted to To. To i64: towards zero, NaN to 0, beyond the range to its ends. To bool: x != 0.
template <class To, class From>
constexpr To convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_same_v<To, std::int64_t> && std::is_floating_point_v<From>) {
    constexpr From two_63 = From(9223372036854775808.0);
    if (is_nan(x)) return 0;
    if (x >= two_63) return std::numeric_limits<std::int64_t>::max();
    if (x < -two_63) return std::numeric_limits<std::int64_t>::min();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

// Is f defined for this type?
template <class T>
constexpr bool is_defined(Unary f) {
  if (f == Unary::neg || f == Unary::abs || f == Unary::sign || f == Unary::square) return true;
  if (f == Unary::logical_not) return std::is_same_v<T, bool>;
  return f == Unary::relu || std::is_floating_point_v<T>;
}
template <class T>
constexpr bool is_defined(Binary f) {
  const bool logical =
      f == Binary::logical_and || f == Binary::logical_or || f == Binary::logical_xor;
  return !logical || std::is_same_v<T, bool>;
}
template <class T, class F>
void check_defined(F f) {
  if (!is_defined<T>(f)) fail("kernels: a function is not defined for this dtype");
}

// f(x) for the functions that give x's dtype; f must be defined for it.
template <class T>
constexpr T apply(Unary f, T x) {
  switch (f) {
    case Unary::neg:
      if constexpr (std::is_floating_point_v<T>)
        return -x;
      else
        return minus(T(0), x);
    case Unary::abs:
      if constexpr (std::is_floating_point_v<T>)
        return std::abs(x);
      else
        return x < T(0) ? minus(T(0), x) : x;
    case Unary::sign:
      return is_nan(x) ? x : static_cast<T>((x > T(0)) - (x < T(0)));
    case Unary::square:
      return times(x, x);
    case Unary::relu:
      return x <= T(0) ? T(0) : x;
    default:
      break;
  }
  if constexpr (std::is_same_v<T, bool>) {
    if (f == Unary::logical_not) return !x;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (f) {
      case Unary::reciprocal:
        return 1 / x;
      case Unary::sqrt:
        return std::sqrt(x);
      case Unary::rsqrt:
        return 1 / std::sqrt(x);
      case Unary::exp:
        return std::exp(x);
      case Unary::log:
        return std::log(x);
      case Unary::log1p:
        return std::log1p(x);
      case Unary::sin:
        return std::sin(x);
      case Unary::cos:
        return std::cos(x);
      case Unary::tanh:
        return std::tanh(x);
      case Unary::sigmoid:
        return sigmoid(x);
      case Unary::erf:
        return std::erf(x);
      case Unary::gelu:  // x Φ(x); Φ by erfc, which keeps its digits for negative x; -0 at -inf
        return x < -40 ? T(-0.0) : x / 2 * std::erfc(-x * T(0.70710678118654752440));
      case Unary::softplus:  // log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
        return larger(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
      case Unary::floor:
        return std::floor(x);
      default:
        break;
    }
  }
  return x;
}

// f(x, y) for the functions that give the operands' dtype; f must be defined for it.
template <class T>
constexpr T apply(Binary f, T x, T y) {
  switch (f) {
    case Binary::add:
      return plus(x, y);
    case Binary::sub:
      return minus(x, y);
    case Binary::mul:
      return times(x, y);
    case Binary::maximum:
      return larger(x, y);
    case Binary::minimum:
      return smaller(x, y);
    case Binary::div:
      if constexpr (std::is_floating_point_v<T>)
        return x / y;
      else
        return static_cast<T>(divide(x, y));
    case Binary::pow:
      if constexpr (std::is_floating_point_v<T>)
        return std::pow(x, y);
      else
        return static_cast<T>(power(x, y));
    default:
      break;
  }
  if constexpr (std::is_same_v<T, bool>) {
    if (f == Binary::logical_and) return x && y;
    if (f == Binary::logical_or) return x || y;
    if (f == Binary::logical_xor) return x != y;
  }
  return x;
}

// Is f one of the six comparisons, which take any dtype and give bool?
constexpr bool is_comparison(Binary f) { return f >= Binary::eq && f <= Binary::ge; }

template <class T>
constexpr bool compare(Binary f, T x, T y) {
  switch (f) {
    case Binary::eq:
      return x == y;
    case Binary::ne:
      return x != y;
    case Binary::lt:
      return x < y;
    case Binary::le:
      return x <= y;
    case Binary::gt:
      return x > y;
    default:
      return x >= y;
  }
}

// The value of a reduction over nothing.
template <class W>
constexpr W identity(Reduction f) {
  using limits = std::numeric_limits<W>;
  switch (f) {
    case Reduction::sum:
    case Reduction::any:
      return W(0);
    case Reduction::prod:
    case Reduction::all:
      return W(1);
    case Reduction::max:
      return limits::has_infinity ? -limits::infinity() : limits::lowest();
    case Reduction::min:
      return limits::has_infinity ? limits::infinity() : limits::max();
  }
  return W(0);
}

// One step of a reduction.
template <class W>
constexpr W combine(Reduction f, W a, W b) {
  switch (f) {
    case Reduction::sum:
      return plus(a, b);
    case Reduction::prod:
      return times(a, b);
    case Reduction::max:
      return larger(a, b);
    case Reduction::min:
      return smaller(a, b);
    case Reduction::any:
      return static_cast<W>(a != W(0) || b != W(0));
    case Reduction::all:
      return static_cast<W>(a != W(0) && b != W(0));
  }
  return a;
}

}  // namespace labgrad::naive
