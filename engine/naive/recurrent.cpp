// One step of a GRU.

#include <cmath>

#include "engine/naive/formulas.h"
#include "engine/naive/naive.h"
#include "engine/naive/walk.h"

namespace labgrad {

namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// Element (i, k) of gate g, of arrays in which the gates lie side by side, H wide.
template <class T>
T& gate(const Array& a, std::int64_t g, std::int64_t i, std::int64_t k, std::int64_t H) {
  return a.as<T>()[i * a.strides[0] + (g * H + k) * a.strides[1]];
}
template <class T>
T& element(const Array& a, std::int64_t i, std::int64_t k) {
  return a.as<T>()[i * a.strides[0] + k * a.strides[1]];
}

}  // namespace

// r = σ(xs_r + u_r),  z = σ(xs_z + u_z),  n = tanh(xs_n + r u_n),  y = (1 - z) n + z h
void Naive::gru_step(const Array& y, const Array& gates, const Array& xs, const Array& u,
                     const Array& b, const Array& h, const Array& real) const {
  const std::int64_t B = y.shape[0], H = y.shape[1];
  dispatch_floating(y.dtype, "gru_step", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < B; ++i)
      for (std::int64_t k = 0; k < H; ++k) {
        auto bias = [&](std::int64_t g) {
          return b.data ? double(b.as<T>()[(g * H + k) * b.strides[0]]) : 0.0;
        };
        auto share = [&](std::int64_t g) { return gate<T>(u, g, i, k, H) + bias(g); };
        const double before = element<T>(h, i, k);
        double r = 0, z = 1, n = 0, un = 0, after = before;
        if (!real.data || real.as<bool>()[i * real.strides[0]]) {
          un = share(2);
          r = logistic(gate<T>(xs, 0, i, k, H) + share(0));
          z = logistic(gate<T>(xs, 1, i, k, H) + share(1));
          n = std::tanh(gate<T>(xs, 2, i, k, H) + r * un);
          after = (1 - z) * n + z * before;
        }
        element<T>(y, i, k) = static_cast<T>(after);
        if (!gates.data) continue;
        const double all[] = {r, z, n, un};
        for (std::int64_t g = 0; g < 4; ++g) gate<T>(gates, g, i, k, H) = static_cast<T>(all[g]);
      }
  });
}

// g = dy + dh:  d_n = g (1 - z) (1 - n²),  d_z = g (h - n) z (1 - z),  d_r = d_n u_n r (1 - r)
void Naive::gru_step_backward(const Array& dxs, const Array& du, const Array& dh, const Array& dy,
                              const Array& gates, const Array& h) const {
  const std::int64_t B = dy.shape[0], H = dy.shape[1];
  dispatch_floating(dy.dtype, "gru_step_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < B; ++i)
      for (std::int64_t k = 0; k < H; ++k) {
        const double r = gate<T>(gates, 0, i, k, H), z = gate<T>(gates, 1, i, k, H);
        const double n = gate<T>(gates, 2, i, k, H), un = gate<T>(gates, 3, i, k, H);
        const double g = double(element<T>(dy, i, k)) + element<T>(dh, i, k);
        const double d_n = g * (1 - z) * (1 - n * n);
        const double d_z = g * (element<T>(h, i, k) - n) * z * (1 - z);
        const double d_r = d_n * un * r * (1 - r);
        const double of_x[] = {d_r, d_z, d_n}, of_u[] = {d_r, d_z, d_n * r};
        for (std::int64_t j = 0; j < 3; ++j) {
          gate<T>(dxs, j, i, k, H) = static_cast<T>(of_x[j]);
          gate<T>(du, j, i, k, H) = static_cast<T>(of_u[j]);
        }
        element<T>(dh, i, k) = static_cast<T>(g * z);
      }
  });
}

}  // namespace labgrad
