// Convolution as a product that never makes its left matrix. Rows are the pixels of the result,
// columns the filters, the depth runs over the filters' numbers (a, b, c):
//
//   the filters copied once into panels                       576 x 128 numbers: 288 KiB
//   for each sample and strip of result rows                  the tasks, divided among threads
//     the strip's padded plane                                384 KiB in the second cache
//     for each few runs of the patches (rows of the filter)   k in 0 .. 320: y is written as often
//       for each panel of filters                             up to 40 KiB, in the first cache
//         for each row of the strip
//           the micro-kernel over the row's pixels, patches read on the plane
//
// Where patches are one sum and y is larger than the caches, its tiles go past them (stream.h).
//
// The input gradient is the same with the filters turned by 180 degrees and inputs and outputs
// exchanged. With a stride, dy's elements lie that far apart on its plane. 1 x 1 filters are a
// plain product (conv_pointwise.h), depthwise ones none (conv_depthwise.h).

#include <cstdint>
#include <type_traits>

#include "engine/cpu/channels.h"
#include "engine/cpu/conv_depthwise.h"
#include "engine/cpu/conv_plane.h"
#include "engine/cpu/conv_pointwise.h"
#include "engine/cpu/conv_winograd.h"
#include "engine/cpu/cpu.h"
#include "engine/cpu/gemm_blocked.h"
#include "engine/cpu/scratch.h"
#include "engine/cpu/stream.h"
#include "engine/cpu/threads.h"

namespace labgrad {

using namespace cpu;

namespace {

// How many numbers of a patch are summed before C is written: a panel of filters is then 40 KiB
// where registers have 64 bytes. Deeper panels leave the first cache, and cost what C saves.
constexpr std::int64_t deepest = 320;

// One group's filters in panels: panel p begins at first(p) * depth, its line k holds number k of
// the patch for each of its filters, and zeros beyond them.
template <class T>
void pack_filters(T* to, const Filters<T>& f, const Slide& s, const Panels<T>& panels) {
  for (std::int64_t p = 0; p < panels.count(); ++p) {
    const std::int64_t first = panels.first(p), width = panels.width(p), real = panels.columns(p);
    T* line = to + first * s.depth();
    for (std::int64_t a = 0; a < s.h.kernel; ++a)
      for (std::int64_t b = 0; b < s.w.kernel; ++b)
        for (std::int64_t c = 0; c < s.channels; ++c, line += width)
          for (std::int64_t j = 0; j < width; ++j)
            line[j] = j < real ? f.at(first + j, c, a, b) : T(0);
  }
}

// A patch's runs that are one sum in registers: those a fixed distance apart, as the rows of the
// filter are.
std::int64_t runs_at_once(const Slide& s) {
  if (s.w.dilation != 1) return 1;
  return std::clamp<std::int64_t>(deepest / s.run(), 1, s.runs());
}

// What all strips of a call have in common.
template <class T>
struct Strips {
  const Slide& s;
  const Panels<T>& panels;
  const Images<T>& to;
  std::int64_t at_once = runs_at_once(s);

  // Runs r .. r + at_once for panel p.
  Runs depth(std::int64_t r, std::int64_t p) const {
    return {s.run(), std::min(at_once, s.runs() - r), s.h.dilation * s.width() * s.channels,
            s.run() * panels.width(p)};
  }
  Panel<T> filters(const T* packed, std::int64_t r, std::int64_t p) const {
    const std::int64_t width = panels.width(p);
    return {packed + panels.first(p) * s.depth() + r * s.run() * width, width};
  }
};

// `count` result rows, all filters of a group; y points to the first of both.
template <class T>
void strip_product(T* y, const T* plane, const T* packed, const Strips<T>& of, std::int64_t count) {
  const Slide& s = of.s;
  const std::int64_t pixels = s.w.result;
  auto product = [&](Panel<T> a, bool row_major, std::int64_t p, std::int64_t r, const Runs& depth,
                     std::int64_t row) {
    panel_times(a, row_major, of.filters(packed, r, p), depth, pixels, of.panels.width(p),
                of.panels.columns(p), y + row * of.to.row + of.panels.first(p) * of.to.channel,
                of.to.column, of.to.channel, r > 0);
  };
  if (s.copies_patches() && of.at_once < s.runs()) {
    const Scratch<T> columns(s.depth() * pixels);
    for (std::int64_t i = 0; i < count; ++i) {
      patch_columns(columns.get(), plane, s, i);
      for (std::int64_t p = 0; p < of.panels.count(); ++p)
        product({columns.get(), pixels}, false, p, 0, {s.depth()}, i);
    }
    return;
  }
  for (std::int64_t r = 0; r < s.runs(); r += of.at_once)
    for (std::int64_t p = 0; p < of.panels.count(); ++p)
      for (std::int64_t i = 0; i < count; ++i)
        product({plane + s.offset(i, 0, r), s.w.stride * s.channels}, true, p, r, of.depth(r, p),
                i);
}

// The same where patches are one sum: a tile of results is made in the first cache and goes past
// the others from there, while the next one is made.
template <class T>
void strip_past_caches(T* y, const T* plane, const T* packed, const Strips<T>& of,
                       std::int64_t count) {
  const EvenParts tiles(of.s.w.result, tile_rows);
  alignas(64) T part[tile_rows * 2 * lanes<T>];
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t p = 0; p < of.panels.count(); ++p)
      for (std::int64_t t = 0; t < tiles.count; ++t) {
        const std::int64_t j = tiles.first(t), width = of.panels.width(p);
        tile_times<T>({plane + of.s.offset(i, j, 0), of.s.w.stride * of.s.channels}, true,
                      of.filters(packed, 0, p), of.depth(0, p), tiles.size(t), width, width, part,
                      width, 1, false, nullptr, {});
        T* to = y + i * of.to.row + j * of.to.column + of.panels.first(p);
        for (std::int64_t r = 0; r < tiles.size(t); ++r)
          for (std::int64_t o = 0; o < width; o += lanes<T>)
            stream(to + r * of.to.column + o, load(part + r * width + o));
      }
  finish_streams();
}

// y = x slid over by `filters` in each group.
template <class T>
void slide(const Array& y, const Array& x, const Filters<T>& filters, const Slide& s,
           std::int64_t groups) {
  if constexpr (std::is_same_v<T, float>)
    if (suits_winograd(y, x, s, groups)) return winograd_slide(y, x, filters, s);
  const Images<T> to(y);
  const Images<const T> from(x);
  const std::int64_t count = y.shape[1] / groups;  // filters in a group
  const Panels<T> panels(s.w.result, count);
  const std::int64_t last = panels.count() - 1;
  const std::int64_t packed_size = (panels.first(last) + panels.width(last)) * s.depth();
  const Scratch<T> packed(packed_size * groups);
  for (std::int64_t g = 0; g < groups; ++g) {
    Filters<T> own = filters;
    own.data += g * count * filters.filter;
    pack_filters(packed.get() + g * packed_size, own, s, panels);
  }

  const std::int64_t rows = strip_rows<T>(s, y.shape[0]), strips = divide_up(s.h.result, rows);
  const std::int64_t tasks = y.shape[0] * strips;
  const Strips<T> of{s, panels, to};
  const bool past_caches = of.at_once == s.runs() && groups == 1 && is_channels_last(y) &&
                           streams(y.as<T>(), y.shape.numel(), count);
  const bool worth = y.shape.numel() * s.depth() > 1'000'000;
  parallel_for(tasks, worth ? 1 : tasks, [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> plane(s.h.reach(rows) * s.width() * s.channels);
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t n = task / strips, row = task % strips * rows;
      const std::int64_t height = std::min(rows, s.h.result - row);
      for (std::int64_t g = 0; g < groups; ++g) {
        fill_plane<T>(plane.get(), from.at(n, g * s.channels, 0), from, s, row, height);
        const auto strip = past_caches ? strip_past_caches<T> : strip_product<T>;
        strip(to.at(n, g * count, row), plane.get(), packed.get() + g * packed_size, of, height);
      }
    }
  });
}

bool is_depthwise(const Shape& w, std::int64_t groups) { return w[1] == 1 && w[0] == groups; }

template <class T>
void forward(const Array& y, const Array& x, const Array& w, const Convolution& v) {
  const Slide s{{y.shape[2], w.shape[2], v.stride.h, v.top, v.dilation.h, x.shape[2], 1},
                {y.shape[3], w.shape[3], v.stride.w, v.left, v.dilation.w, x.shape[3], 1},
                w.shape[1]};
  const Filters<T> filters{w.as<const T>(), w.strides[0], w.strides[1], w.strides[2], w.strides[3]};
  if (is_depthwise(w.shape, v.groups))
    slide_depthwise<T>(y, x, filters.data, filters.filter, filters.row, filters.column, s);
  else
    slide(y, x, filters, s, v.groups);
}

template <class T>
void input_gradient(const Array& dx, const Array& dy, const Array& w, const Convolution& v) {
  const std::int64_t kh = w.shape[2], kw = w.shape[3];
  const Slide s{
      {dx.shape[2], kh, 1, v.dilation.h * (kh - 1) - v.top, v.dilation.h, dy.shape[2], v.stride.h},
      {dx.shape[3], kw, 1, v.dilation.w * (kw - 1) - v.left, v.dilation.w, dy.shape[3], v.stride.w},
      w.shape[0] / v.groups};
  // Turned by 180 degrees: read from the last element backwards.
  const T* end = w.as<const T>() + (kh - 1) * w.strides[2] + (kw - 1) * w.strides[3];
  if (is_depthwise(w.shape, v.groups))
    return slide_depthwise<T>(dx, dy, end, w.strides[0], -w.strides[2], -w.strides[3],
                              {s.h, s.w, 1});
  // A group's channels take the part of filters, and its filters that of channels. The next group
  // begins w.shape[1] "filters" on in dx, but w.shape[0] / groups filters on in w.
  const std::int64_t filters = s.channels;
  for (std::int64_t g = 0; g < v.groups; ++g) {
    Array part = dx, of = dy;
    part.shape[1] = w.shape[1], of.shape[1] = filters;
    part.data += g * w.shape[1] * dx.strides[1] * static_cast<std::int64_t>(sizeof(T));
    of.data += g * filters * dy.strides[1] * static_cast<std::int64_t>(sizeof(T));
    slide<T>(part, of,
             {end + g * filters * w.strides[0], w.strides[1], w.strides[0], -w.strides[2],
              -w.strides[3]},
             s, 1);
  }
}

// Nothing to sum: all zeros, which the specification writes.
bool is_empty(const Array& y, const Array& x, const Array& w) {
  return y.shape.numel() == 0 || x.shape.numel() == 0 || w.shape.numel() == 0;
}

}  // namespace

void Cpu::conv2d(const Array& y, const Array& x, const Array& w, const Convolution& v) const {
  if (is_empty(y, x, w)) return Naive::conv2d(y, x, w, v);
  if (const auto product = pointwise(y, x, w, v))
    return gemm(product->c, product->a, product->b, false);
  if (y.dtype == f32)
    forward<float>(y, x, w, v);
  else
    forward<double>(y, x, w, v);
}

void Cpu::conv2d_input_gradient(const Array& dx, const Array& dy, const Array& w,
                                const Convolution& v) const {
  if (is_empty(dx, dy, w)) return Naive::conv2d_input_gradient(dx, dy, w, v);
  if (const auto product = pointwise_input_gradient(dx, dy, w, v))
    return gemm(product->c, product->a, product->b, false);
  if (dx.dtype == f32)
    input_gradient<float>(dx, dy, w, v);
  else
    input_gradient<double>(dx, dy, w, v);
}

}  // namespace labgrad
