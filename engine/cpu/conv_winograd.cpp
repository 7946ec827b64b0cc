// Convolution with 3 x 3 filters by Winograd's transform F(4 x 4, 3 x 3): 36 products of matrices.
//
//   U = G w Gᵀ for each channel and filter                        36 x C x O, once
//   for each block of tiles, 4 x 4 results of all samples         the tasks, divided among threads
//     V = Bᵀ x B for each tile and channel                        36 x tiles x C, and M: together
//     for each panel of filters                                   half of the second cache
//       for each of the 36 points
//         M = V U                                                 the micro-kernel; a panel of U is
//       y = Aᵀ M A for each tile                                  16 KiB where C is 128
//
// A panel of U is read from the last cache once for each block: 64 bytes for some 50 rows. The
// input gradient is the same with the filters turned by 180 degrees and inputs and outputs
// exchanged. The weight gradient is the transpose:
//
//   for each chunk of the batch                                   the tasks
//     for each block of tiles
//       V = Bᵀ x B, D = A dy Aᵀ for each tile
//       for each of the 36 points
//         dU += Dᵀ V                                              O x C; the micro-kernel
//   dw = Gᵀ (Σ dU) G

#include "engine/cpu/conv_winograd.h"

#include <atomic>
#include <cstdint>

#include "engine/cpu/channels.h"
#include "engine/cpu/conv_chunks.h"
#include "engine/cpu/gemm_blocked.h"
#include "engine/cpu/scratch.h"
#include "engine/cpu/stream.h"
#include "engine/cpu/threads.h"
#include "engine/cpu/winograd.h"
#include "engine/cpu/winograd_transform.h"

namespace labgrad {

namespace {
std::atomic<bool> is_on = false;
}
bool winograd() { return is_on.load(std::memory_order_relaxed); }
void set_winograd(bool on) { is_on.store(on, std::memory_order_relaxed); }

namespace cpu {

namespace {

using Vector = Vec<float>;
constexpr std::int64_t line = 64 / sizeof(float);

// Results in tiles of 4 x 4, one sample after another; the last row and column may be cut off.
struct Tiles {
  std::int64_t rows, columns, count;

  explicit Tiles(const Shape& y)
      : rows(divide_up(y[2], tile_results)),
        columns(divide_up(y[3], tile_results)),
        count(y[0] * rows * columns) {}

  struct Place {
    std::int64_t n, row, column;  // of the first result
  };
  Place operator[](std::int64_t t) const {
    return {t / (rows * columns), t / columns % rows * tile_results, t % columns * tile_results};
  }
};

// For each of the 36 points a matrix (tiles x columns). Rows and matrices are an odd number of
// cache lines long, so that neither fall in a few sets of the cache.
class Points {
 public:
  Points(std::int64_t tiles, std::int64_t columns)
      : stride_((columns / line | 1) * line),
        area_((tiles * stride_ / line | 1) * line),
        data_(tile_points * area_) {}
  Panel<float> matrix(std::int64_t point) const { return {at(point, 0), stride_}; }
  float* at(std::int64_t point, std::int64_t tile) const {
    return data_.get() + point * area_ + tile * stride_;
  }

 private:
  std::int64_t stride_, area_;
  Scratch<float> data_;
};

// The N x N pixels from (row, column) on of sample n; those beyond the image's edges read `zeros`.
template <int N>
struct Window {
  const float* pixel[N][N];

  Window(const Images<const float>& x, const Shape& shape, std::int64_t n, std::int64_t row,
         std::int64_t column, const float* zeros) {
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) {
        const bool inside =
            row + i >= 0 && row + i < shape[2] && column + j >= 0 && column + j < shape[3];
        pixel[i][j] = inside ? x.at(n, 0, row + i) + (column + j) * x.column : zeros;
      }
  }
};

// to(point, tile - first) = the tile's window, transformed; `before` is the padding.
template <int N>
void transform_images(const Points& to, void (*along)(const Vector (&)[N], Vector (&)[6]),
                      const Array& x, const Tiles& tiles, std::int64_t first, std::int64_t count,
                      std::int64_t top, std::int64_t left) {
  const Images<const float> images(x);
  const std::int64_t channels = x.shape[1];
  const Scratch<float> zeros(channels);
  std::fill(zeros.get(), zeros.get() + channels, 0.0f);
  for (std::int64_t t = 0; t < count; ++t) {
    const Tiles::Place p = tiles[first + t];
    const Window<N> window(images, x.shape, p.n, p.row - top, p.column - left, zeros.get());
    for (std::int64_t c = 0; c < channels; c += lanes<float>)
      transform_block<N, 6, Vector>(
          along, [&](int i, int j) { return load(window.pixel[i][j] + c); },
          [&](int i, int j, Vector v) { store(to.at(i * tile_inputs + j, t) + c, v); });
  }
}

// Panel p begins at first(p) * 36 C; in it, point by point, C lines of the panel's width.
void transform_filters(float* to, const Filters<float>& f, std::int64_t channels,
                       const Panels<float>& panels) {
  for (std::int64_t p = 0; p < panels.count(); ++p)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t o = 0; o < panels.width(p); o += lanes<float>) {
        const auto read = [&](int a, int b) {
          Vector g;
          for (int i = 0; i < lanes<float>; ++i) g[i] = f.at(panels.first(p) + o + i, c, a, b);
          return g;
        };
        float* place = to + panels.first(p) * tile_points * channels + c * panels.width(p) + o;
        transform_block<3, 6, Vector>(filter_transform, read, [&](int i, int j, Vector u) {
          store(place + (i * tile_inputs + j) * channels * panels.width(p), u);
        });
      }
}

// y = Aᵀ M A for `width` filters of each tile.
void transform_results(const Images<float>& y, const Shape& shape, std::int64_t filter,
                       std::int64_t width, const Points& m, const Tiles& tiles, std::int64_t first,
                       std::int64_t count, bool past_caches) {
  for (std::int64_t t = 0; t < count; ++t) {
    const Tiles::Place p = tiles[first + t];
    float* to = y.at(p.n, filter, p.row) + p.column * y.column;
    const std::int64_t rows = shape[2] - p.row, columns = shape[3] - p.column;
    for (std::int64_t o = 0; o < width; o += lanes<float>)
      transform_block<6, 4, Vector>(
          result_transform, [&](int i, int j) { return load(m.at(i * tile_inputs + j, t) + o); },
          [&](int i, int j, Vector v) {
            if (i >= rows || j >= columns) return;
            float* place = to + i * y.row + j * y.column + o;
            if (past_caches)
              stream(place, v);
            else
              store(place, v);
          });
  }
}

// How many tiles make a block, where each takes so many numbers at each point.
std::int64_t block_tiles(std::int64_t numbers) {
  constexpr std::int64_t bytes = (register_bytes == 64 ? 1280 : 192) * 1024;
  const std::int64_t fit = bytes / (tile_points * numbers * std::int64_t{sizeof(float)});
  return std::max<std::int64_t>(1, fit / tile_rows) * tile_rows;
}

}  // namespace

bool suits_winograd(const Array& y, const Array& x, const Slide& s, std::int64_t groups) {
  // Fewer tiles would not pay for the filters' transform. More pairs of channel and filter, 9 MiB
  // of U, would not stay in the last cache, nor the weight gradient's sums in memory.
  constexpr std::int64_t least_tiles = 64, most_pairs = 65536;
  const auto plain = [](const Axis& a) {
    return a.kernel == 3 && a.stride == 1 && a.dilation == 1 && a.spread == 1;
  };
  return winograd() && groups == 1 && plain(s.h) && plain(s.w) && x.shape[1] % 16 == 0 &&
         y.shape[1] % 16 == 0 && x.strides[1] == 1 && y.strides[1] == 1 &&
         x.shape[1] * y.shape[1] <= most_pairs && Tiles(y.shape).count >= least_tiles;
}

void winograd_slide(const Array& y, const Array& x, const Filters<float>& filters, const Slide& s) {
  const std::int64_t channels = x.shape[1];
  const Tiles tiles(y.shape);
  const Panels<float> panels(tile_rows, y.shape[1]);
  const std::int64_t wide = panels.width(0), block = block_tiles(channels + wide + 2 * line);
  const Scratch<float> u(tile_points * channels * y.shape[1]);
  transform_filters(u.get(), filters, channels, panels);
  const bool past_caches =
      is_channels_last(y) && streams(y.as<float>(), y.shape.numel(), y.shape[1]);
  parallel_for(divide_up(tiles.count, block), 1, [&](std::int64_t begin, std::int64_t end) {
    const Points v(block, channels), m(block, wide);
    for (std::int64_t first = begin * block; first < end * block; first += block) {
      const std::int64_t count = std::min(block, tiles.count - first);
      transform_images<6>(v, data_transform, x, tiles, first, count, s.h.before, s.w.before);
      for (std::int64_t p = 0; p < panels.count(); ++p) {
        const std::int64_t width = panels.width(p);
        for (std::int64_t i = 0; i < tile_points; ++i) {
          const float* panel = u.get() + (panels.first(p) * tile_points + i * width) * channels;
          panel_times<float>(v.matrix(i), true, {panel, width}, {channels}, count, width, width,
                             m.at(i, 0), m.matrix(i).stride, 1, false);
        }
        transform_results(Images<float>(y), y.shape, panels.first(p), width, m, tiles, first, count,
                          past_caches);
      }
    }
    if (past_caches) finish_streams();
  });
}

void winograd_weight_gradient(const Array& dw, const Array& x, const Array& dy, const Slide& s) {
  const std::int64_t channels = x.shape[1], filters = dy.shape[1];
  const Tiles tiles(dy.shape);
  const Panels<float> panels(tile_rows, channels);
  const std::int64_t block = block_tiles(channels + filters + 2 * line);
  const std::int64_t blocks = divide_up(tiles.count, block);
  const std::int64_t size = filters * channels;
  // As many chunks as threads that most machines have.
  const ChunkSums<float> sums(blocks, tile_points * size, std::min<std::int64_t>(blocks, 8));
  sums.run([&](float* sum, std::int64_t begin, std::int64_t end) {
    const Points v(block, channels), d(block, filters);
    for (std::int64_t first = begin * block; first < end * block; first += block) {
      const std::int64_t count = std::min(block, tiles.count - first);
      transform_images<6>(v, data_transform, x, tiles, first, count, s.h.before, s.w.before);
      transform_images<4>(d, result_transform_back, dy, tiles, first, count, 0, 0);
      for (std::int64_t i = 0; i < tile_points; ++i)
        for (std::int64_t p = 0; p < panels.count(); ++p) {
          const std::int64_t c = panels.first(p), width = panels.width(p);
          panel_times<float>(d.matrix(i), false, {v.at(i, 0) + c, v.matrix(i).stride}, {count},
                             filters, width, width, sum + i * size + c, channels, 1, true);
        }
    }
  });
  const Images<float> to(dw);
  parallel_for(filters, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o)
      for (std::int64_t c = 0; c < channels; c += lanes<float>) {
        const auto total = [&](int i, int j) {
          return sums.vector((i * tile_inputs + j) * size + o * channels + c);
        };
        transform_block<6, 3, Vector>(filter_transform_back, total, [&](int a, int b, Vector g) {
          for (int i = 0; i < lanes<float>; ++i) to.at(o, c + i, a)[b * to.column] = g[i];
        });
      }
  });
}

}  // namespace cpu

}  // namespace labgrad
