// The largest and the mean of windows that move over planes. Each thread computes one element of
// the result and reads what it needs: an element of y its window, an element of dx the windows that
// contain it, in row-major order. So nothing is added by two threads, and sums have one order.

#include "engine/cuda/cuda.h"
#include "engine/cuda/images.h"
#include "engine/naive/formulas.h"

namespace labgrad {

using namespace naive;

namespace {

// How windows lie along one dimension of a plane.
struct Axis {
  std::int64_t kernel, stride, padding, dilation;
  std::int64_t size, windows;  // of the plane; how many there are

  // Where element a of window i lies; may be off the plane.
  __device__ std::int64_t place(std::int64_t i, std::int64_t a) const {
    return i * stride - padding + a * dilation;
  }
  __device__ bool on_plane(std::int64_t place) const { return place >= 0 && place < size; }

  // The first and last window that may contain a place: h = i stride - padding + a dilation for
  // some a in 0 .. kernel - 1.
  __device__ std::int64_t first(std::int64_t h) const {
    const std::int64_t least = h + padding - (kernel - 1) * dilation;
    return least <= 0 ? 0 : strides(least + stride - 1);
  }
  __device__ std::int64_t last(std::int64_t h) const {
    const std::int64_t i = strides(h + padding);
    return i < windows ? i : windows - 1;
  }
  // Does window i in first .. last have an element there, and not a gap?
  __device__ bool contains(std::int64_t i, std::int64_t h) const {
    return dilation == 1 || (h + padding - i * stride) % dilation == 0;
  }
  // How many there are in a length of the padded plane.
  __device__ std::int64_t strides(std::int64_t length) const {
    return quotient(length, stride, size + 2 * padding + stride);
  }

  // How many places from its first on window i has, with or without the padding.
  __device__ std::int64_t extent(std::int64_t i, bool count_padding) const {
    const std::int64_t begin = i * stride - padding, end = begin + kernel;
    if (count_padding) return smaller(end, size + padding) - begin;
    return smaller(end, size) - larger<std::int64_t>(begin, 0);
  }
};

struct Windows {
  Axis down, across;

  Windows(const Pooling& p, const Shape& plane, const Shape& windows)
      : down{p.kernel.h, p.stride.h, p.padding.h, p.dilation.h, plane[2], windows[2]},
        across{p.kernel.w, p.stride.w, p.padding.w, p.dilation.w, plane[3], windows[3]} {}

  __device__ std::int64_t divisor(std::int64_t i, std::int64_t j, bool count_padding) const {
    return down.extent(i, count_padding) * across.extent(j, count_padding);
  }
};

// y = max x over the window, and the place of the first x that is as large
template <class T>
__global__ void max_pool_kernel(Images<T> y, Images<std::int64_t> places, Images<const T> x,
                                Windows windows, Positions positions) {
  const Axis &down = windows.down, &across = windows.across;
  for (std::int64_t k = first_index(); k < positions.numel; k += index_step()) {
    const Position o = positions[k];
    T best{};
    std::int64_t place = -1;
    for (std::int64_t a = 0; a < down.kernel; ++a) {
      const std::int64_t h = down.place(o.i, a);
      if (!down.on_plane(h)) continue;
      for (std::int64_t b = 0; b < across.kernel; ++b) {
        const std::int64_t w = across.place(o.j, b);
        if (!across.on_plane(w)) continue;
        const T v = x(o.n, o.c, h, w);
        if (place >= 0 && !(v > best || (is_nan(v) && !is_nan(best)))) continue;
        best = v;
        place = h * across.size + w;
      }
    }
    y(o.n, o.c, o.i, o.j) = best;
    if (places) places(o.n, o.c, o.i, o.j) = place;
  }
}

// dx = Σ dy of the windows whose largest element this is
template <class T>
__global__ void max_pool_backward_kernel(Images<T> dx, Images<const T> dy,
                                         Images<const std::int64_t> places, Windows windows,
                                         Positions positions) {
  for (std::int64_t k = first_index(); k < positions.numel; k += index_step()) {
    const Position p = positions[k];
    const std::int64_t here = p.i * windows.across.size + p.j;
    T sum = 0;
    const std::int64_t top = windows.down.first(p.i), bottom = windows.down.last(p.i);
    const std::int64_t left = windows.across.first(p.j), right = windows.across.last(p.j);
    for (std::int64_t i = top; i <= bottom; ++i)
      for (std::int64_t j = left; j <= right; ++j)
        if (places(p.n, p.c, i, j) == here) sum += dy(p.n, p.c, i, j);
    dx(p.n, p.c, p.i, p.j) = sum;
  }
}

// y = Σ x / m over the window
template <class T>
__global__ void avg_pool_kernel(Images<T> y, Images<const T> x, Windows windows, bool count_padding,
                                Positions positions) {
  const Axis &down = windows.down, &across = windows.across;
  for (std::int64_t k = first_index(); k < positions.numel; k += index_step()) {
    const Position o = positions[k];
    Wide<T> sum = 0;
    for (std::int64_t a = 0; a < down.kernel; ++a) {
      const std::int64_t h = down.place(o.i, a);
      if (!down.on_plane(h)) continue;
      for (std::int64_t b = 0; b < across.kernel; ++b) {
        const std::int64_t w = across.place(o.j, b);
        if (across.on_plane(w)) sum += x(o.n, o.c, h, w);
      }
    }
    const auto m = static_cast<Wide<T>>(windows.divisor(o.i, o.j, count_padding));
    y(o.n, o.c, o.i, o.j) = static_cast<T>(sum / m);
  }
}

// dx = Σ dy / m over the windows that x lies in
template <class T>
__global__ void avg_pool_backward_kernel(Images<T> dx, Images<const T> dy, Windows windows,
                                         bool count_padding, Positions positions) {
  const Axis &down = windows.down, &across = windows.across;
  for (std::int64_t k = first_index(); k < positions.numel; k += index_step()) {
    const Position p = positions[k];
    T sum = 0;
    const std::int64_t top = down.first(p.i), bottom = down.last(p.i);
    const std::int64_t left = across.first(p.j), right = across.last(p.j);
    for (std::int64_t i = top; i <= bottom; ++i)
      for (std::int64_t j = left; j <= right; ++j)
        if (down.contains(i, p.i) && across.contains(j, p.j))
          sum += dy(p.n, p.c, i, j) / static_cast<T>(windows.divisor(i, j, count_padding));
    dx(p.n, p.c, p.i, p.j) = sum;
  }
}

}  // namespace

void Cuda::max_pool2d(const Array& y, const Array& indices, const Array& x,
                      const Pooling& p) const {
  const Positions positions(y.shape, x);
  if (positions.numel == 0) return;
  dispatch_floating(x.dtype, "max_pool2d", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const unsigned threads = threads_of(positions.numel);
    launch("max_pool2d", max_pool_kernel<T>, grid_of(positions.numel, threads), threads,
           Images<T>(y, "y"), Images<std::int64_t>(indices, "indices"), Images<const T>(x, "x"),
           Windows(p, x.shape, y.shape), positions);
  });
}

void Cuda::max_pool2d_backward(const Array& dx, const Array& dy, const Array& indices,
                               const Pooling& p) const {
  const Positions positions(dx.shape, dx);
  if (positions.numel == 0) return;
  dispatch_floating(dx.dtype, "max_pool2d_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const unsigned threads = threads_of(positions.numel);
    launch("max_pool2d_backward", max_pool_backward_kernel<T>, grid_of(positions.numel, threads),
           threads, Images<T>(dx, "dx"), Images<const T>(dy, "dy"),
           Images<const std::int64_t>(indices, "indices"), Windows(p, dx.shape, dy.shape),
           positions);
  });
}

void Cuda::avg_pool2d(const Array& y, const Array& x, const Pooling& p, bool count_padding) const {
  const Positions positions(y.shape, x);
  if (positions.numel == 0) return;
  dispatch_floating(x.dtype, "avg_pool2d", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const unsigned threads = threads_of(positions.numel);
    launch("avg_pool2d", avg_pool_kernel<T>, grid_of(positions.numel, threads), threads,
           Images<T>(y, "y"), Images<const T>(x, "x"), Windows(p, x.shape, y.shape), count_padding,
           positions);
  });
}

void Cuda::avg_pool2d_backward(const Array& dx, const Array& dy, const Pooling& p,
                               bool count_padding) const {
  const Positions positions(dx.shape, dx);
  if (positions.numel == 0) return;
  dispatch_floating(dx.dtype, "avg_pool2d_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const unsigned threads = threads_of(positions.numel);
    launch("avg_pool2d_backward", avg_pool_backward_kernel<T>, grid_of(positions.numel, threads),
           threads, Images<T>(dx, "dx"), Images<const T>(dy, "dy"), Windows(p, dx.shape, dy.shape),
           count_padding, positions);
  });
}

}  // namespace labgrad
