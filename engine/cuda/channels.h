#pragma once
// Sums over the elements of each channel, and normalisation by them. Sums have two stages: the
// elements of a channel are divided into chunks, a block sums one chunk, and a second kernel folds
// the chunks. How many there are follows from sizes and strides alone.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "engine/cuda/layout.h"
#include "engine/cuda/warp.h"
#include "engine/cuda/workspace.h"
#include "engine/dtype.h"

namespace labgrad {

// The chunks of all channels: block (x, y) of a launch takes chunk y of the channels at x.
struct Chunks {
  std::int64_t channels, elements;  // of each channel
  std::int64_t count, size;         // chunks of a channel, elements of a chunk

  __device__ std::int64_t begin() const { return blockIdx.y * size; }
  __device__ std::int64_t end() const { return naive::smaller(begin() + size, elements); }
};

// How the threads of a block share channels and elements. A kernel is a template of one of the two:
//   const std::int64_t c = Share::channel();
//   if (c < chunks.channels)
//     for (i = chunks.begin() + Share::first(); i < chunks.end(); i += Share::step()) v = v + ...
//   v = Share::sum(v);
//   if (Share::writes() && c < chunks.channels) ...

// The elements of a channel lie side by side: neighbouring threads take neighbours of one channel.
struct OneChannel {
  static constexpr int channels = 1, threads = block_size;
  static __device__ std::int64_t channel() { return blockIdx.x; }
  static __device__ int first() { return thread_index(); }
  static __device__ int step() { return static_cast<int>(blockDim.x); }
  static __device__ bool writes() { return thread_index() == 0; }
  template <class T>
  static __device__ T sum(T v) {
    return block_sum(v);
  }
};

// The channels lie side by side: neighbouring lanes take neighbouring channels, and the warps of a
// block divide the elements.
struct LaneAChannel {
  static constexpr int channels = warp_lanes, threads = block_size / warp_lanes;
  static __device__ std::int64_t channel() {
    return std::int64_t{blockIdx.x} * warp_lanes + lane_index();
  }
  static __device__ int first() { return warp_index(); }
  static __device__ int step() { return warps_in_block(); }
  static __device__ bool writes() { return warp_index() == 0; }
  template <class T>
  static __device__ T sum(T v) {  // in the order of the warps; for those who write
    shared_array(T, of_warps, threads, warp_lanes);
    of_warps(warp_index(), lane_index()) = v;
    __syncthreads();
    if (writes())
      for (int w = 1; w < warps_in_block(); ++w) {
        const T of_warp = of_warps(w, lane_index());
        v = v + of_warp;
      }
    __syncthreads();  // before the next sum writes
    return v;
  }
};

// Calls f(Type<Share>{}, chunks, grid, block). `channel_step` and `element_step` tell how far apart
// channels and a channel's elements lie. A chunk gives each thread some elements, so that adding
// them outweighs folding; and there are no more chunks than it takes to fill a large GPU.
template <class F>
void share_channels(std::int64_t channels, std::int64_t elements, std::int64_t channel_step,
                    std::int64_t element_step, F f) {
  if (channels == 0) return;
  const auto share = [&](auto type) {
    using Share = typename decltype(type)::type;
    constexpr std::int64_t full = 1024, some = 8;
    const std::int64_t blocks = (channels + Share::channels - 1) / Share::channels;
    const std::int64_t count = std::clamp<std::int64_t>(elements / (some * Share::threads), 1,
                                                        std::max<std::int64_t>(1, full / blocks));
    const Chunks chunks{channels, elements, count, (elements + count - 1) / count};
    f(type, chunks, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(count)),
      threads_of(chunks.size * Share::channels));
  };
  if (channels > 1 && std::abs(channel_step) < std::abs(element_step))
    share(Type<LaneAChannel>{});
  else
    share(Type<OneChannel>{});
}

// The second stage, for blocks with a lane for each column of `partial` (chunks, columns): the sum
// over the chunks, for LaneAChannel::writes().
__device__ inline double fold_chunks(Memory<const double> partial, std::int64_t chunks,
                                     std::int64_t columns, std::int64_t column) {
  double sum = 0;
  for (std::int64_t k = LaneAChannel::first(); column < columns && k < chunks;
       k += LaneAChannel::step())
    sum += partial[k * columns + column];
  return LaneAChannel::sum(sum);
}
inline dim3 fold_grid(const Chunks& chunks) {
  return static_cast<unsigned>((chunks.channels + warp_lanes - 1) / warp_lanes);
}
inline unsigned fold_threads(const Chunks& chunks) { return threads_of(chunks.count * warp_lanes); }

// The first stage's end: a block leaves its chunk's sums of g and g h side by side, those of g of
// all channels, then those of g h.
template <class Share>
__device__ void leave_sums(Memory<double> partial, Pair<double> sums, std::int64_t c,
                           const Chunks& chunks) {
  sums = Share::sum(sums);
  if (!Share::writes() || c >= chunks.channels) return;
  const std::int64_t at = blockIdx.y * 2 * chunks.channels + c;
  partial[at] = sums.first;
  partial[at + chunks.channels] = sums.second;
}

// db = Σ g,  dw = Σ g h,  of what leave_sums left
template <class T>
__global__ void fold_gradients_kernel(Memory<T> dw, Memory<T> db, Memory<const double> partial,
                                      Chunks chunks) {
  const std::int64_t c = LaneAChannel::channel(), channels = chunks.channels;
  const bool exists = c < channels;
  const std::int64_t columns = 2 * channels, none = columns;
  const double g = fold_chunks(partial, chunks.count, columns, exists ? c : none);
  const double gh = fold_chunks(partial, chunks.count, columns, exists ? channels + c : none);
  if (!LaneAChannel::writes() || !exists) return;
  db[c] = static_cast<T>(g);
  dw[c] = static_cast<T>(gh);
}

template <class T>
void fold_gradients(const Array& dw, const Array& db, const Workspace& partial,
                    const Chunks& chunks) {
  launch("fold_gradients", fold_gradients_kernel<T>, fold_grid(chunks), fold_threads(chunks),
         Memory<T>(dw, "dw"), Memory<T>(db, "db"), Memory<const double>(partial.array(), "partial"),
         chunks);
}

// The normalisation of channel c: h = (x - μ) r,  y = h w + b.
template <class T>
struct Normalise {
  T mu, r, w, b;

  __device__ T h(T x) const { return (x - mu) * r; }
  __device__ T operator()(T x) const { return h(x) * w + b; }
};
template <class T>
struct ChannelNorms {
  Memory<const T> mean, rstd, w, b;

  __device__ Normalise<T> operator[](std::int64_t c) const {
    return {mean[c], rstd[c], w ? w[c] : T(1), b ? b[c] : T(0)};
  }
};

template <class T>
ChannelNorms<T> channel_norms(const Array& mean, const Array& rstd, const Array& w,
                              const Array& b) {
  return {Memory<const T>(mean, "mean"), Memory<const T>(rstd, "rstd"), Memory<const T>(w, "w"),
          Memory<const T>(b, "b")};
}

// dx = w r (g - (db + h dw) / m), with the gradients of a channel
template <class T>
struct NormGradient {
  T db, dw, one_over_m;

  __device__ T operator()(const Normalise<T>& norm, T x, T g) const {
    return norm.w * norm.r * (g - (db + norm.h(x) * dw) * one_over_m);
  }
};

}  // namespace labgrad
