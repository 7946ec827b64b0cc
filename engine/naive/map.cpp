// Elementwise primitives. The formulas themselves are in formulas.h.

#include "engine/naive/formulas.h"
#include "engine/naive/naive.h"
#include "engine/naive/walk.h"

namespace labgrad {

using namespace naive;

// out_i = value
void Naive::fill(const Array& out, double value) const {
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* o = out.as<T>();
    const T v = convert<T>(value);
    walk(
        out.shape, [&](auto i) { o[i] = v; }, out.strides);
  });
}

void Naive::fill_i64(const Array& out, std::int64_t value) const {
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* o = out.as<T>();
    const T v = convert<T>(value);
    walk(
        out.shape, [&](auto i) { o[i] = v; }, out.strides);
  });
}

// out_i = in_i
void Naive::copy(const Array& out, const Array& in) const {
  dispatch(out.dtype, [&](auto to) {
    using To = typename decltype(to)::type;
    dispatch(in.dtype, [&](auto from) {
      using From = typename decltype(from)::type;
      To* o = out.as<To>();
      const From* x = in.as<From>();
      walk(
          out.shape, [&](auto i, auto j) { o[i] = convert<To>(x[j]); }, out.strides, in.strides);
    });
  });
}

// out_i = f(x_i)
void Naive::map(Unary f, const Array& out, const Array& x) const {
  if (f == Unary::is_finite) {
    dispatch_floating(x.dtype, "is_finite", [&](auto tag) {
      using T = typename decltype(tag)::type;
      bool* o = out.as<bool>();
      const T* a = x.as<T>();
      walk(
          out.shape, [&](auto i, auto j) { o[i] = std::isfinite(a[j]); }, out.strides, x.strides);
    });
    return;
  }
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    check_defined<T>(f);
    T* o = out.as<T>();
    const T* a = x.as<T>();
    walk(
        out.shape, [&](auto i, auto j) { o[i] = apply(f, a[j]); }, out.strides, x.strides);
  });
}

// out_i = f(x_i, y_i)
void Naive::zip(Binary f, const Array& out, const Array& x, const Array& y) const {
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    check_defined<T>(f);
    const T* a = x.as<T>();
    const T* b = y.as<T>();
    if (is_comparison(f)) {
      bool* o = out.as<bool>();
      walk(
          out.shape, [&](auto i, auto j, auto k) { o[i] = compare(f, a[j], b[k]); }, out.strides,
          x.strides, y.strides);
    } else {
      T* o = out.as<T>();
      walk(
          out.shape, [&](auto i, auto j, auto k) { o[i] = apply(f, a[j], b[k]); }, out.strides,
          x.strides, y.strides);
    }
  });
}

// out_i = c_i ? x_i : y_i
void Naive::where(const Array& out, const Array& condition, const Array& x, const Array& y) const {
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* o = out.as<T>();
    const bool* c = condition.as<bool>();
    const T* a = x.as<T>();
    const T* b = y.as<T>();
    walk(
        out.shape, [&](auto i, auto j, auto k, auto l) { o[i] = c[j] ? a[k] : b[l]; }, out.strides,
        condition.strides, x.strides, y.strides);
  });
}

// out_i = min(max(x_i, lo), hi)
void Naive::clamp(const Array& out, const Array& x, double lo, double hi) const {
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* o = out.as<T>();
    const T* a = x.as<T>();
    const T low = convert<T>(lo), high = convert<T>(hi);
    walk(
        out.shape, [&](auto i, auto j) { o[i] = smaller(larger(a[j], low), high); }, out.strides,
        x.strides);
  });
}

}  // namespace labgrad
