// Statistics of channels, and normalisation by them.

#include "engine/naive/formulas.h"
#include "engine/naive/naive.h"
#include "engine/naive/walk.h"

namespace labgrad {

using namespace naive;

namespace {

// Calls f(i, j, ...) for the elements of channel c, with their offsets under each of the strides.
template <class F, class... S>
void walk_channel(const Shape& shape, std::int64_t c, F f, const S&... strides) {
  walk(
      without(shape, 1), [&](auto... i) { f((i + c * strides[1])...); }, strides...);
}

}  // namespace

// μ = Σ x / m,  σ² = Σ (x - μ)² / m
void Naive::channel_moments(const Array& mean, const Array& variance, const Array& x) const {
  const std::int64_t channels = x.shape[1];
  dispatch_floating(x.dtype, "channel_moments", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t c = 0; c < channels; ++c) {
      const double m = double(x.shape.numel() / channels);
      double mu = 0, squares = 0;
      walk_channel(
          x.shape, c, [&](auto i) { mu += x.as<T>()[i]; }, x.strides);
      mu /= m;
      walk_channel(
          x.shape, c, [&](auto i) { squares += (x.as<T>()[i] - mu) * (x.as<T>()[i] - mu); },
          x.strides);
      mean.as<T>()[c] = static_cast<T>(mu);
      variance.as<T>()[c] = static_cast<T>(squares / m);
    }
  });
}

// y = (x - μ) r w + b
void Naive::batch_norm(const Array& y, const Array& x, const Array& mean, const Array& rstd,
                       const Array& w, const Array& b) const {
  dispatch_floating(x.dtype, "batch_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t c = 0; c < x.shape[1]; ++c) {
      const double mu = mean.as<T>()[c], r = rstd.as<T>()[c];
      const double wc = w.data ? w.as<T>()[c] : T(1), bc = b.data ? b.as<T>()[c] : T(0);
      walk_channel(
          x.shape, c,
          [&](auto i, auto j) { y.as<T>()[i] = static_cast<T>((x.as<T>()[j] - mu) * r * wc + bc); },
          y.strides, x.strides);
    }
  });
}

// h = (x - μ) r:  db = Σ dy,  dw = Σ dy h,  dx = w r (dy - db / m - h dw / m)
void Naive::batch_norm_backward(const Array& dx, const Array& dw, const Array& db, const Array& dy,
                                const Array& x, const Array& mean, const Array& rstd,
                                const Array& w) const {
  const std::int64_t channels = x.shape[1];
  dispatch_floating(x.dtype, "batch_norm_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t c = 0; c < channels; ++c) {
      const double mu = mean.as<T>()[c], r = rstd.as<T>()[c], wc = w.data ? w.as<T>()[c] : T(1);
      const double m = double(x.shape.numel() / channels);
      double sum = 0, sum_h = 0;
      walk_channel(
          x.shape, c,
          [&](auto i, auto j) {
            sum += dy.as<T>()[i];
            sum_h += dy.as<T>()[i] * (x.as<T>()[j] - mu) * r;
          },
          dy.strides, x.strides);
      db.as<T>()[c] = static_cast<T>(sum);
      dw.as<T>()[c] = static_cast<T>(sum_h);
      if (!dx.data) continue;
      walk_channel(
          x.shape, c,
          [&](auto k, auto i, auto j) {
            const double h = (x.as<T>()[j] - mu) * r;
            dx.as<T>()[k] = static_cast<T>(wc * r * (dy.as<T>()[i] - sum / m - h * sum_h / m));
          },
          dx.strides, dy.strides, x.strides);
    }
  });
}

}  // namespace labgrad
