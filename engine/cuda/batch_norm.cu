// Statistics of channels, and normalisation by them.

#include "engine/cuda/centre.h"
#include "engine/cuda/channels.h"
#include "engine/cuda/cuda.h"
#include "engine/naive/formulas.h"
#include "engine/naive/walk.h"

namespace labgrad {

using namespace naive;

namespace {

// Σ x over the chunks of each channel or, given μ, Σ (x - μ)²; elements: of one channel.
template <class Share, class T>
__global__ void moments_kernel(Memory<double> partial, Memory<const T> x, Memory<const double> mean,
                               Layout<1> elements, std::int64_t channel_step, Chunks chunks) {
  const std::int64_t c = Share::channel();
  double sum = 0;
  if (c < chunks.channels) {
    const Centre<T> centred(mean ? mean[c] : 0.0);
    for (std::int64_t i = chunks.begin() + Share::first(); i < chunks.end(); i += Share::step()) {
      const T v = x[c * channel_step + elements[i].at[0]];
      const double d = mean ? centred(v) : v;
      sum += mean ? d * d : d;
    }
  }
  sum = Share::sum(sum);
  if (Share::writes() && c < chunks.channels) partial[blockIdx.y * chunks.channels + c] = sum;
}

// The sum of a channel's chunks divided by the count, rounded and as it is
template <class T>
__global__ void mean_kernel(Memory<T> mean, Memory<double> exact, Memory<const double> partial,
                            Chunks chunks) {
  const std::int64_t c = LaneAChannel::channel();
  const double sum = fold_chunks(partial, chunks.count, chunks.channels, c);
  if (!LaneAChannel::writes() || c >= chunks.channels) return;
  const double v = sum / static_cast<double>(chunks.elements);
  mean[c] = static_cast<T>(v);
  exact[c] = v;
}

// y = (x - μ) r w + b.  Elementwise: the third layout gives the channel.
template <class T>
__global__ void batch_norm_kernel(Memory<T> y, Memory<const T> x, ChannelNorms<T> norms,
                                  Layout<3> layout) {
  for (std::int64_t i = first_index(); i < layout.numel; i += index_step()) {
    const Offsets<3> o = layout[i];
    y[o.at[0]] = norms[o.at[2]](x[o.at[1]]);
  }
}

// Σ dy and Σ dy h over the chunks of each channel; elements: of one channel, in x and in dy.
template <class Share, class T>
__global__ void gradient_sums_kernel(Memory<double> partial, Memory<const T> dy, Memory<const T> x,
                                     ChannelNorms<T> norms, Layout<2> elements, std::int64_t x_step,
                                     std::int64_t dy_step, Chunks chunks) {
  const std::int64_t c = Share::channel();
  Pair<double> sums{0, 0};
  if (c < chunks.channels) {
    const Normalise<T> norm = norms[c];
    for (std::int64_t i = chunks.begin() + Share::first(); i < chunks.end(); i += Share::step()) {
      const Offsets<2> o = elements[i];
      const double g = dy[c * dy_step + o.at[1]], h = norm.h(x[c * x_step + o.at[0]]);
      sums = sums + Pair<double>{g, g * h};
    }
  }
  leave_sums<Share>(partial, sums, c, chunks);
}

// dx = w r (dy - db / m - h dw / m),  elementwise
template <class T>
__global__ void batch_norm_backward_kernel(Memory<T> dx, Memory<const T> dy, Memory<const T> x,
                                           Memory<const T> dw, Memory<const T> db,
                                           ChannelNorms<T> norms, Layout<4> layout, T one_over_m) {
  for (std::int64_t i = first_index(); i < layout.numel; i += index_step()) {
    const Offsets<4> o = layout[i];
    const std::int64_t c = o.at[3];
    const NormGradient<T> gradient{db[c], dw[c], one_over_m};
    dx[o.at[0]] = gradient(norms[c], x[o.at[2]], dy[o.at[1]]);
  }
}

// The elements of one channel; all elements as if each were its channel's number.
Array first_channel(const Array& x) { return {x.data, x.dtype, without(x.shape, 1), x.strides}; }
Array channel_numbers(const Array& x, const Array& of_channels) {
  Array a{of_channels.data, x.dtype, x.shape, Strides::filled(x.shape.rank(), 0)};
  a.strides[1] = 1;
  return a;
}

}  // namespace

// μ = Σ x / m,  σ² = Σ (x - μ)² / m:  two passes over x, so that a large mean costs σ² no digits.
void Cuda::channel_moments(const Array& mean, const Array& variance, const Array& x) const {
  const Array one = first_channel(x);
  const Layout<1> elements = any_order({&one});
  const std::int64_t step = x.strides[1];
  dispatch_floating(x.dtype, "channel_moments", [&](auto tag) {
    using T = typename decltype(tag)::type;
    share_channels(
        x.shape[1], elements.numel, step, elements.stride[0][elements.rank - 1],
        [&](auto type, const Chunks& chunks, dim3 grid, unsigned threads) {
          using Share = typename decltype(type)::type;
          const Workspace sums({chunks.count, chunks.channels}, f64), exact({chunks.channels}, f64);
          const Memory<double> partial(sums.array(), "partial"), mu(exact.array(), "exact");
          const Memory<const T> a(x, "x");
          const auto pass = [&](const Array& result, const Memory<const double>& centre) {
            launch("moments", moments_kernel<Share, T>, grid, threads, partial, a, centre, elements,
                   step, chunks);
            launch("mean", mean_kernel<T>, fold_grid(chunks), fold_threads(chunks),
                   Memory<T>(result, "mean"), mu, Memory<const double>(sums.array(), "partial"),
                   chunks);
          };
          pass(mean, {});
          pass(variance, Memory<const double>(exact.array(), "exact"));
        });
  });
}

void Cuda::batch_norm(const Array& y, const Array& x, const Array& mean, const Array& rstd,
                      const Array& w, const Array& b) const {
  const Array channels = channel_numbers(x, mean);
  const Layout<3> layout = any_order({&y, &x, &channels});
  if (layout.numel == 0) return;
  dispatch_floating(x.dtype, "batch_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const unsigned threads = threads_of(layout.numel);
    launch("batch_norm", batch_norm_kernel<T>, grid_of(layout.numel, threads), threads,
           Memory<T>(y, "y"), Memory<const T>(x, "x"), channel_norms<T>(mean, rstd, w, b), layout);
  });
}

void Cuda::batch_norm_backward(const Array& dx, const Array& dw, const Array& db, const Array& dy,
                               const Array& x, const Array& mean, const Array& rstd,
                               const Array& w) const {
  const Array x1 = first_channel(x), dy1 = first_channel(dy);
  const Layout<2> elements = any_order({&x1, &dy1});
  dispatch_floating(x.dtype, "batch_norm_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Memory<const T> in(x, "x"), out(dy, "dy");
    const ChannelNorms<T> norms = channel_norms<T>(mean, rstd, w, {});
    share_channels(x.shape[1], elements.numel, x.strides[1], elements.stride[0][elements.rank - 1],
                   [&](auto type, const Chunks& chunks, dim3 grid, unsigned threads) {
                     using Share = typename decltype(type)::type;
                     const Workspace sums({chunks.count, 2 * chunks.channels}, f64);
                     launch("gradient_sums", gradient_sums_kernel<Share, T>, grid, threads,
                            Memory<double>(sums.array(), "partial"), out, in, norms, elements,
                            x.strides[1], dy.strides[1], chunks);
                     fold_gradients<T>(dw, db, sums, chunks);
                   });
    const std::int64_t numel = x.shape.numel();
    if (!dx.data || numel == 0) return;
    const Array channels = channel_numbers(x, mean);
    const unsigned threads = threads_of(numel);
    launch("batch_norm_backward", batch_norm_backward_kernel<T>, grid_of(numel, threads), threads,
           Memory<T>(dx, "dx"), out, in, Memory<const T>(dw, "dw"), Memory<const T>(db, "db"),
           norms, any_order({&dx, &dy, &x, &channels}),
           static_cast<T>(1.0 / static_cast<double>(elements.numel)));
  });
}

}  // namespace labgrad
