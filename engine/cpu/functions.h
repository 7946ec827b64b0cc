#pragma once
// The elementwise functions on vectors: of f32, f64, i64, or of bytes that are bools. The scalar
// formulas are in engine/naive/formulas.h.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/cpu/vec_math.h"
#include "engine/cpu/vec_trigonometry.h"
#include "engine/naive/formulas.h"

namespace labgrad::cpu::functions {

template <class V>
inline constexpr bool of_floats = std::is_floating_point_v<Lane<V>>;
template <class V>
inline constexpr bool of_bools = std::is_same_v<Lane<V>, std::uint8_t>;

// Integer lanes as unsigned ones, whose overflow is defined: they wrap around.
template <class V>
inline auto wrapping(V v) {
  return std::bit_cast<Vec<std::make_unsigned_t<Lane<V>>, lanes_of<V>>>(v);
}

// f(x_i, y_i) where there is no vector code.
template <class V, class F>
inline V pairwise(F f, V x, V y) {
  V z;
  for (int i = 0; i < lanes_of<V>; ++i) z[i] = f(x[i], y[i]);
  return z;
}

// ---- of two ----
inline constexpr auto add = []<class V>(V x, V y) -> V {
  if constexpr (of_floats<V>)
    return x + y;
  else if constexpr (of_bools<V>)
    return x | y;
  else
    return std::bit_cast<V>(wrapping(x) + wrapping(y));
};
inline constexpr auto sub = []<class V>(V x, V y) -> V {
  if constexpr (of_floats<V>)
    return x - y;
  else if constexpr (of_bools<V>)
    return x ^ y;
  else
    return std::bit_cast<V>(wrapping(x) - wrapping(y));
};
inline constexpr auto mul = []<class V>(V x, V y) -> V {
  if constexpr (of_floats<V>)
    return x * y;
  else if constexpr (of_bools<V>)
    return x & y;
  else
    return std::bit_cast<V>(wrapping(x) * wrapping(y));
};
inline constexpr auto div = []<class V>(V x, V y) -> V {
  if constexpr (of_floats<V>)
    return x / y;
  else if constexpr (of_bools<V>)
    return x & y;
  else
    return pairwise(naive::divide, x, y);
};
inline constexpr auto pow = []<class V>(V x, V y) -> V {
  if constexpr (of_floats<V>)
    return pairwise([](auto a, auto b) { return std::pow(a, b); }, x, y);
  else if constexpr (of_bools<V>)
    return x | (y ^ 1);
  else
    return pairwise(naive::power, x, y);
};
inline constexpr auto maximum = []<class V>(V x, V y) { return max(x, y); };
inline constexpr auto minimum = []<class V>(V x, V y) { return min(x, y); };

// Comparisons give a mask.
inline constexpr auto eq = []<class V>(V x, V y) { return x == y; };
inline constexpr auto ne = []<class V>(V x, V y) { return x != y; };
inline constexpr auto lt = []<class V>(V x, V y) { return x < y; };
inline constexpr auto le = []<class V>(V x, V y) { return x <= y; };
inline constexpr auto gt = []<class V>(V x, V y) { return x > y; };
inline constexpr auto ge = []<class V>(V x, V y) { return x >= y; };

// ---- of one ----
inline constexpr auto same = []<class V>(V x) { return x; };
inline constexpr auto neg = []<class V>(V x) -> V {
  if constexpr (of_floats<V>)
    return -x;
  else
    return sub(V{}, x);
};
inline constexpr auto abs = []<class V>(V x) -> V {
  if constexpr (of_floats<V>)
    return cpu::abs(x);
  else
    return select<V>(x < V{}, neg(x), x);
};
inline constexpr auto sign = []<class V>(V x) -> V {
  const V one = splat<V>(1);
  const V not_positive = select<V>(x < V{}, neg(one), select<V>(x == V{}, V{}, x));  // NaN: x
  return select<V>(x > V{}, one, not_positive);
};
inline constexpr auto square = []<class V>(V x) { return mul(x, x); };
inline constexpr auto relu = []<class V>(V x) { return select<V>(x <= V{}, V{}, x); };
inline constexpr auto logical_not = []<class V>(V x) -> V { return x ^ 1; };
inline constexpr auto is_finite = []<class V>(V x) {
  return cpu::abs(x) <= splat<V>(std::numeric_limits<Lane<V>>::max());
};
inline constexpr auto reciprocal = []<class V>(V x) -> V { return 1 / x; };
inline constexpr auto sqrt = []<class V>(V x) { return cpu::sqrt(x); };
inline constexpr auto rsqrt = []<class V>(V x) -> V { return 1 / cpu::sqrt(x); };
inline constexpr auto exp = []<class V>(V x) { return cpu::exp(x); };
inline constexpr auto log = []<class V>(V x) { return cpu::log(x); };
inline constexpr auto log1p = []<class V>(V x) { return cpu::log1p(x); };
inline constexpr auto sin = []<class V>(V x) { return cpu::sin(x); };
inline constexpr auto cos = []<class V>(V x) { return cpu::cos(x); };
inline constexpr auto tanh = []<class V>(V x) { return cpu::tanh(x); };
inline constexpr auto sigmoid = []<class V>(V x) { return cpu::sigmoid(x); };
inline constexpr auto erf = []<class V>(V x) { return cpu::erf(x); };
inline constexpr auto gelu = []<class V>(V x) { return cpu::gelu(x); };
inline constexpr auto softplus = []<class V>(V x) { return cpu::softplus(x); };
inline constexpr auto floor = []<class V>(V x) { return cpu::floor(x); };

// ---- of three ----
// c ? x : y, where c holds a byte for each lane.
inline constexpr auto where = []<class C, class V>(C c, V x, V y) {
  return select<V>(resize<Lane<Mask<V>>>(c) != Mask<V>{}, x, y);
};
inline constexpr auto clamp = []<class V>(V x, V low, V high) { return min(max(x, low), high); };

}  // namespace labgrad::cpu::functions
