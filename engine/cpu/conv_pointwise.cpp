#include "engine/cpu/conv_pointwise.h"

namespace labgrad::cpu {

namespace {

// Images (N, C, H, W) as matrices (N, H W, C).
std::optional<Array> pixels(const Array& images) {
  const Shape& s = images.shape;
  const Strides& step = images.strides;
  if (s[2] > 1 && s[3] > 1 && step[2] != s[3] * step[3]) return std::nullopt;
  Array matrices{images.data, images.dtype, {s[0], s[2] * s[3], s[1]}, {}};
  matrices.strides = {step[0], s[3] > 1 ? step[3] : step[2], step[1]};
  return matrices;
}

// The filters (O, C, 1, 1) as a matrix (C, O), or (O, C), that is there for each of N samples.
Array filters(const Array& w, std::int64_t samples, bool turned) {
  const int rows = turned ? 1 : 0, columns = turned ? 0 : 1;
  Array matrix{w.data, w.dtype, {samples, w.shape[rows], w.shape[columns]}, {}};
  matrix.strides = {0, w.strides[rows], w.strides[columns]};
  return matrix;
}

bool is_pointwise(const Array& y, const Array& x, const Array& w, const Convolution& v) {
  return w.shape[2] == 1 && w.shape[3] == 1 && v.groups == 1 && v.stride == Plane(1) &&
         v.top == 0 && v.left == 0 && y.shape[2] == x.shape[2] && y.shape[3] == x.shape[3];
}

std::optional<PixelProduct> product(const Array& c, const Array& a, const Array& w, bool turned) {
  const std::optional<Array> to = pixels(c), from = pixels(a);
  if (!to || !from) return std::nullopt;
  return PixelProduct{*to, *from, filters(w, c.shape[0], turned)};
}

}  // namespace

std::optional<PixelProduct> pointwise(const Array& y, const Array& x, const Array& w,
                                      const Convolution& v) {
  if (!is_pointwise(y, x, w, v)) return std::nullopt;
  return product(y, x, w, true);
}

std::optional<PixelProduct> pointwise_input_gradient(const Array& dx, const Array& dy,
                                                     const Array& w, const Convolution& v) {
  if (!is_pointwise(dy, dx, w, v)) return std::nullopt;
  return product(dx, dy, w, false);
}

}  // namespace labgrad::cpu
