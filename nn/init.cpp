#include "nn/init.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace labgrad::nn {
namespace {

struct Fans {
  double in, out;
};

Fans fans(const Tensor& w, const char* name) {
  if (w.rank() < 2)
    fail(std::string(name) +
         ": needs at least 2 dimensions to tell inputs from outputs, got shape " + w.shape().str());
  std::int64_t field = 1;
  for (int d = 2; d < w.rank(); ++d) field *= w.shape()[d];
  return {static_cast<double>(w.shape()[1] * field), static_cast<double>(w.shape()[0] * field)};
}

// The inverse of erf by two Newton steps from Giles' single-precision approximation would do; the
// start here is the plainer one of Winitzki (2008), and Newton's steps are repeated until they
// rest.
double inverse_erf(double y) {
  if (y <= -1) return -HUGE_VAL;
  if (y >= 1) return HUGE_VAL;
  constexpr double a = 0.147;
  const double l = std::log(1 - y * y);
  const double t = 2 / (std::numbers::pi * a) + l / 2;
  double x = std::copysign(std::sqrt(std::sqrt(t * t - l / a) - t), y);
  for (int i = 0; i < 8; ++i) {
    // erf'(x) = 2/√π e^(-x²)
    const double step = (std::erf(x) - y) / (2 * std::numbers::inv_sqrtpi * std::exp(-x * x));
    x -= step;
    if (std::abs(step) <= 1e-16 * std::abs(x)) break;
  }
  return x;
}

}  // namespace

// The order of the operations is PyTorch's, to the last bit of the bound.
void kaiming_uniform_(Tensor& w, double a, Generator& g) {
  if (w.numel() == 0) return;
  NoGrad no_grad;
  const double gain = std::sqrt(2.0 / (1 + a * a));
  const double std = gain / std::sqrt(fans(w, "kaiming_uniform_").in);
  const double bound = std::sqrt(3.0) * std;
  uniform_(w, -bound, bound, g);
}

void kaiming_normal_(Tensor& w, Fan fan, Generator& g) {
  if (w.numel() == 0) return;
  NoGrad no_grad;
  const Fans f = fans(w, "kaiming_normal_");
  normal_(w, 0, std::sqrt(2.0) / std::sqrt(fan == Fan::in ? f.in : f.out), g);
}

void xavier_uniform_(Tensor& w, double gain, Generator& g) {
  if (w.numel() == 0) return;
  NoGrad no_grad;
  const auto [in, out] = fans(w, "xavier_uniform_");
  const double std = gain * std::sqrt(2.0 / (in + out));
  const double bound = std::sqrt(3.0) * std;
  uniform_(w, -bound, bound, g);
}

void xavier_normal_(Tensor& w, double gain, Generator& g) {
  if (w.numel() == 0) return;
  NoGrad no_grad;
  const auto [in, out] = fans(w, "xavier_normal_");
  normal_(w, 0, gain * std::sqrt(2.0 / (in + out)), g);
}

void trunc_normal_(Tensor& w, double mean, double std, double low, double high, Generator& g) {
  // F(x) = (1 + erf(x/√2))/2 is the normal distribution function; with u uniform in F(low) ..
  // F(high), F⁻¹(u) is normal and lies in low .. high.
  auto F = [](double x) { return (1 + std::erf(x / std::numbers::sqrt2)) / 2; };
  const double from = 2 * F((low - mean) / std) - 1;
  const double to = 2 * F((high - mean) / std) - 1;
  NoGrad no_grad;
  Tensor u = empty(w.shape(), w.dtype(), Device::cpu);
  uniform_(u, from, to, g);
  dispatch_floating(w.dtype(), "trunc_normal_", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T& x : u.writable_span<T>()) {
      const double z = inverse_erf(x) * std * std::numbers::sqrt2 + mean;
      x = static_cast<T>(std::clamp(z, low, high));
    }
  });
  w.copy_(u);
}

Tensor uniform_parameter(const Shape& shape, std::int64_t fan_in, Generator& g, DType dtype) {
  Tensor w = empty(shape, dtype, default_device());
  const double bound = fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
  NoGrad no_grad;
  uniform_(w, -bound, bound, g);
  return w.requires_grad_();
}

}  // namespace labgrad::nn
