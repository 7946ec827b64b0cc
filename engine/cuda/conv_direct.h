#pragma once
// Convolutions as plain sums, a thread for each result: for groups of few channels or filters, as
// in a depthwise convolution, which has one of each. A tile of a product would be all but empty.

#include <cstdint>

#include "engine/cpu/threads.h"
#include "engine/cuda/platform.h"
#include "engine/naive/formulas.h"

namespace labgrad::direct {

// An array (N, C, H, W) without its dtype: sizes and strides.
struct Image {
  explicit Image(const Array& a) {
    for (int d = 0; d < 4; ++d) {
      size[d] = a.shape[d];
      stride[d] = a.strides[d];
    }
  }
  __device__ std::int64_t offset(std::int64_t n, std::int64_t c, std::int64_t h,
                                 std::int64_t w) const {
    return n * stride[0] + c * stride[1] + h * stride[2] + w * stride[3];
  }

  std::int64_t size[4], stride[4];
};

// The i-th pixel (n, c, h, w), as they lie side by side in memory: channels or columns first.
struct Pixel {
  __device__ Pixel(const Image& a, std::int64_t i) {
    const bool channels_last = a.stride[1] == 1;
    if (channels_last) {
      c = i % a.size[1];
      i /= a.size[1];
    }
    w = i % a.size[3];
    h = i / a.size[3] % a.size[2];
    i /= a.size[3] * a.size[2];
    if (!channels_last) {
      c = i % a.size[1];
      i /= a.size[1];
    }
    n = i;
  }
  std::int64_t n, c, h, w;
};

// y_noij = Σ_abc x_nchw w_ocab,  h = i s - top + a d, w = j s - left + b d
template <class T>
__global__ void convolve_kernel(Memory<T> y, Image of_y, Memory<const T> x, Image of_x,
                                Memory<const T> w, Image of_w, Convolution v, std::int64_t n) {
  const std::int64_t filters = of_w.size[0] / v.groups, channels = of_w.size[1];
  for (std::int64_t index = first_index(); index < n; index += index_step()) {
    const Pixel p(of_y, index);
    T sum = 0;
    for (std::int64_t a = 0; a < of_w.size[2]; ++a) {
      const std::int64_t h = p.h * v.stride.h - v.top + a * v.dilation.h;
      if (h < 0 || h >= of_x.size[2]) continue;
      for (std::int64_t b = 0; b < of_w.size[3]; ++b) {
        const std::int64_t k = p.w * v.stride.w - v.left + b * v.dilation.w;
        if (k < 0 || k >= of_x.size[3]) continue;
        for (std::int64_t c = 0; c < channels; ++c)
          sum += x[of_x.offset(p.n, p.c / filters * channels + c, h, k)] *
                 w[of_w.offset(p.c, c, a, b)];
      }
    }
    y[of_y.offset(p.n, p.c, p.h, p.w)] = sum;
  }
}

// dx_nchw = Σ_abo dy_noij w_ocab over the i, j with h = i s - top + a d, w = j s - left + b d
template <class T>
__global__ void convolve_back_kernel(Memory<T> dx, Image of_x, Memory<const T> dy, Image of_y,
                                     Memory<const T> w, Image of_w, Convolution v, std::int64_t n) {
  const std::int64_t filters = of_w.size[0] / v.groups, channels = of_w.size[1];
  for (std::int64_t index = first_index(); index < n; index += index_step()) {
    const Pixel p(of_x, index);
    const std::int64_t first = p.c / channels * filters;
    T sum = 0;
    for (std::int64_t a = 0; a < of_w.size[2]; ++a) {
      const std::int64_t h = p.h + v.top - a * v.dilation.h;
      if (h < 0 || h % v.stride.h != 0 || h / v.stride.h >= of_y.size[2]) continue;
      for (std::int64_t b = 0; b < of_w.size[3]; ++b) {
        const std::int64_t k = p.w + v.left - b * v.dilation.w;
        if (k < 0 || k % v.stride.w != 0 || k / v.stride.w >= of_y.size[3]) continue;
        for (std::int64_t o = first; o < first + filters; ++o)
          sum += dy[of_y.offset(p.n, o, h / v.stride.h, k / v.stride.w)] *
                 w[of_w.offset(o, p.c % channels, a, b)];
      }
    }
    dx[of_x.offset(p.n, p.c, p.h, p.w)] = sum;
  }
}

// dw_ocab = Σ_nij dy_noij x_nchw. A block takes 32 weights, side by side those of neighbouring
// filters, and 8 workers for each of them, of which each takes every 8th pixel.
inline constexpr int weights = 32, workers = 8;

template <class T>
__global__ void correlate_kernel(Memory<T> dw, Image of_w, Memory<const T> x, Image of_x,
                                 Memory<const T> dy, Image of_y, Convolution v, std::int64_t n) {
  using Sum = naive::Wide<T>;
  shared_array(Sum, sums, workers, weights);
  const int weight = static_cast<int>(threadIdx.x) % weights;
  const int worker = static_cast<int>(threadIdx.x) / weights;
  const std::int64_t index = std::int64_t{blockIdx.x} * weights + weight;
  const std::int64_t filters = of_w.size[0], channels = of_w.size[1];
  const std::int64_t o = index % filters, c = index / filters % channels;
  const std::int64_t tap = index / filters / channels;
  const std::int64_t a = tap / of_w.size[3], b = tap % of_w.size[3];
  const std::int64_t from = o / (filters / v.groups) * channels + c;

  T sum = 0;
  const std::int64_t in_plane = of_y.size[2] * of_y.size[3];
  for (std::int64_t p = worker; index < n && p < of_y.size[0] * in_plane; p += workers) {
    const std::int64_t sample = p / in_plane, i = p % in_plane / of_y.size[3];
    const std::int64_t j = p % of_y.size[3];
    const std::int64_t h = i * v.stride.h - v.top + a * v.dilation.h;
    const std::int64_t k = j * v.stride.w - v.left + b * v.dilation.w;
    if (h < 0 || h >= of_x.size[2] || k < 0 || k >= of_x.size[3]) continue;
    sum += dy[of_y.offset(sample, o, i, j)] * x[of_x.offset(sample, from, h, k)];
  }
  sums(worker, weight) = Sum(sum);
  __syncthreads();
  if (worker > 0 || index >= n) return;
  Sum total = 0;
  for (int k = 0; k < workers; ++k) total += sums(k, weight);
  dw[of_w.offset(o, c, a, b)] = static_cast<T>(total);
}

template <class T>
void convolve(const Array& y, const Array& x, const Array& w, const Convolution& v) {
  const std::int64_t n = y.shape.numel();
  if (n == 0) return;
  launch("conv2d, direct", convolve_kernel<T>, grid_of(n), block_size, Memory<T>(y, "y"), Image(y),
         Memory<const T>(x, "x"), Image(x), Memory<const T>(w, "w"), Image(w), v, n);
}

template <class T>
void convolve_back(const Array& dx, const Array& dy, const Array& w, const Convolution& v) {
  const std::int64_t n = dx.shape.numel();
  if (n == 0) return;
  launch("conv2d_input_gradient, direct", convolve_back_kernel<T>, grid_of(n), block_size,
         Memory<T>(dx, "dx"), Image(dx), Memory<const T>(dy, "dy"), Image(dy),
         Memory<const T>(w, "w"), Image(w), v, n);
}

template <class T>
void correlate(const Array& dw, const Array& x, const Array& dy, const Convolution& v) {
  const std::int64_t n = dw.shape.numel();
  if (n == 0) return;
  launch("conv2d_weight_gradient, direct", correlate_kernel<T>,
         static_cast<unsigned>(divide_up(n, weights)), weights * workers, Memory<T>(dw, "dw"),
         Image(dw), Memory<const T>(x, "x"), Image(x), Memory<const T>(dy, "dy"), Image(dy), v, n);
}

}  // namespace labgrad::direct
