#pragma once
// The loops around the micro-kernel, for products whose operands may be anything that can be
// copied into panels: matrices (gemm.cpp) or images seen as matrices (the convolutions).
//
//   for the depth in steps of depth_block          C is read and written once for each slice
//     for the columns in steps of column_block     B's slice copied once, into the last cache
//       for row groups x column groups             the tasks, divided among threads
//         for each few panels                      of B, each one tile wide (two registers)
//           for each tile_rows rows                of A's group
//             for each of the panels
//               tile
//
// In f32, with registers of 64 bytes: a slice of B is 6 MiB, a panel 64 KiB, a group of A 224 KiB;
// group and panels stream from the second cache (2 MiB), at an eighth of what that can give. Half
// the depth would keep a panel in the first cache, but is slower by some percent from 256 on, for C
// then goes twice as often through memory. With 32 bytes, whose machines have second caches of 256
// or 512 KiB: 3 MiB, 16 KiB and 48 KiB.
//
// Few panels at a time, and not one, so that a row of C is written in longer runs: with a depth of
// 128 and 5,893 columns that is a quarter quicker.
//
// An operand that is read too few times to pay for a copy stays where it is (gemm.cpp decides).
//
// Threads divide C, never a sum.

#include <algorithm>
#include <cstdint>

#include "engine/cpu/gemm_kernel.h"
#include "engine/cpu/scratch.h"
#include "engine/cpu/threads.h"

namespace labgrad::cpu {

// What an operand gives to the loops: where a part of it can be read.
template <class T>
struct Panel {
  const T* data;
  std::int64_t stride;
};

inline constexpr std::int64_t depth_block = register_bytes == 64 ? 512 : 256;
inline constexpr std::int64_t column_block = 3072;
inline constexpr std::int64_t row_group = 8 * tile_rows;
// How many panels of so many elements are gone through together: a part of the second cache.
template <class T>
constexpr std::int64_t near_panels(std::int64_t elements) {
  constexpr std::int64_t bytes = register_bytes == 64 ? 256 << 10 : 64 << 10;
  return std::max<std::int64_t>(1, bytes / (elements * static_cast<std::int64_t>(sizeof(T))));
}
// Elements in a line of the caches.
template <class T>
inline constexpr std::int64_t line_elements = 64 / sizeof(T);
// Copied rows are this much longer than the depth, so that they don't all fall in one cache set.
template <class T>
inline constexpr std::int64_t row_padding = line_elements<T>;

// How columns are cut into panels: as wide as the tiles of so many rows allow, then one padded
// panel if that wastes less than half a register, else panels of one register and a narrower last.
template <class T>
class Panels {
 public:
  Panels(std::int64_t rows, std::int64_t columns)
      : wide_(tile_vectors(rows) * lanes<T>), columns_(columns), whole_(columns / wide_) {
    const std::int64_t rest = columns % wide_;
    padded_ = rest > wide_ - lanes<T> + half_lanes<T>;
    count_ = whole_ + (padded_ ? 1 : divide_up(rest, lanes<T>));
  }
  std::int64_t count() const { return count_; }
  // The first column of panel p, the tile's width, and how many columns of it exist.
  std::int64_t first(std::int64_t p) const {
    return p <= whole_ ? p * wide_ : whole_ * wide_ + (p - whole_) * lanes<T>;
  }
  std::int64_t width(std::int64_t p) const {
    if (p < whole_ || padded_) return wide_;
    return columns_ - first(p) > half_lanes<T> ? lanes<T> : half_lanes<T>;
  }
  std::int64_t columns(std::int64_t p) const { return std::min(width(p), columns_ - first(p)); }

 private:
  std::int64_t wide_, columns_, whole_, count_;
  bool padded_;
};

// Adds or copies a part of a tile to where C really is.
template <class T>
void place(T* c, std::int64_t row_step, std::int64_t column_step, const T* from,
           std::int64_t from_stride, std::int64_t rows, std::int64_t columns, bool accumulate) {
  constexpr int few = 16 / static_cast<int>(sizeof(T));
  for (std::int64_t i = 0; i < rows; ++i, c += row_step, from += from_stride) {
    std::int64_t j = 0;
    if (column_step == 1 && !accumulate) {
      for (; j + lanes<T> <= columns; j += lanes<T>) store(c + j, load(from + j));
      for (; j + few <= columns; j += few) store(c + j, load<T, few>(from + j));
    }
    for (; j < columns; ++j) {
      T& z = c[j * column_step];
      z = accumulate ? z + from[j] : from[j];
    }
  }
}

// n rows in as few parts of at most `most` as there can be, as even as they can be: a small rest
// would cost more loads than it has sums.
struct EvenParts {
  std::int64_t count, share, longer;

  EvenParts(std::int64_t n, std::int64_t most)
      : count(divide_up(n, most)), share(n / count), longer(n % count) {}
  std::int64_t first(std::int64_t i) const { return i * share + std::min(i, longer); }
  std::int64_t size(std::int64_t i) const { return share + (i < longer ? 1 : 0); }
};

// At most tile_rows rows times one panel of columns. `row` is added to each row of C, unless it is
// null, where C does not accumulate.
template <class T>
void tile_times(Panel<T> a, bool row_major, Panel<T> b, const Runs& depth, std::int64_t rows,
                std::int64_t width, std::int64_t columns, T* c, std::int64_t row_step,
                std::int64_t column_step, bool accumulate, const T* row, const Fetch<T>& next) {
  const TileFunction<T> f = tile_function<T>(rows, width, row_major);
  if (column_step == 1 && columns == width) {
    const Start<T> start = accumulate ? Start<T>{c, row_step} : Start<T>{row, 0};
    f(depth, a.data, a.stride, b.data, b.stride, c, row_step, start, next);
    return;
  }
  alignas(64) T part[tile_rows * 2 * lanes<T>], padded[8 * lanes<T>];
  if (row) std::fill(std::copy_n(row, columns, padded), padded + width, T(0));
  f(depth, a.data, a.stride, b.data, b.stride, part, width, {row ? padded : nullptr, 0}, next);
  place(c, row_step, column_step, part, width, rows, columns, accumulate);
}

// Any number of rows times one panel of columns. Each tile fetches what `next` names.
template <class T>
void panel_times(Panel<T> a, bool row_major, Panel<T> b, const Runs& depth, std::int64_t rows,
                 std::int64_t width, std::int64_t columns, T* c, std::int64_t row_step,
                 std::int64_t column_step, bool accumulate, const Fetch<T>& next = {}) {
  const EvenParts tiles(rows, tile_rows);
  for (std::int64_t t = 0; t < tiles.count; ++t) {
    const std::int64_t i = tiles.first(t);
    tile_times<T>({a.data + i * (row_major ? a.stride : 1), a.stride}, row_major, b, depth,
                  tiles.size(t), width, columns, c + i * row_step, row_step, column_step,
                  accumulate, nullptr, next);
  }
}

// C (m x n, any strides) = A B, plus the old C if accumulate, or plus `row` in each row unless that
// is null; depth > 0.
//
// Left:  space(count, depth): how many elements rows() wants for a copy, 0 if it needs none;
//        rows(i, count, k, depth, space): a Panel of rows i .. i+count and columns k .. k+depth,
//          read at data[r * stride + q] if row_major(), else at data[q * stride + r];
//        in_place(): are they read where they are? at(i, k): where element (i, k) is, and step():
//          how far the next column is from it.
// Right: in_place(): can panels be read where they are? Then
//        columns(j, k): the Panel whose element (q, r) is B's (k + q, j + r);
//        pack(to, stride, k, depth, j, count): copies it, to[q * stride + r], zeros from count on.
template <class T, class Left, class Right>
void blocked_product(std::int64_t m, std::int64_t n, std::int64_t depth, const Left& left,
                     const Right& right, T* c, std::int64_t row_step, std::int64_t column_step,
                     bool accumulate, const T* row, bool parallel) {
  for (std::int64_t k = 0; k < depth; k += depth_block) {
    const std::int64_t deep = std::min(depth_block, depth - k);
    for (std::int64_t j0 = 0; j0 < n; j0 += column_block) {
      const std::int64_t across = std::min(column_block, n - j0);
      const Panels<T> panels(m, across);
      const std::int64_t last = panels.count() - 1;
      // In place only a panel without padding can be read: all, or all but the last.
      const bool whole = panels.columns(last) == panels.width(last);
      const std::int64_t in_place = !right.in_place() ? 0 : whole ? last + 1 : last;
      const std::int64_t origin = panels.first(in_place);
      const Scratch<T> packed(
          in_place > last ? 0 : (panels.first(last) + panels.width(last) - origin) * deep);
      auto space_of = [&](std::int64_t p) {
        return packed.get() + (panels.first(p) - origin) * deep;
      };
      // 64 KiB at least for a thread.
      const std::int64_t some = parallel ? divide_up(16384, panels.width(0) * deep) : last + 1;
      parallel_for(last + 1 - in_place, some, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = in_place + begin; p < in_place + end; ++p)
          right.pack(space_of(p), panels.width(p), k, deep, j0 + panels.first(p),
                     panels.columns(p));
      });

      // Even row groups of whole tiles, shorter ones where there would be few tasks; if they still
      // are few, the columns are divided as well (each such task copies its rows again).
      const std::int64_t most =
          parallel ? tile_rows * std::clamp<std::int64_t>(divide_up(m, 8 * tile_rows), 2, 8)
                   : row_group;
      const std::int64_t groups = divide_up(m, most), group = divide_up(m, groups);
      const std::int64_t column_groups =
          parallel && groups < 8 ? std::min(last + 1, divide_up(16, groups)) : 1;
      const std::int64_t panel_group = divide_up(last + 1, column_groups);
      const std::int64_t tasks = groups * column_groups;
      // Neighbours among many tasks are one thread's, which fetched their rows.
      const std::int64_t grain = parallel ? std::max<std::int64_t>(1, tasks / 16) : tasks;
      parallel_for(tasks, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t task = begin; task < end; ++task) {
          const std::int64_t i0 = task / column_groups * group, rows = std::min(group, m - i0);
          const std::int64_t p0 = task % column_groups * panel_group;
          const Scratch<T> space(left.space(rows, deep));
          const Panel<T> a = left.rows(i0, rows, k, deep, space.get());
          const std::int64_t beyond = std::min(last + 1, p0 + panel_group);
          const std::int64_t near = near_panels<T>(panels.width(p0) * deep);
          const EvenParts tiles(rows, tile_rows);
          // Dense columns of A lie in lines far apart, which nobody would fetch ahead. The
          // tiles of the first panels fetch, each its share, the lines of the rows that are
          // read or copied next.
          auto next_rows = [&](std::int64_t t, std::int64_t part, std::int64_t parts) {
            const std::int64_t i =
                left.in_place() ? tiles.first(t + 1) : rows + t * line_elements<T>;
            if (left.row_major() || i0 + i >= m) return Fetch<T>{};
            const std::int64_t share = divide_up(deep, parts), q = part * share;
            const std::int64_t last_row = std::min(i0 + i + tile_rows, m) - 1;
            return Fetch<T>{left.at(last_row, k + q), left.step(), std::min(share, deep - q)};
          };
          auto tile = [&](std::int64_t t, std::int64_t p, const Fetch<T>& next) {
            const std::int64_t i = tiles.first(t), j = j0 + panels.first(p);
            const Panel<T> b =
                p < in_place ? right.columns(j, k) : Panel<T>{space_of(p), panels.width(p)};
            tile_times<T>({a.data + i * (left.row_major() ? a.stride : 1), a.stride},
                          left.row_major(), b, {deep}, tiles.size(t), panels.width(p),
                          panels.columns(p), c + (i0 + i) * row_step + j * column_step, row_step,
                          column_step, accumulate || k > 0, row && k == 0 ? row + j : nullptr,
                          next);
          };
          for (std::int64_t p = p0; p < beyond; p += near) {
            const std::int64_t until = std::min(beyond, p + near);
            for (std::int64_t t = 0; t < tiles.count; ++t)
              for (std::int64_t q = p; q < until; ++q)
                tile(t, q, p == p0 ? next_rows(t, q - p, until - p) : Fetch<T>{});
          }
        }
      });
    }
  }
}

}  // namespace labgrad::cpu
