#pragma once
// + - * / pow and the comparisons, elementwise with NumPy's broadcasting.
//
// Dtypes meet as in PyTorch: bool < i64 < f32 < f64, and a number or a rank-0 tensor doesn't lift
// f32 to f64. Of bool, + is or and * is and; - is an error. Other errors: shapes that do not
// broadcast (both are shown, the offending sizes marked); operands on different devices.

#include "engine/tensor.h"

namespace labgrad {

Tensor add(const Tensor& a, const Tensor& b, Caller caller = Caller::here());
Tensor sub(const Tensor& a, const Tensor& b, Caller caller = Caller::here());
Tensor mul(const Tensor& a, const Tensor& b, Caller caller = Caller::here());
// True division: integers are divided as f32. x / 0 is ±inf or NaN.
Tensor div(const Tensor& a, const Tensor& b, Caller caller = Caller::here());
// a^b. x^0 = 1, and 0 to a power below 0 is inf. At base 0 the gradient by the base is 0 for the
// exponent 0 and above 1, 1 for 1, and infinite between and below; the gradient by the exponent is
// 0 for exponents from 0 on (0^b is constant there). A negative base needs whole exponents, and has
// no gradient by them (NaN). Error: also a whole number to a negative power.
Tensor pow(const Tensor& a, const Tensor& b, Caller caller = Caller::here());
Tensor pow(const Tensor& a, Scalar b);
Tensor neg(const Tensor& x);  // -x

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& x);
Tensor operator+(const Tensor& a, Scalar b);
Tensor operator-(const Tensor& a, Scalar b);
Tensor operator*(const Tensor& a, Scalar b);
Tensor operator/(const Tensor& a, Scalar b);
Tensor operator+(Scalar a, const Tensor& b);
Tensor operator-(Scalar a, const Tensor& b);
Tensor operator*(Scalar a, const Tensor& b);
Tensor operator/(Scalar a, const Tensor& b);

// Comparisons: a bool tensor, without gradient. NaN compares unequal to all.
Tensor eq(const Tensor& a, const Tensor& b, Caller caller = Caller::here());
Tensor ne(const Tensor& a, const Tensor& b, Caller caller = Caller::here());
Tensor operator<(const Tensor& a, const Tensor& b);
Tensor operator<=(const Tensor& a, const Tensor& b);
Tensor operator>(const Tensor& a, const Tensor& b);
Tensor operator>=(const Tensor& a, const Tensor& b);
Tensor operator==(const Tensor& a, const Tensor& b);
Tensor operator!=(const Tensor& a, const Tensor& b);
Tensor operator<(const Tensor& a, Scalar b);
Tensor operator<=(const Tensor& a, Scalar b);
Tensor operator>(const Tensor& a, Scalar b);
Tensor operator>=(const Tensor& a, Scalar b);
Tensor operator==(const Tensor& a, Scalar b);
Tensor operator!=(const Tensor& a, Scalar b);

// Of bool tensors; other dtypes are compared with 0 first.
Tensor operator!(const Tensor& x);
Tensor operator&(const Tensor& a, const Tensor& b);
Tensor operator|(const Tensor& a, const Tensor& b);
Tensor operator^(const Tensor& a, const Tensor& b);

}  // namespace labgrad
