// Normalisation by channels, ReLU and max-pooling in one. What lies between x and y is computed
// anew by whoever needs it and never written: a window's few values cost less than their memory.

#include "engine/cuda/channels.h"
#include "engine/cuda/cuda.h"
#include "engine/cuda/images.h"
#include "engine/naive/formulas.h"

namespace labgrad {

using namespace naive;

namespace {

// Windows of height by width, side by side on a plane.
struct Tiling {
  std::int64_t height, width;  // of a window
  std::int64_t down, across;   // whole windows of the plane
};

// The place of a window's first largest z = (x - μ) r w + b, if that is above 0 or NaN.
template <class T>
struct Largest {
  T z = 0, x = 0;                      // 0 if none is above
  std::int64_t row = -1, column = -1;  // from the window's corner

  __device__ Largest(const Images<const T>& images, const Normalise<T>& norm, const Tiling& t,
                     const Position& window) {
    for (std::int64_t a = 0; a < t.height; ++a)
      for (std::int64_t b = 0; b < t.width; ++b) {
        const T v = images(window.n, window.c, window.i * t.height + a, window.j * t.width + b);
        const T candidate = norm(v);
        if (!(candidate > z || (is_nan(candidate) && !is_nan(z)))) continue;
        z = candidate;
        x = v;
        row = a;
        column = b;
      }
  }
  __device__ bool exists() const { return row >= 0; }
};

// y = max(z over the window, 0).  A thread for each window.
template <class T>
__global__ void norm_relu_pool_kernel(Images<T> y, Images<const T> x, ChannelNorms<T> norms,
                                      Tiling tiling, Positions windows) {
  for (std::int64_t k = first_index(); k < windows.numel; k += index_step()) {
    const Position p = windows[k];
    y(p.n, p.c, p.i, p.j) = Largest<T>(x, norms[p.c], tiling, p).z;
  }
}

// Σ g and Σ g h over the chunks of each channel's windows, with g = dy at their largest elements
template <class Share, class T>
__global__ void pooled_sums_kernel(Memory<double> partial, Images<const T> dy, Images<const T> x,
                                   ChannelNorms<T> norms, Tiling tiling, Positions windows,
                                   Chunks chunks) {
  const std::int64_t c = Share::channel();
  Pair<double> sums{0, 0};
  if (c < chunks.channels) {
    const Normalise<T> norm = norms[c];
    for (std::int64_t i = chunks.begin() + Share::first(); i < chunks.end(); i += Share::step()) {
      const Position p = windows.of_channel(c, i);
      const Largest<T> largest(x, norm, tiling, p);
      if (!largest.exists()) continue;
      const double g = dy(p.n, c, p.i, p.j), h = norm.h(largest.x);
      sums = sums + Pair<double>{g, g * h};
    }
  }
  leave_sums<Share>(partial, sums, c, chunks);
}

// dx = w r (g - db / m - h dw / m),  or dx = w r g if not of_batch.  A thread for each window, and
// for each part of one at the plane's edge, where g = 0.
template <class T>
__global__ void norm_relu_pool_backward_kernel(Images<T> dx, Images<const T> dy, Images<const T> x,
                                               Memory<const T> dw, Memory<const T> db,
                                               ChannelNorms<T> norms, Tiling tiling,
                                               std::int64_t height, std::int64_t width,
                                               Positions parts, bool of_batch, T one_over_m) {
  for (std::int64_t k = first_index(); k < parts.numel; k += index_step()) {
    const Position p = parts[k];
    const Normalise<T> norm = norms[p.c];
    const NormGradient<T> gradient{db[p.c], dw[p.c], one_over_m};
    std::int64_t row = -1, column = -1;  // where g is not 0
    T dy_here = 0;
    if (p.i < tiling.down && p.j < tiling.across) {
      const Largest<T> largest(x, norm, tiling, p);
      if (largest.exists()) {
        row = p.i * tiling.height + largest.row;
        column = p.j * tiling.width + largest.column;
        dy_here = dy(p.n, p.c, p.i, p.j);
      }
    }
    const std::int64_t top = p.i * tiling.height, left = p.j * tiling.width;
    for (std::int64_t i = top; i < smaller(top + tiling.height, height); ++i)
      for (std::int64_t j = left; j < smaller(left + tiling.width, width); ++j) {
        const T g = i == row && j == column ? dy_here : T(0);
        dx(p.n, p.c, i, j) = of_batch ? gradient(norm, x(p.n, p.c, i, j), g) : norm.w * norm.r * g;
      }
  }
}

Tiling tiling_of(Plane window, const Shape& windows) {
  return {window.h, window.w, windows[2], windows[3]};
}

}  // namespace

void Cuda::norm_relu_pool(const Array& y, const Array& x, const Array& mean, const Array& rstd,
                          const Array& w, const Array& b, Plane window) const {
  const Positions windows(y.shape, x);
  if (windows.numel == 0) return;
  dispatch_floating(x.dtype, "norm_relu_pool", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const unsigned threads = threads_of(windows.numel);
    launch("norm_relu_pool", norm_relu_pool_kernel<T>, grid_of(windows.numel, threads), threads,
           Images<T>(y, "y"), Images<const T>(x, "x"), channel_norms<T>(mean, rstd, w, b),
           tiling_of(window, y.shape), windows);
  });
}

void Cuda::norm_relu_pool_backward(const Array& dx, const Array& dw, const Array& db,
                                   const Array& dy, const Array& x, const Array& mean,
                                   const Array& rstd, const Array& w, const Array& b, Plane window,
                                   bool of_batch) const {
  const Positions windows(dy.shape, x);
  const Tiling tiling = tiling_of(window, dy.shape);
  dispatch_floating(x.dtype, "norm_relu_pool_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Images<const T> in(x, "x"), out(dy, "dy");
    const ChannelNorms<T> norms = channel_norms<T>(mean, rstd, w, b);
    share_channels(x.shape[1], windows.of_channel(), x.strides[1], x.strides[3],
                   [&](auto type, const Chunks& chunks, dim3 grid, unsigned threads) {
                     using Share = typename decltype(type)::type;
                     const Workspace sums({chunks.count, 2 * chunks.channels}, f64);
                     launch("pooled_sums", pooled_sums_kernel<Share, T>, grid, threads,
                            Memory<double>(sums.array(), "partial"), out, in, norms, tiling,
                            windows, chunks);
                     fold_gradients<T>(dw, db, sums, chunks);
                   });
    const Shape& s = x.shape;
    const Positions parts(
        {s[0], s[1], (s[2] + window.h - 1) / window.h, (s[3] + window.w - 1) / window.w}, x);
    if (!dx.data || parts.numel == 0) return;
    const unsigned threads = threads_of(parts.numel);
    launch("norm_relu_pool_backward", norm_relu_pool_backward_kernel<T>,
           grid_of(parts.numel, threads), threads, Images<T>(dx, "dx"), out, in,
           Memory<const T>(dw, "dw"), Memory<const T>(db, "db"), norms, tiling, s[2], s[3], parts,
           of_batch, static_cast<T>(1.0 / static_cast<double>(s[0] * s[2] * s[3])));
  });
}

}  // namespace labgrad
