#pragma once
// Element types, chosen at run time, and the one place that turns a run-time type into a C++ type.

#include <cstddef>
#include <cstdint>

#include "engine/error.h"

namespace labgrad {

enum class DType : std::uint8_t { f32, f64, i64, boolean };

inline constexpr DType f32 = DType::f32;          // float
inline constexpr DType f64 = DType::f64;          // double
inline constexpr DType i64 = DType::i64;          // std::int64_t: indices, labels, counts
inline constexpr DType boolean = DType::boolean;  // bool, one byte each: masks

constexpr std::size_t size_of(DType t) {
  switch (t) {
    case DType::f32:
      return 4;
    case DType::f64:
      return 8;
    case DType::i64:
      return 8;
    case DType::boolean:
      return 1;
  }
  return 0;
}

constexpr const char* name_of(DType t) {
  switch (t) {
    case DType::f32:
      return "f32";
    case DType::f64:
      return "f64";
    case DType::i64:
      return "i64";
    case DType::boolean:
      return "bool";
  }
  return "?";
}

constexpr bool is_floating(DType t) { return t == DType::f32 || t == DType::f64; }

// The type in which a and b meet: bool < i64 < f32 < f64.
constexpr DType promote(DType a, DType b) {
  auto rank = [](DType t) {
    return t == DType::boolean ? 0 : t == DType::i64 ? 1 : t == DType::f32 ? 2 : 3;
  };
  return rank(a) >= rank(b) ? a : b;
}

// The DType of a C++ type: dtype_of<float> == f32.
template <class T>
inline constexpr DType dtype_of = DType::f32;
template <>
inline constexpr DType dtype_of<double> = DType::f64;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;
template <>
inline constexpr DType dtype_of<bool> = DType::boolean;

template <class T>
struct Type {
  using type = T;
};

// Calls f(Type<T>{}) with the C++ type of t:
//   dispatch(t, [&](auto tag) { using T = typename decltype(tag)::type; ... });
template <class F>
decltype(auto) dispatch(DType t, F&& f) {
  switch (t) {
    case DType::f32:
      return f(Type<float>{});
    case DType::f64:
      return f(Type<double>{});
    case DType::i64:
      return f(Type<std::int64_t>{});
    case DType::boolean:
      return f(Type<bool>{});
  }
  fail("dispatch: unknown dtype");
}

// The same for f32 and f64 alone; any other type is an error that names the op.
template <class F>
decltype(auto) dispatch_floating(DType t, const char* op, F&& f) {
  if (t == DType::f32) return f(Type<float>{});
  if (t == DType::f64) return f(Type<double>{});
  fail(std::string(op) + ": needs a floating dtype (f32 or f64), got " + name_of(t));
}

}  // namespace labgrad
