// Convolution (strictly, cross-correlation) of planes with filters, and its two gradients.

#include <vector>

#include "engine/naive/formulas.h"
#include "engine/naive/naive.h"

namespace labgrad {

using namespace naive;

namespace {

template <class T>
T& at(const Array& a, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
  return a.as<T>()[n * a.strides[0] + c * a.strides[1] + h * a.strides[2] + w * a.strides[3]];
}

// Calls f(n, o, c, h, w, i, j, a, b) for every product of the sum: element (n, o, i, j) of the
// result, of the group's channel c, (h, w) in the plane and (a, b) in the filter.
template <class F>
void each_product(const Shape& y, const Shape& x, const Shape& w, const Convolution& v, F f) {
  const std::int64_t filters = y[1] / v.groups, channels = w[1];
  for (std::int64_t n = 0; n < y[0]; ++n)
    for (std::int64_t o = 0; o < y[1]; ++o)
      for (std::int64_t i = 0; i < y[2]; ++i)
        for (std::int64_t j = 0; j < y[3]; ++j)
          for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t a = 0; a < w[2]; ++a)
              for (std::int64_t b = 0; b < w[3]; ++b) {
                const std::int64_t row = i * v.stride.h - v.top + a * v.dilation.h;
                const std::int64_t column = j * v.stride.w - v.left + b * v.dilation.w;
                if (row < 0 || row >= x[2] || column < 0 || column >= x[3]) continue;
                f(n, o, o / filters * channels + c, row, column, i, j, c, a, b);
              }
}

// An array's sums in the wide type, written back in the end.
template <class T>
class Sums {
 public:
  explicit Sums(const Array& a)
      : to_(a), sums_(static_cast<std::size_t>(a.shape.numel()), Wide<T>(0)) {}
  Wide<T>& operator()(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    const Shape& s = to_.shape;
    return sums_[static_cast<std::size_t>(((n * s[1] + c) * s[2] + h) * s[3] + w)];
  }
  void store() {
    std::size_t i = 0;
    for (std::int64_t n = 0; n < to_.shape[0]; ++n)
      for (std::int64_t c = 0; c < to_.shape[1]; ++c)
        for (std::int64_t h = 0; h < to_.shape[2]; ++h)
          for (std::int64_t w = 0; w < to_.shape[3]; ++w)
            at<T>(to_, n, c, h, w) = static_cast<T>(sums_[i++]);
  }

 private:
  const Array& to_;
  std::vector<Wide<T>> sums_;
};

}  // namespace

// y_noij = Σ_cab x_nchw w_ocab
void Naive::conv2d(const Array& y, const Array& x, const Array& w, const Convolution& v) const {
  dispatch_floating(y.dtype, "conv2d", [&](auto tag) {
    using T = typename decltype(tag)::type;
    Sums<T> sum(y);
    each_product(
        y.shape, x.shape, w.shape, v,
        [&](auto n, auto o, auto from, auto h, auto k, auto i, auto j, auto c, auto a, auto b) {
          sum(n, o, i, j) += Wide<T>(at<T>(x, n, from, h, k)) * Wide<T>(at<T>(w, o, c, a, b));
        });
    sum.store();
  });
}

// dx_nchw = Σ dy_noij w_ocab over the products in which x_nchw takes part
void Naive::conv2d_input_gradient(const Array& dx, const Array& dy, const Array& w,
                                  const Convolution& v) const {
  dispatch_floating(dx.dtype, "conv2d_input_gradient", [&](auto tag) {
    using T = typename decltype(tag)::type;
    Sums<T> sum(dx);
    each_product(
        dy.shape, dx.shape, w.shape, v,
        [&](auto n, auto o, auto from, auto h, auto k, auto i, auto j, auto c, auto a, auto b) {
          sum(n, from, h, k) += Wide<T>(at<T>(dy, n, o, i, j)) * Wide<T>(at<T>(w, o, c, a, b));
        });
    sum.store();
  });
}

// dw_ocab = Σ dy_noij x_nchw over the products in which w_ocab takes part
void Naive::conv2d_weight_gradient(const Array& dw, const Array& x, const Array& dy,
                                   const Convolution& v) const {
  dispatch_floating(dw.dtype, "conv2d_weight_gradient", [&](auto tag) {
    using T = typename decltype(tag)::type;
    Sums<T> sum(dw);
    each_product(
        dy.shape, x.shape, dw.shape, v,
        [&](auto n, auto o, auto from, auto h, auto k, auto i, auto j, auto c, auto a, auto b) {
          sum(o, c, a, b) += Wide<T>(at<T>(dy, n, o, i, j)) * Wide<T>(at<T>(x, n, from, h, k));
        });
    sum.store();
  });
}

}  // namespace labgrad
