// Elementwise functions of one argument.

#include "engine/cpu/cpu.h"
#include "engine/cpu/elementwise.h"
#include "engine/cpu/functions.h"

namespace labgrad {

namespace {

using namespace cpu;
using cpu::Line;

// The line of a function from T to T.
template <class T, class F>
constexpr Line of(const F&) {
  return &line<F, T, T>;
}

// nullptr: there is no such function of T.
template <class T>
Line line_of(Unary f) {
  switch (f) {
    case Unary::neg:
      return of<T>(functions::neg);
    case Unary::abs:
      return of<T>(functions::abs);
    case Unary::sign:
      return of<T>(functions::sign);
    case Unary::square:
      return of<T>(functions::square);
    case Unary::relu:
      return of<T>(functions::relu);
    default:
      break;
  }
  if constexpr (std::is_same_v<T, bool>) {
    if (f == Unary::logical_not) return of<T>(functions::logical_not);
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (f) {
      case Unary::reciprocal:
        return of<T>(functions::reciprocal);
      case Unary::sqrt:
        return of<T>(functions::sqrt);
      case Unary::rsqrt:
        return of<T>(functions::rsqrt);
      case Unary::exp:
        return of<T>(functions::exp);
      case Unary::log:
        return of<T>(functions::log);
      case Unary::log1p:
        return of<T>(functions::log1p);
      case Unary::sin:
        return of<T>(functions::sin);
      case Unary::cos:
        return of<T>(functions::cos);
      case Unary::tanh:
        return of<T>(functions::tanh);
      case Unary::sigmoid:
        return of<T>(functions::sigmoid);
      case Unary::erf:
        return of<T>(functions::erf);
      case Unary::gelu:
        return of<T>(functions::gelu);
      case Unary::softplus:
        return of<T>(functions::softplus);
      case Unary::floor:
        return of<T>(functions::floor);
      case Unary::is_finite:
        return &line<std::remove_const_t<decltype(functions::is_finite)>, bool, T>;
      default:
        break;
    }
  }
  return nullptr;
}

std::int64_t grain_of(Unary f) {
  switch (f) {
    case Unary::neg:
    case Unary::abs:
    case Unary::sign:
    case Unary::square:
    case Unary::relu:
    case Unary::floor:
    case Unary::logical_not:
    case Unary::is_finite:
      return cheap_grain;
    default:
      return costly_grain;
  }
}

}  // namespace

void Cpu::map(Unary f, const Array& out, const Array& x) const {
  const Line line =
      dispatch(x.dtype, [&](auto tag) { return line_of<typename decltype(tag)::type>(f); });
  if (!line) return Naive::map(f, out, x);  // which says what is wrong
  elementwise(line, grain_of(f), out, x);
}

}  // namespace labgrad
