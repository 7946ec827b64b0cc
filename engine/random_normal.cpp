#include "engine/random_normal.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

// The polynomials are those of the Cephes library (Moshier), evaluated in exactly the order and
// with exactly the fused steps of PyTorch's AVX2 code. A product not inside std::fma is rounded by
// itself: nothing here may be contracted or reordered.

namespace labgrad {
namespace {

// ln x for 2^-24 <= x <= 1. With x = m 2^e and m in [sqrt(1/2), sqrt 2): ln x = e ln 2 + ln m, and
// ln m = t - t^2/2 + t^3 P(t) for t = m - 1. ln 2 is the sum of `big` and `small`.
float natural_log(float x) {
  constexpr float small = -2.12194440e-4f;
  constexpr float big = 0.693359375f;
  constexpr float coefficients[] = {7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                                    -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                                    2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
  const auto bits = std::bit_cast<std::uint32_t>(x);
  float e = static_cast<float>(static_cast<std::int32_t>(bits >> 23) - 126);
  const float m = std::bit_cast<float>((bits & 0x7fffffu) | 0x3f000000u);  // in [1/2, 1)
  const bool doubled = m < 0.707106781186547524f;
  const float t = doubled ? (m - 1.0f) + m : m - 1.0f;
  e = doubled ? e - 1.0f : e;
  const float z = t * t;
  float y = coefficients[0];
  for (int i = 1; i < 9; ++i) y = std::fma(y, t, coefficients[i]);
  y = y * t;
  y = std::fma(y, z, e * small);
  y = y - z * 0.5f;
  return std::fma(e, big, t + y);
}

struct SinCos {
  float sin;
  float cos;
};

// For t >= 0: subtract the nearest even multiple q of pi/4, in three steps, since no float is close
// enough to pi/4; what is left is in [-pi/4, pi/4], and the octant q says which of the two
// polynomials is the sine and what the signs are.
SinCos sin_cos(float t) {
  auto q = static_cast<std::int32_t>(t * 1.27323954473516f);
  q = (q + 1) & ~1;
  const auto octant = static_cast<float>(q);
  t = std::fma(octant, -0.78515625f, t);
  t = std::fma(octant, -2.4187564849853515625e-4f, t);
  t = std::fma(octant, -3.77489497744594108e-8f, t);
  const float z = t * t;
  float c = std::fma(2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = std::fma(c, z, 4.166664568298827e-2f);
  c = c * z;
  c = std::fma(c, z, -(z * 0.5f));
  c = c + 1.0f;
  float s = std::fma(-1.9515295891e-4f, z, 8.3321608736e-3f);
  s = std::fma(s, z, -1.6666654611e-1f);
  s = s * z;
  s = std::fma(s, t, t);
  const bool exchanged = (q & 2) != 0;
  const float sine = exchanged ? c : s;
  const float cosine = exchanged ? s : c;
  return {(q & 4) != 0 ? -sine : sine, ((q + 2) & 4) != 0 ? -cosine : cosine};
}

}  // namespace

void normal_block(float* block, float mean, float std) {
  constexpr float two_pi = 2.0f * std::numbers::pi_v<float>;
  for (int j = 0; j < 8; ++j) {
    const float r = std::sqrt(-2.0f * natural_log(1.0f - block[j]));
    const SinCos angle = sin_cos(two_pi * block[j + 8]);
    block[j] = std::fma(r * angle.cos, std, mean);
    block[j + 8] = std::fma(r * angle.sin, std, mean);
  }
}

void normal_block(double* block, double mean, double std) {
  for (int j = 0; j < 8; ++j) {
    const double r = std::sqrt(-2.0 * std::log(1.0 - block[j]));
    const double t = 2.0 * std::numbers::pi * block[j + 8];
    block[j] = r * std::cos(t) * std + mean;
    block[j + 8] = r * std::sin(t) * std + mean;
  }
}

}  // namespace labgrad
