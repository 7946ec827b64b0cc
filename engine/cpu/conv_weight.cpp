// The weight gradient of a convolution: dw = dyᵀ · patches, summed over all pixels of the batch.
//
//   for each chunk of the batch                               the tasks, divided among threads
//     for each strip of result rows: its padded plane         384 KiB in the second cache
//       for each few rows of the strip                        up to 256 pixels
//         for each tile_rows filters                          their dy copied: 14 KiB stay in the
//           for each run of the patches                           first cache, and ...
//             for each panel of the run's numbers             ... so does a row of the plane
//               the micro-kernel over the rows' pixels        the plane read where it is
//
// Where patches are short (few channels) the roles change: dwᵀ = patchesᵀ · dy.

#include <cstdint>
#include <type_traits>

#include "engine/cpu/conv_chunks.h"
#include "engine/cpu/conv_depthwise.h"
#include "engine/cpu/conv_plane.h"
#include "engine/cpu/conv_winograd.h"
#include "engine/cpu/cpu.h"
#include "engine/cpu/gemm_blocked.h"
#include "engine/cpu/scratch.h"

namespace labgrad {

using namespace cpu;

namespace {

// How many pixels are summed before the sums are written: tile_rows filters' dy is 14 KiB then.
// Short rows follow each other in one sum.
constexpr std::int64_t deepest = 256;

// One group's sums: (filter, k) at filter * row + k * column.
struct SumLayout {
  std::int64_t row, column, size;
};

template <class T>
SumLayout layout_of(const Slide& s, std::int64_t filters) {
  if (s.copies_patches()) return {1, filters, filters * s.depth()};
  // Rows an odd number of cache lines apart do not all fall in a few sets of the cache.
  constexpr std::int64_t line = 64 / sizeof(T);
  const std::int64_t row = (divide_up(s.depth(), line) | 1) * line;
  return {row, 1, row * filters};
}

// The rows of dy under a strip, channels side by side, with readable numbers behind the last pixel.
template <class T>
class GradientRows {
 public:
  GradientRows(const Images<const T>& dy, const Shape& shape, std::int64_t filters,
               std::int64_t rows)
      : dy_(dy),
        pixels_(shape[3]),
        filters_(filters),
        copies_(dy.channel != 1 || filters % (2 * lanes<T>) != 0),
        copy_(copies_ ? rows * pixels_ * filters + 8 * lanes<T> : 0) {}

  // `from`: the first row of the sample's filters.
  void set(const T* from, std::int64_t rows) {
    from_ = from;
    if (!copies_) return;
    const Axis down{rows, 1, 1, 0, 1, rows, 1}, across{pixels_, 1, 1, 0, 1, pixels_, 1};
    fill_plane<T>(copy_.get(), from, dy_, {down, across, filters_}, 0, rows);
    T* end = copy_.get() + rows * pixels_ * filters_;
    std::fill(end, end + 8 * lanes<T>, T(0));
  }
  Panel<T> row(std::int64_t i) const {
    if (!copies_) return {from_ + i * dy_.row, dy_.column};
    return {copy_.get() + i * pixels_ * filters_, filters_};
  }
  // Part k of n of `count` rows from row i on, where they lie densely in memory: to be fetched
  // while the rows before them are at work. The last strip's next rows are those of the next strip.
  Fetch<T> part(std::int64_t i, std::int64_t count, std::int64_t k, std::int64_t n) const {
    constexpr std::int64_t line = line_elements<T>;
    if (copies_ || dy_.column != filters_ || dy_.row != pixels_ * filters_) return {};
    const std::int64_t lines = divide_up(divide_up(count * dy_.row, line), n);
    return {from_ + i * dy_.row + k * lines * line, line, lines};
  }

 private:
  const Images<const T>& dy_;
  std::int64_t pixels_, filters_;
  bool copies_;
  Scratch<T> copy_;
  const T* from_ = nullptr;
};

// Filters first .. first + count of a row of dy, pixel by pixel, dense: on their own they lie so
// many bytes apart that they fall in a few sets of the first cache, which can't hold them all.
template <class T>
void pack_filters(T* to, const Panel<T>& dy, std::int64_t first, std::int64_t count,
                  std::int64_t pixels) {
  const T* from = dy.data + first;
  if (dy.stride >= 2 * lanes<T>)  // whole vectors: what they write too much is written over
    for (; pixels > 1; --pixels, to += count, from += dy.stride)
      for (std::int64_t o = 0; o < count; o += lanes<T>) store(to + o, load(from + o));
  for (; pixels > 0; --pixels, to += count, from += dy.stride) copy_run(to, from, count);
}

// sums += the products of one row: `dy` times the patches of result row i on the plane. So few
// multiplications wait for dy, which comes from memory: a part of it is fetched ahead.
template <class T>
void add_row(T* sums, const SumLayout& layout, const Panel<T>& dy, std::int64_t filters,
             const T* plane, const Slide& s, std::int64_t i, T* columns) {
  constexpr std::int64_t part = 32, line = 64 / sizeof(T);
  const std::int64_t pixels = s.w.result;
  patch_columns(columns, plane, s, i);
  const Panels<T> panels(s.depth(), filters);
  for (std::int64_t j = 0; j < pixels; j += part) {
    const std::int64_t count = std::min(part, pixels - j);
    const T* from = dy.data + j * dy.stride;
    for (std::int64_t q = part; q < part + count; ++q)
      for (std::int64_t o = 0; o < filters; o += line) __builtin_prefetch(from + q * dy.stride + o);
    for (std::int64_t p = 0; p < panels.count(); ++p) {
      const std::int64_t first = panels.first(p);
      panel_times<T>({columns + j, pixels}, true, {from + first, dy.stride}, {count}, s.depth(),
                     panels.width(p), panels.columns(p), sums + first, layout.column, 1, true);
    }
  }
}

template <class T>
void weight_gradient(const Array& dw, const Array& x, const Array& dy, const Slide& s,
                     std::int64_t groups) {
  const Images<const T> from(x), gradient(dy);
  const std::int64_t filters = dw.shape[0] / groups, step = s.w.stride * s.channels;
  const SumLayout layout = layout_of<T>(s, filters);
  const Panels<T> panels(filters, s.run());
  const EvenParts tiles(filters, tile_rows);
  const Chunks<T> chunks(s, x.shape[0], layout.size * groups);
  chunks.run([&](T* all, T* plane, std::int64_t n, std::int64_t first, std::int64_t height) {
    GradientRows<T> rows(gradient, dy.shape, filters, height);
    const Scratch<T> columns(s.copies_patches() ? s.depth() * s.w.result : 0);
    const std::int64_t deep = std::clamp<std::int64_t>(deepest / s.w.result, 1, height);
    const Scratch<T> packed((deep * s.w.result + lanes<T>)*tile_rows);
    for (std::int64_t g = 0; g < groups; ++g) {
      T* sums = all + g * layout.size;
      fill_plane<T>(plane, from.at(n, g * s.channels, 0), from, s, first, height);
      rows.set(gradient.at(n, g * filters, first), height);
      if (s.copies_patches()) {
        for (std::int64_t i = 0; i < height; ++i)
          add_row(sums, layout, rows.row(i), filters, plane, s, i, columns.get());
        continue;
      }
      const std::int64_t products = tiles.count * s.runs() * panels.count();
      for (std::int64_t i = 0; i < height; i += deep) {
        const std::int64_t count = std::min(deep, height - i);
        std::int64_t product = 0;
        for (std::int64_t t = 0; t < tiles.count; ++t) {
          const std::int64_t o = tiles.first(t), tall = tiles.size(t), row = s.w.result * tall;
          for (std::int64_t q = 0; q < count; ++q)
            pack_filters(packed.get() + q * row, rows.row(i + q), o, tall, s.w.result);
          const Runs runs{s.w.result, count, row, s.h.stride * s.width() * s.channels};
          for (std::int64_t r = 0; r < s.runs(); ++r)
            for (std::int64_t p = 0; p < panels.count(); ++p) {
              const std::int64_t k = panels.first(p);
              panel_times<T>({packed.get(), tall}, false, {plane + s.offset(i, 0, r) + k, step},
                             runs, tall, panels.width(p), panels.columns(p),
                             sums + o * layout.row + r * s.run() + k, layout.row, 1, true,
                             rows.part(i + count, count, product++, products));
            }
        }
      }
    }
  });
  const Images<T> to(dw);
  chunks.total(dw.shape[0], [&](std::int64_t o, auto sum) {
    std::int64_t k = o / filters * layout.size + o % filters * layout.row;
    for (std::int64_t a = 0; a < s.h.kernel; ++a)
      for (std::int64_t b = 0; b < s.w.kernel; ++b)
        for (std::int64_t c = 0; c < s.channels; ++c, k += layout.column)
          to.at(o, c, a)[b * to.column] = sum(k);
  });
}

template <class T>
void weight_gradient(const Array& dw, const Array& x, const Array& dy, const Convolution& v) {
  const Slide s{{dy.shape[2], dw.shape[2], v.stride.h, v.top, v.dilation.h, x.shape[2], 1},
                {dy.shape[3], dw.shape[3], v.stride.w, v.left, v.dilation.w, x.shape[3], 1},
                dw.shape[1]};
  if constexpr (std::is_same_v<T, float>)
    if (suits_winograd(dy, x, s, v.groups)) return winograd_weight_gradient(dw, x, dy, s);
  if (dw.shape[1] == 1 && dw.shape[0] == v.groups)
    depthwise_weight_gradient<T>(dw, x, dy, s);
  else
    weight_gradient<T>(dw, x, dy, s, v.groups);
}

}  // namespace

void Cpu::conv2d_weight_gradient(const Array& dw, const Array& x, const Array& dy,
                                 const Convolution& v) const {
  if (dw.shape.numel() == 0 || x.shape.numel() == 0 || dy.shape.numel() == 0)
    return Naive::conv2d_weight_gradient(dw, x, dy, v);
  if (dw.dtype == f32)
    weight_gradient<float>(dw, x, dy, v);
  else
    weight_gradient<double>(dw, x, dy, v);
}

}  // namespace labgrad
