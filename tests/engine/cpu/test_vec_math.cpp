// The error of the vector functions, measured over all exponents and, more densely, where most
// arguments lie (`tests -s` prints it). The references are the standard library's functions in the
// next larger type.

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "engine/kernels.h"

using namespace labgrad;

namespace {

template <class T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

// |y - exact| in units in the last place of a T of exact's size; 1e30 for another class of number.
template <class T>
double ulp_error(T y, Wider<T> exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(y) || std::isnan(rounded)) return std::isnan(y) == std::isnan(rounded) ? 0 : 1e30;
  if (y == rounded && std::isinf(y)) return 0;
  if (std::isinf(y) || std::isinf(rounded)) return 1e30;
  const int exponent =
      std::max(exact == 0 ? std::numeric_limits<T>::min_exponent : std::ilogb(exact) + 1,
               std::numeric_limits<T>::min_exponent);
  const Wider<T> unit = std::ldexp(Wider<T>(1), exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::abs(Wider<T>(y) - exact) / unit);
}

struct Worst {
  double ulps = 0;
  double at = 0;
};

// The largest error of the kernel over the numbers x_i = point(i), i < n.
template <class T, class Exact, class Point>
void measure(Worst& worst, Unary f, Exact exact, std::int64_t n, Point point) {
  constexpr std::int64_t chunk = 1000;
  T x[chunk], y[chunk];
  for (std::int64_t begin = 0; begin < n; begin += chunk) {
    for (std::int64_t i = 0; i < chunk; ++i) x[i] = point(begin + i);
    const Array in{reinterpret_cast<std::byte*>(x), dtype_of<T>, {chunk}, {1}};
    const Array out{reinterpret_cast<std::byte*>(y), dtype_of<T>, {chunk}, {1}};
    kernels(Device::cpu).map(f, out, in);
    for (std::int64_t i = 0; i < chunk; ++i) {
      const double error = ulp_error<T>(y[i], exact(Wider<T>(x[i])));
      if (!(error <= worst.ulps)) worst = {error, static_cast<double>(x[i])};
    }
  }
}

// A million arguments of f, in f32 and f64.
template <class T, class Exact>
void check_error(Unary f, const char* name, double most, Exact exact) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr std::int64_t n = 500'000;
  Worst worst;
  measure<T>(worst, f, exact, n, [](std::int64_t i) {  // every exponent, both signs, inf and NaN
    constexpr Bits step = std::numeric_limits<Bits>::max() / static_cast<Bits>(n);
    return std::bit_cast<T>(static_cast<Bits>(static_cast<Bits>(i) * step));
  });
  measure<T>(worst, f, exact, n, [](std::int64_t i) { return T(double(i - n / 2) * 8e-5); });
  for (T special : {T(0), T(-0.0), T(1), T(-1), std::numeric_limits<T>::infinity(),
                    -std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN(),
                    std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest(),
                    std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min()})
    measure<T>(worst, f, exact, 1, [&](std::int64_t) { return special; });
  INFO(std::string(name) << ", " << std::string(name_of(dtype_of<T>)) << ", worst at " << worst.at);
  CHECK(worst.ulps <= most);
}

template <class T>
void check_all() {
  check_error<T>(Unary::exp, "exp", 2, [](auto x) { return std::exp(x); });
  check_error<T>(Unary::log, "log", 2, [](auto x) { return std::log(x); });
  check_error<T>(Unary::log1p, "log1p", 3, [](auto x) { return std::log1p(x); });
  check_error<T>(Unary::tanh, "tanh", 4, [](auto x) { return std::tanh(x); });
  check_error<T>(Unary::sigmoid, "sigmoid", 4, [](auto x) {
    return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
  });
  check_error<T>(Unary::softplus, "softplus", 4, [](auto x) {
    return (x > 0 || x != x ? x : 0) + std::log1p(std::exp(-std::abs(x)));
  });
  check_error<T>(Unary::erf, "erf", 4, [](auto x) { return std::erf(x); });
  check_error<T>(Unary::sin, "sin", 3, [](auto x) { return std::sin(x); });
  check_error<T>(Unary::cos, "cos", 3, [](auto x) { return std::cos(x); });
}

// sin and cos where the reduction of the argument loses most: around multiples of π/2, and on both
// sides of the largest argument that is reduced by vectors.
template <class T>
void check_turns(double largest) {
  using W = Wider<T>;
  const auto near = [largest](std::int64_t i) {
    const std::int64_t turns = i / 7 * static_cast<std::int64_t>(largest * 1.3) / 70'000;
    T x = static_cast<T>(static_cast<W>(turns) * std::acos(W(-1)) / 2);
    for (std::int64_t step = i % 7; step > 3; --step) x = std::nextafter(x, T(2 * largest));
    for (std::int64_t step = i % 7; step < 3; ++step) x = std::nextafter(x, T(0));
    return turns % 2 == 0 ? x : -x;
  };
  Worst worst;
  measure<T>(
      worst, Unary::sin, [](W x) { return std::sin(x); }, 490'000, near);
  measure<T>(
      worst, Unary::cos, [](W x) { return std::cos(x); }, 490'000, near);
  INFO(std::string(name_of(dtype_of<T>)) << ", worst at " << worst.at);
  CHECK(worst.ulps <= 3);
}

}  // namespace

TEST_CASE("vec_math: errors in units in the last place, f32") {
  check_all<float>();
  // In the tail, e^(-x²/2) has the digits of x² that only a fused multiply-add brings out.
#if defined(__FMA__)
  constexpr double most = 8;
#else
  constexpr double most = 100;
#endif
  check_error<float>(Unary::gelu, "gelu", most, [](double x) {
    return x < -40 ? -0.0 : x / 2 * std::erfc(-x * std::sqrt(0.5));
  });
}

TEST_CASE("vec_math: errors in units in the last place, f64") { check_all<double>(); }

TEST_CASE("vec_math: sin and cos around multiples of a quarter turn") {
  check_turns<float>(3200);
  check_turns<double>(1.6e6);
}

TEST_CASE("vec_math: sin keeps the sign of zero, and a large lane leaves its neighbours alone") {
  float x[] = {-0.0f, 0.0f, 1e30f, 1, -1e10f, 2, 3199, 3201}, y[8], alone[8];
  const auto array = [](float* p, std::int64_t n) {
    return Array{reinterpret_cast<std::byte*>(p), f32, {n}, {1}};
  };
  kernels(Device::cpu).map(Unary::sin, array(y, 8), array(x, 8));
  for (int i = 0; i < 8; ++i) {
    kernels(Device::cpu).map(Unary::sin, array(alone + i, 1), array(x + i, 1));
    CHECK(std::bit_cast<std::uint32_t>(y[i]) == std::bit_cast<std::uint32_t>(alone[i]));
  }
  CHECK(std::signbit(y[0]));
  CHECK(!std::signbit(y[1]));
}
