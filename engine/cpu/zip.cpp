// Elementwise functions of two and three arguments.

#include "engine/cpu/cpu.h"
#include "engine/cpu/elementwise.h"
#include "engine/cpu/functions.h"

namespace labgrad {

namespace {

using namespace cpu;
using cpu::Line;

// The line of a function of two T.
template <class T, class O, class F>
constexpr Line of(const F&) {
  return &line<F, O, T, T>;
}

// nullptr: there is no such function of T.
template <class T>
Line line_of(Binary f) {
  switch (f) {
    case Binary::add:
      return of<T, T>(functions::add);
    case Binary::sub:
      return of<T, T>(functions::sub);
    case Binary::mul:
      return of<T, T>(functions::mul);
    case Binary::div:
      return of<T, T>(functions::div);
    case Binary::pow:
      return of<T, T>(functions::pow);
    case Binary::maximum:
      return of<T, T>(functions::maximum);
    case Binary::minimum:
      return of<T, T>(functions::minimum);
    case Binary::eq:
      return of<T, bool>(functions::eq);
    case Binary::ne:
      return of<T, bool>(functions::ne);
    case Binary::lt:
      return of<T, bool>(functions::lt);
    case Binary::le:
      return of<T, bool>(functions::le);
    case Binary::gt:
      return of<T, bool>(functions::gt);
    case Binary::ge:
      return of<T, bool>(functions::ge);
    default:
      break;
  }
  if constexpr (std::is_same_v<T, bool>) {  // on bytes of 0 and 1
    if (f == Binary::logical_and) return of<T, T>(functions::mul);
    if (f == Binary::logical_or) return of<T, T>(functions::add);
    if (f == Binary::logical_xor) return of<T, T>(functions::ne);
  }
  return nullptr;
}

}  // namespace

void Cpu::zip(Binary f, const Array& out, const Array& x, const Array& y) const {
  const Line line =
      dispatch(x.dtype, [&](auto tag) { return line_of<typename decltype(tag)::type>(f); });
  if (!line) return Naive::zip(f, out, x, y);  // which says what is wrong
  elementwise(line, f == Binary::pow ? costly_grain : cheap_grain, out, x, y);
}

void Cpu::where(const Array& out, const Array& condition, const Array& x, const Array& y) const {
  const Line line = dispatch(out.dtype, [](auto tag) -> Line {
    using T = typename decltype(tag)::type;
    return &cpu::line<std::remove_const_t<decltype(functions::where)>, T, bool, T, T>;
  });
  elementwise(line, cheap_grain, out, condition, x, y);
}

void Cpu::clamp(const Array& out, const Array& x, double lo, double hi) const {
  const Strides everywhere = Strides::filled(out.shape.rank(), 0);
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T ends[] = {naive::convert<T>(lo), naive::convert<T>(hi)};
    const Array low{reinterpret_cast<std::byte*>(&ends[0]), out.dtype, out.shape, everywhere};
    const Array high{reinterpret_cast<std::byte*>(&ends[1]), out.dtype, out.shape, everywhere};
    elementwise(&line<std::remove_const_t<decltype(functions::clamp)>, T, T, T, T>, cheap_grain,
                out, x, low, high);
  });
}

}  // namespace labgrad
