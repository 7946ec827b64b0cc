#pragma once
// What all convolution kernels start from: a strip of an image copied to a padded plane whose
// pixels hold their channels side by side. On it a filter row under an output pixel is one run of
// kernel.w * C numbers, and the next pixel's run begins stride.w * C further on: the micro-kernel
// reads patches where they lie, and no matrix of patches is ever made.

#include <algorithm>
#include <cstdint>

#include "engine/cpu/each_vector.h"
#include "engine/kernels.h"

namespace labgrad::cpu {

// Images in memory, by strides.
template <class T>
struct Images {
  T* data;
  std::int64_t sample, channel, row, column;

  explicit Images(const Array& a)
      : data(a.as<T>()),
        sample(a.strides[0]),
        channel(a.strides[1]),
        row(a.strides[2]),
        column(a.strides[3]) {}
  T* at(std::int64_t n, std::int64_t c, std::int64_t h) const {
    return data + n * sample + c * channel + h * row;
  }
};

// Filters of one group: element (a, b) of filter o for channel c.
template <class T>
struct Filters {
  const T* data;
  std::int64_t filter, channel, row, column;

  T at(std::int64_t o, std::int64_t c, std::int64_t a, std::int64_t b) const {
    return data[o * filter + c * channel + a * row + b * column];
  }
};

// Along one axis: result i meets position i stride - before + a dilation, a < kernel, of an input
// of n, whose elements lie `spread` apart with zeros between them (1 but for input gradients of
// strided convolutions).
struct Axis {
  std::int64_t result, kernel, stride, before, dilation, n, spread;

  // How many positions `count` neighbouring results meet.
  std::int64_t reach(std::int64_t count) const {
    return (count - 1) * stride + (kernel - 1) * dilation + 1;
  }
};

// A convolution of one group's C channels.
struct Slide {
  Axis h, w;
  std::int64_t channels;

  std::int64_t width() const { return w.reach(w.result); }  // of the plane, in pixels
  std::int64_t depth() const { return h.kernel * w.kernel * channels; }
  // Runs that a patch is made of: filter rows, or single pixels if they don't touch.
  std::int64_t run() const { return w.dilation == 1 ? w.kernel * channels : channels; }
  std::int64_t runs() const { return depth() / run(); }
  // Where the pixel under filter element (a, b) of result (i, j) is, on a plane that starts at
  // result row 0.
  std::int64_t pixel(std::int64_t i, std::int64_t j, std::int64_t a, std::int64_t b) const {
    return ((i * h.stride + a * h.dilation) * width() + j * w.stride + b * w.dilation) * channels;
  }
  // Where run s of the patch under result (i, j) begins.
  std::int64_t offset(std::int64_t i, std::int64_t j, std::int64_t s) const {
    const std::int64_t across = w.dilation == 1 ? 1 : w.kernel;
    return pixel(i, j, s / across, s % across);
  }
  // Short runs make the micro-kernel start too often: then a row's patches are copied.
  bool copies_patches() const { return run() < 24 && runs() > 1; }
};

// One line of the plane: `to` has `pixels` places of `channels` numbers, from position `first` on.
template <class T>
void fill_line(T* to, const T* from, const Images<const T>& x, const Axis& w, std::int64_t pixels,
               std::int64_t channels) {
  const std::int64_t first = -w.before;
  // The input's elements that lie on the line, [begin, end).
  const std::int64_t begin = first <= 0 ? 0 : (first + w.spread - 1) / w.spread;
  const std::int64_t end =
      std::clamp<std::int64_t>((first + pixels + w.spread - 1) / w.spread, begin, w.n);
  const bool sparse = w.spread > 1 || end <= begin;
  const std::int64_t left = sparse ? pixels : begin - first;  // zeros before the first element
  std::fill(to, to + left * channels, T(0));
  if (end <= begin) return;
  T* place = to + (begin * w.spread - first) * channels;
  if (x.channel == 1 && x.column == channels && w.spread == 1) {
    std::copy(from + begin * x.column, from + end * x.column, place);
  } else if (x.channel == 1) {
    for (std::int64_t j = begin; j < end; ++j, place += w.spread * channels)
      copy_run(place, from + j * x.column, channels);
  } else {
    for (std::int64_t c = 0; c < channels; ++c) {
      const T* line = from + c * x.channel;
      for (std::int64_t j = begin; j < end; ++j)
        place[(j - begin) * w.spread * channels + c] = line[j * x.column];
    }
  }
  if (!sparse) std::fill(to + (end - first) * channels, to + pixels * channels, T(0));
}

// The plane under result rows [row, row + count) of the sample and group that `from` points to.
template <class T>
void fill_plane(T* to, const T* from, const Images<const T>& x, const Slide& s, std::int64_t row,
                std::int64_t count) {
  const std::int64_t line = s.width() * s.channels;
  for (std::int64_t q = 0; q < s.h.reach(count); ++q, to += line) {
    const std::int64_t position = row * s.h.stride - s.h.before + q;
    const bool inside =
        position >= 0 && position % s.h.spread == 0 && position / s.h.spread < s.h.n;
    if (inside)
      fill_line(to, from + position / s.h.spread * x.row, x, s.w, s.width(), s.channels);
    else
      std::fill(to, to + line, T(0));
  }
}

// The patches of one result row as columns: to[k * result + j] is number k of the patch under j.
template <class T>
void patch_columns(T* to, const T* plane, const Slide& s, std::int64_t row) {
  const std::int64_t n = s.w.result, step = s.w.stride * s.channels;
  for (std::int64_t r = 0; r < s.runs(); ++r) {
    const T* run = plane + s.offset(row, 0, r);
    for (std::int64_t k = 0; k < s.run(); ++k, to += n) {
      if (step == 1)
        copy_run(to, run + k, n);
      else
        for (std::int64_t j = 0; j < n; ++j) to[j] = run[k + j * step];
    }
  }
}

// How many result rows make a strip: its plane stays in the second cache, and there are strips
// enough for several threads.
template <class T>
std::int64_t strip_rows(const Slide& s, std::int64_t samples) {
  constexpr std::int64_t bytes = (register_bytes == 64 ? 384 : 192) * 1024;
  const std::int64_t line = s.width() * s.channels * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t fit = (bytes / line - s.h.reach(1)) / s.h.stride + 1;
  const std::int64_t share = (s.h.result * samples + 15) / 16;
  const std::int64_t most = std::clamp<std::int64_t>(std::min(fit, share), 1, s.h.result);
  const std::int64_t strips = (s.h.result + most - 1) / most;
  return (s.h.result + strips - 1) / strips;  // even strips
}

}  // namespace labgrad::cpu
