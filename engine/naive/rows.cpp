// Softmax along a dimension and layer normalisation over the last one.

#include <limits>
#include <vector>

#include "engine/naive/formulas.h"
#include "engine/naive/naive.h"
#include "engine/naive/walk.h"

namespace labgrad {

using namespace naive;

// With s = max x and z = Σ e^(x - s):  y = e^(x - s) / z,  or with log: y = (x - s) - log z
void Naive::softmax(const Array& y, const Array& x, int dim, bool log) const {
  const std::int64_t n = x.shape[dim], from = x.strides[dim], to = y.strides[dim];
  if (n == 0) return;
  dispatch_floating(x.dtype, "softmax", [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        without(x.shape, dim),
        [&](auto i, auto j) {
          T* o = y.as<T>() + i;
          const T* a = x.as<T>() + j;
          double shift = a[0], z = 0;
          for (std::int64_t k = 1; k < n; ++k) shift = larger(shift, double(a[k * from]));
          for (std::int64_t k = 0; k < n; ++k) z += std::exp(a[k * from] - shift);
          for (std::int64_t k = 0; k < n; ++k) {
            const double d = a[k * from] - shift;
            o[k * to] = static_cast<T>(log ? d - std::log(z) : std::exp(d) / z);
          }
        },
        y.strides, x.strides);
  });
}

// dx = y (dy - Σ dy y), or with log: dx = dy - e^y Σ dy
void Naive::softmax_backward(const Array& dx, const Array& y, const Array& dy, int dim,
                             bool log) const {
  const std::int64_t n = y.shape[dim];
  dispatch_floating(y.dtype, "softmax_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        without(y.shape, dim),
        [&](auto i, auto j, auto l) {
          T* o = dx.as<T>() + i;
          const T* a = y.as<T>() + j;
          const T* g = dy.as<T>() + l;
          double total = 0;
          for (std::int64_t k = 0; k < n; ++k) {
            const double gk = g[k * dy.strides[dim]];
            total += log ? gk : gk * a[k * y.strides[dim]];
          }
          for (std::int64_t k = 0; k < n; ++k) {
            const double gk = g[k * dy.strides[dim]], yk = a[k * y.strides[dim]];
            o[k * dx.strides[dim]] =
                static_cast<T>(log ? gk - std::exp(yk) * total : yk * (gk - total));
          }
        },
        dx.strides, y.strides, dy.strides);
  });
}

// z_0 = max x,  z_1 = log Σ e^(x - z_0)
void Naive::log_sum_exp(const Array& z, const Array& x, int dim) const {
  const std::int64_t n = x.shape[dim], from = x.strides[dim];
  dispatch_floating(x.dtype, "log_sum_exp", [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        without(x.shape, dim),
        [&](auto i, auto j) {
          const T* a = x.as<T>() + j;
          double shift = -std::numeric_limits<double>::infinity(), sum = 0;
          for (std::int64_t k = 0; k < n; ++k) shift = larger(shift, double(a[k * from]));
          z.as<T>()[i] = static_cast<T>(shift);
          if (!std::isinf(shift))  // inf - inf would be NaN
            for (std::int64_t k = 0; k < n; ++k) sum += std::exp(a[k * from] - shift);
          z.as<T>()[i + z.strides[dim]] = static_cast<T>(std::isinf(shift) ? 0 : std::log(sum));
        },
        z.strides, x.strides);
  });
}

// dx = s (e^((x - z_0) - z_1) - [k == target])
void Naive::cross_entropy_backward(const Array& dx, const Array& x, const Array& z,
                                   const Array& target, const Array& s, int dim) const {
  const std::int64_t n = x.shape[dim];
  dispatch_floating(x.dtype, "cross_entropy_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        without(x.shape, dim),
        [&](auto i, auto j, auto l, auto m, auto q) {
          const double scale = s.as<T>()[q];
          const double shift = z.as<T>()[l], log_sum = z.as<T>()[l + z.strides[dim]];
          const std::int64_t hit = target.as<std::int64_t>()[m];
          for (std::int64_t k = 0; k < n; ++k) {
            const double p = std::exp((x.as<T>()[j + k * x.strides[dim]] - shift) - log_sum);
            const double g = scale == 0 ? 0 : scale * (p - (k == hit ? 1 : 0));
            dx.as<T>()[i + k * dx.strides[dim]] = static_cast<T>(g);
          }
        },
        dx.strides, x.strides, z.strides, target.strides, s.strides);
  });
}

// μ = Σ x / n,  r = 1/sqrt(Σ (x - μ)² / n + eps),  y = (x - μ) r w + b
void Naive::layer_norm(const Array& y, const Array& mean, const Array& rstd, const Array& x,
                       const Array& w, const Array& b, double eps) const {
  const int last = x.shape.rank() - 1;
  const std::int64_t n = x.shape[last], from = x.strides[last], to = y.strides[last];
  dispatch_floating(x.dtype, "layer_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        without(x.shape, last),
        [&](auto i, auto j, auto l, auto m) {
          T* o = y.as<T>() + i;
          const T* a = x.as<T>() + j;
          double mu = 0, variance = 0;
          for (std::int64_t k = 0; k < n; ++k) mu += a[k * from];
          mu /= double(n);
          for (std::int64_t k = 0; k < n; ++k) variance += (a[k * from] - mu) * (a[k * from] - mu);
          const double r = 1 / std::sqrt(variance / double(n) + eps);
          for (std::int64_t k = 0; k < n; ++k) {
            const double wk = w.data ? w.as<T>()[k * w.strides[0]] : T(1);
            const double bk = b.data ? b.as<T>()[k * b.strides[0]] : T(0);
            o[k * to] = static_cast<T>((a[k * from] - mu) * r * wk + bk);
          }
          mean.as<T>()[l] = static_cast<T>(mu);
          rstd.as<T>()[m] = static_cast<T>(r);
        },
        y.strides, x.strides, mean.strides, rstd.strides);
  });
}

// g = dy w,  h = (x - μ) r:  dx = r (g - Σ g / n - h Σ g h / n),  dw = Σ dy h,  db = Σ dy
void Naive::layer_norm_backward(const Array& dx, const Array& dw, const Array& db, const Array& dy,
                                const Array& x, const Array& mean, const Array& rstd,
                                const Array& w) const {
  const int last = x.shape.rank() - 1;
  const std::int64_t n = x.shape[last];
  dispatch_floating(x.dtype, "layer_norm_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto columns = static_cast<std::size_t>(n);
    std::vector<double> sum(columns), product(columns);
    walk(
        without(x.shape, last),
        [&](auto i, auto d, auto j, auto l, auto m) {
          const double mu = mean.as<T>()[l], r = rstd.as<T>()[m];
          auto g = [&](std::int64_t k) {
            return double(dy.as<T>()[d + k * dy.strides[last]]) *
                   double(w.data ? w.as<T>()[k * w.strides[0]] : T(1));
          };
          auto h = [&](std::int64_t k) { return (x.as<T>()[j + k * x.strides[last]] - mu) * r; };
          for (std::int64_t k = 0; k < n; ++k) {
            const double gradient = dy.as<T>()[d + k * dy.strides[last]];
            sum[static_cast<std::size_t>(k)] += gradient;
            product[static_cast<std::size_t>(k)] += gradient * h(k);
          }
          if (!dx.data) return;
          double mean_g = 0, mean_gh = 0;
          for (std::int64_t k = 0; k < n; ++k) mean_g += g(k) / double(n);
          for (std::int64_t k = 0; k < n; ++k) mean_gh += g(k) * h(k) / double(n);
          for (std::int64_t k = 0; k < n; ++k)
            dx.as<T>()[i + k * dx.strides[last]] =
                static_cast<T>(r * (g(k) - mean_g - h(k) * mean_gh));
        },
        dx.data ? dx.strides : x.strides, dy.strides, x.strides, mean.strides, rstd.strides);
    for (std::size_t k = 0; dw.data && k < columns; ++k) {
      db.as<T>()[k] = static_cast<T>(sum[k]);
      dw.as<T>()[k] = static_cast<T>(product[k]);
    }
  });
}

}  // namespace labgrad
