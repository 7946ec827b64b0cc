#pragma once
// Elementwise loops over arrays of any layout.

#include <array>
#include <cstdint>

#include "engine/cpu/line.h"
#include "engine/kernels.h"

namespace labgrad::cpu {

// Loops of at least so many elements are worth a second thread: simple arithmetic, and functions as
// costly as exp.
inline constexpr std::int64_t cheap_grain = 32768, costly_grain = 16384;

namespace detail {
void elementwise(Line line, std::int64_t grain, const Array& out, const Array* const* in,
                 int count);
}  // namespace detail

// Applies the line to all elements, in chunks of `grain`. An element's result does not depend on
// its neighbours, so neither layout nor threads show in the bits.
//
// What most calls have, dense arrays of moderate size, is looked for first and costs no more than
// this look: small operations are as fast as their overhead.
template <class... In>
void elementwise(Line line, std::int64_t grain, const Array& out, const In&... in) {
  std::int64_t n = 1;
  bool dense = true;
  for (int d = out.shape.rank() - 1; d >= 0; --d) {
    const std::int64_t size = out.shape[d];
    if (size == 1) continue;
    dense = dense && out.strides[d] == n && (... && (in.strides[d] == n));
    n *= size;
  }
  if (n == 0) return;
  if (dense && n <= grain) {
    const Operand operands[] = {{in.data, 1}...};
    line(n, out.data, operands);
    return;
  }
  const Array* const arrays[] = {&in...};
  detail::elementwise(line, grain, out, arrays, sizeof...(In));
}

}  // namespace labgrad::cpu
