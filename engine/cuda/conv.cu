// Convolution and its two gradients. Each is one product in tiles for every group of channels
// (gemm_tile.h), whose operands are read from the images as they lie (patches.h): the sum over
//
//          rows     columns     terms      of the products
//   y      o        n, i, j     a, b, c    w_ocab · x_nchw
//   dx     c        n, h, w     a, b, o    w_ocab · dy_noij
//   dw     o        a, b, c     n, i, j    dy_noij · x_nchw
//
// with h = i s - top + a d, w = j s - left + b d. Few rows would leave a tile all but empty: for
// them conv_direct.h has the plain sums.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/cuda/conv_direct.h"
#include "engine/cuda/cuda.h"
#include "engine/cuda/patches.h"

namespace labgrad {

using tiled::Axis;
using tiled::Part;
using tiled::Patches;
using tiled::Sizes;

namespace {

// One side of a product: its rows or columns, as they lie in the result and in the operand, the
// operand's terms, and how far its groups are apart.
struct Side {
  const Array* operand;
  Axis in_result, in_operand, terms;
  std::int64_t group;
};

// `result` = rows · columns; its groups lie `group` apart.
template <class T>
void multiply(const char* name, const Array& result, std::int64_t group, std::int64_t groups,
              Side rows, Side columns) {
  // Neighbouring threads write neighbouring columns.
  if (rows.in_result.is_dense()) std::swap(rows, columns);
  Layout<3> batches;
  batches.numel = batches.size[0] = groups;
  batches.stride[0][0] = group;
  batches.stride[1][0] = rows.group;
  batches.stride[2][0] = columns.group;
  const Sizes size{rows.in_result.size(), columns.in_result.size(), rows.terms.size(), batches,
                   false};
  tiled::multiply<T>(
      name, size, Patches<T>(result, "result", rows.in_result, columns.in_result, group),
      Patches<const T>(*rows.operand, "operand a", rows.in_operand, rows.terms, rows.group),
      Patches<const T>(*columns.operand, "operand b", columns.in_operand, columns.terms,
                       columns.group));
}

// So few rows in each group that a tile of 32 would be three quarters empty: then the plain sums
// are no slower, although each of their multiply-adds loads both its operands.
bool is_narrow(std::int64_t rows) { return rows < 8; }

// Pixels (n, i, j) of y.
Axis pixels(const Array& y) {
  return {{y.shape[0], y.strides[0]}, {y.shape[2], y.strides[2]}, {y.shape[3], y.strides[3]}};
}

// The same as the places of x under the filter's first tap.
Axis patches(const Array& y, const Array& x, const Convolution& v) {
  const std::int64_t h = x.strides[2], w = x.strides[3];
  return {{y.shape[0], x.strides[0]},
          {y.shape[2], v.stride.h * h, v.stride.h},
          {y.shape[3], v.stride.w * w, 0, v.stride.w},
          {-v.top * h - v.left * w, static_cast<std::int32_t>(-v.top),
           static_cast<std::int32_t>(-v.left)}};
}

// Taps (a, b, c) in the filters, and as steps in x.
Axis taps(const Array& w) {
  return {{w.shape[2], w.strides[2]}, {w.shape[3], w.strides[3]}, {w.shape[1], w.strides[1]}};
}
Axis taps_in(const Array& x, const Array& w, const Convolution& v) {
  const Plane d = v.dilation;
  return {{w.shape[2], d.h * x.strides[2], d.h},
          {w.shape[3], d.w * x.strides[3], 0, d.w},
          {w.shape[1], x.strides[1]}};
}

// A number of channels or filters.
Axis line(std::int64_t size, std::int64_t stride) { return {{}, {}, {size, stride}}; }

// Every s-th row of dx, from `first` on, meets the same taps a of the filter, every a_step-th from
// a_first on, in dy's rows start, start + 1, ... for the first of them, and `back` before with each
// further tap: without a stride all rows and all taps. Likewise columns.
struct Phase {
  std::int64_t first, count, a_first, a_count, a_step, start, back;
};

Phase phase(std::int64_t first, std::int64_t size, std::int64_t kernel, std::int64_t stride,
            std::int64_t pad, std::int64_t dilation) {
  Phase p{first, divide_up(size - first, stride), 0, 0, 1, 0, 0};
  const auto meets = [&](std::int64_t a) { return (first + pad - a * dilation) % stride == 0; };
  while (p.a_first < kernel && !meets(p.a_first)) ++p.a_first;
  if (p.a_first == kernel) return p;
  while (p.a_step * dilation % stride != 0) ++p.a_step;
  p.a_count = divide_up(kernel - p.a_first, p.a_step);
  p.start = (first + pad - p.a_first * dilation) / stride;
  p.back = p.a_step * dilation / stride;
  return p;
}

template <class T>
void input_gradient(const Array& dx, const Array& dy, const Array& w, const Convolution& v,
                    const Phase& i, const Phase& j) {
  const std::int64_t filters = dy.shape[1] / v.groups, channels = w.shape[1];
  const std::int64_t to_h = dx.strides[2], to_w = dx.strides[3];
  const std::int64_t from_h = dy.strides[2], from_w = dy.strides[3];
  const Axis in_dx{{dx.shape[0], dx.strides[0]},
                   {i.count, v.stride.h * to_h},
                   {j.count, v.stride.w * to_w},
                   {i.first * to_h + j.first * to_w, 0, 0}};
  const Axis in_dy{{dx.shape[0], dy.strides[0]},
                   {i.count, from_h, 1},
                   {j.count, from_w, 0, 1},
                   {i.start * from_h + j.start * from_w, static_cast<std::int32_t>(i.start),
                    static_cast<std::int32_t>(j.start)}};
  const Axis of_dy{{i.a_count, -i.back * from_h, -i.back},
                   {j.a_count, -j.back * from_w, 0, -j.back},
                   {filters, dy.strides[1]}};
  const Axis of_w{{i.a_count, i.a_step * w.strides[2]},
                  {j.a_count, j.a_step * w.strides[3]},
                  {filters, w.strides[0]},
                  {i.a_first * w.strides[2] + j.a_first * w.strides[3], 0, 0}};
  multiply<T>("conv2d_input_gradient", dx, channels * dx.strides[1], v.groups,
              {&w, line(channels, dx.strides[1]), line(channels, w.strides[1]), of_w,
               filters * w.strides[0]},
              {&dy, in_dx, in_dy, of_dy, filters * dy.strides[1]});
}

}  // namespace

void Cuda::conv2d(const Array& y, const Array& x, const Array& w, const Convolution& v) const {
  dispatch_floating(y.dtype, "conv2d", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::int64_t filters = y.shape[1] / v.groups, channels = w.shape[1];
    if (is_narrow(filters)) return direct::convolve<T>(y, x, w, v);
    multiply<T>("conv2d", y, filters * y.strides[1], v.groups,
                {&w, line(filters, y.strides[1]), line(filters, w.strides[0]), taps(w),
                 filters * w.strides[0]},
                {&x, pixels(y), patches(y, x, v), taps_in(x, w, v), channels * x.strides[1]});
  });
}

void Cuda::conv2d_input_gradient(const Array& dx, const Array& dy, const Array& w,
                                 const Convolution& v) const {
  dispatch_floating(dx.dtype, "conv2d_input_gradient", [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (is_narrow(w.shape[1])) return direct::convolve_back<T>(dx, dy, w, v);
    for (std::int64_t h = 0; h < std::min(v.stride.h, dx.shape[2]); ++h)
      for (std::int64_t k = 0; k < std::min(v.stride.w, dx.shape[3]); ++k)
        input_gradient<T>(dx, dy, w, v,
                          phase(h, dx.shape[2], w.shape[2], v.stride.h, v.top, v.dilation.h),
                          phase(k, dx.shape[3], w.shape[3], v.stride.w, v.left, v.dilation.w));
  });
}

void Cuda::conv2d_weight_gradient(const Array& dw, const Array& x, const Array& dy,
                                  const Convolution& v) const {
  dispatch_floating(dw.dtype, "conv2d_weight_gradient", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::int64_t filters = dy.shape[1] / v.groups, channels = dw.shape[1];
    if (v.groups > 1 && is_narrow(std::min(filters, channels)))
      return direct::correlate<T>(dw, x, dy, v);
    multiply<T>("conv2d_weight_gradient", dw, filters * dw.strides[0], v.groups,
                {&dy, line(filters, dw.strides[0]), line(filters, dy.strides[1]), pixels(dy),
                 filters * dy.strides[1]},
                {&x, taps(dw), taps_in(x, dw, v), patches(dy, x, v), channels * x.strides[1]});
  });
}

}  // namespace labgrad
