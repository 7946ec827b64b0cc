#pragma once
// What a reduction does with two values, and with a dense run of them.

#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/cpu/line.h"
#include "engine/cpu/vec.h"
#include "engine/kernels.h"

namespace labgrad::cpu {

// One reduction f of elements of type T (bool as bytes). Sums and products of f32 are kept in f64:
// their error is that of one rounding, whatever the length, and the order in which a layout makes
// the loops run does not show. Integers wrap around, so they are taken as unsigned.
template <Reduction f, class T>
struct Fold {
  static constexpr bool adds = f == Reduction::sum || f == Reduction::prod;
  using Element =
      std::conditional_t<adds && std::is_same_v<T, std::int64_t>, std::uint64_t, Stored<T>>;
  using Total = std::conditional_t<adds && std::is_same_v<T, float>, double, Element>;
  static constexpr int width = lanes<Total>;  // both types' vectors have as many lanes

  static constexpr Total identity() {
    using limits = std::numeric_limits<Total>;
    if constexpr (f == Reduction::sum || f == Reduction::any)
      return Total(0);
    else if constexpr (f == Reduction::prod || f == Reduction::all)
      return Total(1);
    else if constexpr (f == Reduction::max)
      return limits::has_infinity ? -limits::infinity() : limits::lowest();
    else
      return limits::has_infinity ? limits::infinity() : limits::max();
  }

  // Of two numbers or of two vectors.
  template <class V>
  static V combine(V a, V b) {
    if constexpr (f == Reduction::sum)
      return a + b;
    else if constexpr (f == Reduction::prod)
      return a * b;
    else if constexpr (f == Reduction::any)
      return static_cast<V>(a | b);
    else if constexpr (f == Reduction::all)
      return static_cast<V>(a & b);
    else if constexpr (std::is_arithmetic_v<V>)
      return (f == Reduction::max ? a > b : a < b) || a != a ? a : b;
    else
      return f == Reduction::max ? max(a, b) : min(a, b);
  }

  static Vec<Total> read(const Element* x) {
    if constexpr (std::is_same_v<Total, Element>)
      return load(x);
    else
      return __builtin_convertvector((load<Element, width>(x)), Vec<Total>);
  }

  static Total of_lanes(Vec<Total> v) {
    Total part[width];
    store(part, v);
    for (int half = width / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) part[i] = combine(part[i], part[i + half]);
    return part[0];
  }

  // x[0] .. x[n-1]: four vectors side by side, so that no step waits for the one before.
  static Total run(const Element* x, std::int64_t n) {
    std::int64_t i = 0;
    Total total = identity();
    if (n >= width) {
      Vec<Total> part[4];
      for (auto& p : part) p = splat<Vec<Total>>(identity());
      for (; i + 4 * width <= n; i += 4 * width)
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) part[k] = combine(part[k], read(x + i + k * width));
      for (; i + width <= n; i += width) part[0] = combine(part[0], read(x + i));
      total = of_lanes(combine(combine(part[0], part[1]), combine(part[2], part[3])));
    }
    for (; i < n; ++i) total = combine(total, static_cast<Total>(x[i]));
    return total;
  }

  static Total run(const Element* x, std::int64_t n, std::int64_t stride) {
    if (stride == 1) return run(x, n);
    Total total = identity();
    for (std::int64_t i = 0; i < n; ++i) total = combine(total, static_cast<Total>(x[i * stride]));
    return total;
  }

  // total[j] with x[j] for j < n.
  static void add_row(Total* total, const Element* x, std::int64_t n) {
    std::int64_t j = 0;
    for (; j + width <= n; j += width) store(total + j, combine(load(total + j), read(x + j)));
    for (; j < n; ++j) total[j] = combine(total[j], static_cast<Total>(x[j]));
  }
};

}  // namespace labgrad::cpu
