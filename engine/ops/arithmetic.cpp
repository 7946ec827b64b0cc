#include "engine/ops/arithmetic.h"

#include "engine/autograd.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/raw.h"
#include "engine/ops/reduce.h"
#include "engine/ops/select.h"

namespace labgrad {
namespace {

using Op = Tensor (*)(const Tensor&, const Tensor&, Caller);

// The op on both operands in the dtype in which they meet.
Tensor in_common_dtype(Op op, const Tensor& a, const Tensor& b, Caller caller) {
  const DType dtype = raw::common_dtype(a, b);
  return op(to(a, dtype), to(b, dtype), caller);
}

}  // namespace

// y = a + b        da = dy        db = dy        [add.grad]
Tensor add(const Tensor& a, const Tensor& b, Caller caller) {
  if (a.dtype() != b.dtype()) return in_common_dtype(add, a, b, caller);
  return differentiable("add", raw::zip(Binary::add, "add", a, b, caller), wrt(a, unchanged),
                        wrt(b, unchanged));
}

// y = a - b        da = dy        db = -dy        [sub.grad]
Tensor sub(const Tensor& a, const Tensor& b, Caller caller) {
  if (a.dtype() != b.dtype()) return in_common_dtype(sub, a, b, caller);
  if (a.dtype() == boolean)
    fail("sub: bool has no difference; use ^ for what differs, or convert with to(x, i64)", caller);
  return differentiable("sub", raw::zip(Binary::sub, "sub", a, b, caller), wrt(a, unchanged),
                        wrt(b, [](const Tensor& dy) { return -dy; }));
}

// y = a ⊙ b        da = dy ⊙ b        db = dy ⊙ a        [mul.grad]
Tensor mul(const Tensor& a, const Tensor& b, Caller caller) {
  if (a.dtype() != b.dtype()) return in_common_dtype(mul, a, b, caller);
  return differentiable("mul", raw::zip(Binary::mul, "mul", a, b, caller),
                        wrt(a, [b = save(b)](const Tensor& dy) { return dy * b; }),
                        wrt(b, [a = save(a)](const Tensor& dy) { return dy * a; }));
}

// y = a / b        da = dy / b        db = -dy ⊙ y / b        [div.grad]
Tensor div(const Tensor& a, const Tensor& b, Caller caller) {
  if (a.dtype() != b.dtype()) return in_common_dtype(div, a, b, caller);
  if (!is_floating(a.dtype())) return div(to(a, f32), to(b, f32), caller);
  return differentiable(
      "div", raw::zip(Binary::div, "div", a, b, caller),
      wrt(a, [b = save(b)](const Tensor& dy) { return dy / b; }),
      wrt(b, [b = save(b)](const Tensor& dy, const Tensor& y) { return -dy * y / b; }));
}

// y = a^b        da = dy ⊙ b a^(b-1), 0 where b = 0        db = dy ⊙ y ln a, 0 where a = 0 ≤ b
// [pow.grad]
Tensor pow(const Tensor& a, const Tensor& b, Caller caller) {
  if (a.dtype() != b.dtype()) return in_common_dtype(pow, a, b, caller);
  if (a.dtype() == i64 && any(b < 0).item<bool>())
    fail("pow: whole numbers to a negative power are not whole; convert the base with to(x, f32)",
         caller);
  return differentiable("pow", raw::zip(Binary::pow, "pow", a, b, caller),
                        wrt(a,
                            [a = save(a), b = save(b)](const Tensor& dy) {
                              // 0 · 0^(-1) would be NaN.
                              const Tensor exponent = where(b == 0, 1, b);
                              return dy * b * pow(a, exponent - 1);
                            }),
                        wrt(b, [a = save(a), b = save(b)](const Tensor& dy, const Tensor& y) {
                          // 0 · ln 0 would be NaN. Below 0 the slope is infinite, as 0^b is.
                          return dy * y * log(where((a == 0) & (b >= 0), 1, a));
                        }));
}

Tensor pow(const Tensor& a, Scalar b) { return pow(a, raw::number(b, a)); }

// y = -x        dx = -dy        [neg.grad]
Tensor neg(const Tensor& x) {
  if (x.dtype() == boolean)
    fail("neg: bool has no sign; use ! for the opposite, or convert with to(x, i64)");
  return differentiable("neg", raw::map(Unary::neg, "neg", x),
                        wrt(x, [](const Tensor& dy) { return -dy; }));
}

Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
Tensor operator-(const Tensor& x) { return neg(x); }
Tensor operator+(const Tensor& a, Scalar b) { return add(a, raw::number(b, a)); }
Tensor operator-(const Tensor& a, Scalar b) { return sub(a, raw::number(b, a)); }
Tensor operator*(const Tensor& a, Scalar b) { return mul(a, raw::number(b, a)); }
Tensor operator/(const Tensor& a, Scalar b) { return div(a, raw::number(b, a)); }
Tensor operator+(Scalar a, const Tensor& b) { return add(raw::number(a, b), b); }
Tensor operator-(Scalar a, const Tensor& b) { return sub(raw::number(a, b), b); }
Tensor operator*(Scalar a, const Tensor& b) { return mul(raw::number(a, b), b); }
Tensor operator/(Scalar a, const Tensor& b) { return div(raw::number(a, b), b); }

// ---- comparisons: no gradient ----

namespace {

Tensor compare(Binary f, const char* op, const Tensor& a, const Tensor& b, Caller caller) {
  const DType dtype = raw::common_dtype(a, b);
  NoGrad no_grad;
  return raw::zip(f, op, to(a, dtype), to(b, dtype), caller);
}

Tensor compare(Binary f, const char* op, const Tensor& a, Scalar b) {
  return compare(f, op, a, raw::number(b, a), Caller::here());
}

Tensor truth(const Tensor& x) { return x.dtype() == boolean ? x : x != 0; }

Tensor logical(Binary f, const char* op, const Tensor& a, const Tensor& b) {
  return raw::zip(f, op, truth(a), truth(b), Caller::here());
}

}  // namespace

Tensor eq(const Tensor& a, const Tensor& b, Caller c) { return compare(Binary::eq, "eq", a, b, c); }
Tensor ne(const Tensor& a, const Tensor& b, Caller c) { return compare(Binary::ne, "ne", a, b, c); }

Tensor operator<(const Tensor& a, const Tensor& b) {
  return compare(Binary::lt, "operator<", a, b, Caller::here());
}
Tensor operator<=(const Tensor& a, const Tensor& b) {
  return compare(Binary::le, "operator<=", a, b, Caller::here());
}
Tensor operator>(const Tensor& a, const Tensor& b) {
  return compare(Binary::gt, "operator>", a, b, Caller::here());
}
Tensor operator>=(const Tensor& a, const Tensor& b) {
  return compare(Binary::ge, "operator>=", a, b, Caller::here());
}
Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
Tensor operator!=(const Tensor& a, const Tensor& b) { return ne(a, b); }

Tensor operator<(const Tensor& a, Scalar b) { return compare(Binary::lt, "operator<", a, b); }
Tensor operator<=(const Tensor& a, Scalar b) { return compare(Binary::le, "operator<=", a, b); }
Tensor operator>(const Tensor& a, Scalar b) { return compare(Binary::gt, "operator>", a, b); }
Tensor operator>=(const Tensor& a, Scalar b) { return compare(Binary::ge, "operator>=", a, b); }
Tensor operator==(const Tensor& a, Scalar b) { return compare(Binary::eq, "operator==", a, b); }
Tensor operator!=(const Tensor& a, Scalar b) { return compare(Binary::ne, "operator!=", a, b); }

Tensor operator!(const Tensor& x) { return raw::map(Unary::logical_not, "operator!", truth(x)); }
Tensor operator&(const Tensor& a, const Tensor& b) {
  return logical(Binary::logical_and, "operator&", a, b);
}
Tensor operator|(const Tensor& a, const Tensor& b) {
  return logical(Binary::logical_or, "operator|", a, b);
}
Tensor operator^(const Tensor& a, const Tensor& b) {
  return logical(Binary::logical_xor, "operator^", a, b);
}

}  // namespace labgrad
