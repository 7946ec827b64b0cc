#include "engine/ops/pointwise.h"

#include <limits>
#include <numbers>

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/raw.h"
#include "engine/ops/select.h"

namespace labgrad {
namespace {

Tensor zeros_of(const Tensor& x) {
  Tensor y = empty(x.shape(), x.dtype(), x.device());
  return y.zero_();
}

Tensor bools_of(const Tensor& x, bool value) {
  Tensor y = empty(x.shape(), boolean, x.device());
  return y.fill_(value);
}

}  // namespace

// y = |x|        dx = dy ⊙ sign x        [abs.grad]
Tensor abs(const Tensor& x) {
  return differentiable("abs", raw::map(Unary::abs, "abs", x),
                        wrt(x, [x = save(x)](const Tensor& dy) { return dy * sign(x); }));
}

// y = sign x        dx = 0        [sign.grad]
Tensor sign(const Tensor& x) {
  return differentiable("sign", raw::map(Unary::sign, "sign", x),
                        wrt(x, [](const Tensor& dy) { return zeros_of(dy); }));
}

// y = ⌊x⌋        dx = 0        [floor.grad]
Tensor floor(const Tensor& x) {
  if (!is_floating(x.dtype())) return x;
  return differentiable("floor", raw::map(Unary::floor, "floor", x),
                        wrt(x, [](const Tensor& dy) { return zeros_of(dy); }));
}

// y = e^x        dx = dy ⊙ y        [exp.grad]
Tensor exp(const Tensor& x) {
  return differentiable("exp", raw::map(Unary::exp, "exp", x),
                        wrt(x, [](const Tensor& dy, const Tensor& y) { return dy * y; }));
}

// y = ln x        dx = dy / x        [log.grad]
Tensor log(const Tensor& x) {
  return differentiable("log", raw::map(Unary::log, "log", x),
                        wrt(x, [x = save(x)](const Tensor& dy) { return dy / x; }));
}

// y = ln(1 + x)        dx = dy / (1 + x)        [log1p.grad]
Tensor log1p(const Tensor& x) {
  return differentiable("log1p", raw::map(Unary::log1p, "log1p", x),
                        wrt(x, [x = save(x)](const Tensor& dy) { return dy / (x.get() + 1); }));
}

// y = √x        dx = dy / (2y)        [sqrt.grad]
Tensor sqrt(const Tensor& x) {
  return differentiable("sqrt", raw::map(Unary::sqrt, "sqrt", x),
                        wrt(x, [](const Tensor& dy, const Tensor& y) { return dy / (2 * y); }));
}

// y = 1/√x        dx = -½ dy ⊙ y³        [rsqrt.grad]
Tensor rsqrt(const Tensor& x) {
  return differentiable(
      "rsqrt", raw::map(Unary::rsqrt, "rsqrt", x),
      wrt(x, [](const Tensor& dy, const Tensor& y) { return -0.5 * dy * y * square(y); }));
}

// y = x²        dx = 2 dy ⊙ x        [square.grad]
Tensor square(const Tensor& x) {
  return differentiable("square", raw::map(Unary::square, "square", x),
                        wrt(x, [x = save(x)](const Tensor& dy) { return 2 * dy * x; }));
}

// y = 1/x        dx = -dy ⊙ y²        [reciprocal.grad]
Tensor reciprocal(const Tensor& x) {
  return differentiable("reciprocal", raw::map(Unary::reciprocal, "reciprocal", x),
                        wrt(x, [](const Tensor& dy, const Tensor& y) { return -dy * square(y); }));
}

// y = sin x        dx = dy ⊙ cos x        [sin.grad]
Tensor sin(const Tensor& x) {
  return differentiable("sin", raw::map(Unary::sin, "sin", x),
                        wrt(x, [x = save(x)](const Tensor& dy) { return dy * cos(x); }));
}

// y = cos x        dx = -dy ⊙ sin x        [cos.grad]
Tensor cos(const Tensor& x) {
  return differentiable("cos", raw::map(Unary::cos, "cos", x),
                        wrt(x, [x = save(x)](const Tensor& dy) { return -dy * sin(x); }));
}

// y = tanh x        dx = dy ⊙ (1 - y²)        [tanh.grad]
Tensor tanh(const Tensor& x) {
  return differentiable(
      "tanh", raw::map(Unary::tanh, "tanh", x),
      wrt(x, [](const Tensor& dy, const Tensor& y) { return dy * (1 - square(y)); }));
}

// y = erf x        dx = dy ⊙ 2/√π e^(-x²)        [erf.grad]
Tensor erf(const Tensor& x) {
  constexpr double slope = 2 * std::numbers::inv_sqrtpi;
  return differentiable(
      "erf", raw::map(Unary::erf, "erf", x),
      wrt(x, [x = save(x)](const Tensor& dy) { return dy * (slope * exp(-square(x))); }));
}

// y = σ(x) = 1/(1 + e^-x)        dx = dy ⊙ y ⊙ (1 - y)        [sigmoid.grad]
Tensor sigmoid(const Tensor& x) {
  return differentiable("sigmoid", raw::map(Unary::sigmoid, "sigmoid", x),
                        wrt(x, [](const Tensor& dy, const Tensor& y) { return dy * y * (1 - y); }));
}

// y = ln(1 + e^x)        dx = dy ⊙ σ(x)        [softplus.grad]
Tensor softplus(const Tensor& x) {
  return differentiable("softplus", raw::map(Unary::softplus, "softplus", x),
                        wrt(x, [x = save(x)](const Tensor& dy) { return dy * sigmoid(x); }));
}

// y = max(x, 0)        dx = y > 0 ? dy : 0        [relu.grad]
Tensor relu(const Tensor& x) {
  return differentiable(
      "relu", raw::map(Unary::relu, "relu", x),
      wrt(x, [](const Tensor& dy, const Tensor& y) { return where(y > 0, dy, 0); }));
}

// y = min(max(x, 0), 6)        dx = 0 < y < 6 ? dy : 0        [relu6.grad]
Tensor relu6(const Tensor& x) {
  if (!is_floating(x.dtype()))
    fail(std::string("relu6: needs a floating dtype (f32 or f64), got ") + name_of(x.dtype()));
  Tensor clamped = raw::like(x, x.dtype());
  kernels(x.device()).clamp(clamped.array(), x.array(), 0, 6);
  return differentiable("relu6", clamped, wrt(x, [](const Tensor& dy, const Tensor& y) {
                          return where((y > 0) & (y < 6), dy, 0);
                        }));
}

// y = x Φ(x)        dx = dy ⊙ (Φ(x) + x φ(x))        [gelu.grad]
// Φ(x) = ½(1 + erf(x/√2)), φ(x) = e^(-x²/2)/√(2π)
Tensor gelu(const Tensor& x) {
  constexpr double half_sqrt2 = std::numbers::sqrt2 / 2;
  constexpr double inv_sqrt_2pi = std::numbers::inv_sqrtpi * half_sqrt2;
  return differentiable("gelu", raw::map(Unary::gelu, "gelu", x),
                        wrt(x, [x = save(x)](const Tensor& dy) {
                          const Tensor& v = x;
                          const Tensor Phi = 0.5 * (1 + erf(half_sqrt2 * v));
                          const Tensor phi = inv_sqrt_2pi * exp(-0.5 * square(v));
                          return dy * (Phi + v * phi);
                        }));
}

Tensor isnan(const Tensor& x) {
  NoGrad no_grad;
  return is_floating(x.dtype()) ? x != x : bools_of(x, false);
}

Tensor isinf(const Tensor& x) {
  NoGrad no_grad;
  return is_floating(x.dtype()) ? abs(x) == std::numeric_limits<double>::infinity()
                                : bools_of(x, false);
}

Tensor isfinite(const Tensor& x) {
  NoGrad no_grad;
  return is_floating(x.dtype()) ? raw::map(Unary::is_finite, "isfinite", x) : bools_of(x, true);
}

}  // namespace labgrad
