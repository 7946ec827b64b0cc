// The matrix product, by shape:
//
//   integers                           the plain loop, exact
//   one operand repeated over a batch  folded into one tall product where the strides allow
//   C column-major, or one column      the transposed product C' = B' A'
//   few rows, B's depth dense          dot products: both operands are read once, nothing is copied
//   few rows, B's rows dense           tiles of few rows and many vectors, B read in place
//   all else                           gemm_blocked.h; small operands are read where they are
//
// Batches of small products are divided among threads by product, large products by tiles of C.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/cpu/cpu.h"
#include "engine/cpu/gemm_blocked.h"
#include "engine/cpu/gemm_kernel.h"
#include "engine/cpu/gemm_pack.h"
#include "engine/cpu/threads.h"

namespace labgrad {

using namespace cpu;

namespace {

// Element (i, j) is at data[i * row + j * column].
template <class T>
struct Matrix {
  T* data;
  std::int64_t row, column;
  Matrix transposed() const { return {data, column, row}; }
  T* at(std::int64_t i, std::int64_t j) const { return data + i * row + j * column; }
};

struct Size {
  std::int64_t m, n, k;
  std::int64_t flops() const { return 2 * m * n * k; }
};

// Below this a product is done before a second thread has woken up.
constexpr std::int64_t parallel_flops = 2'000'000;
constexpr std::int64_t few_rows = 4;
// The largest B that many tiles of rows read in place: a part of the second cache.
template <class T>
inline constexpr std::int64_t direct_elements = (register_bytes == 64 ? 256 << 10 : 64 << 10) /
                                                static_cast<std::int64_t>(sizeof(T));

// ---- operands of the blocked product ----

template <class T>
struct LeftMatrix {
  Matrix<const T> a;
  bool copy;  // worth it where the rows are read many times, or have no dense direction

  bool row_major() const { return a.row != 1; }
  bool in_place() const { return !copy; }
  const T* at(std::int64_t i, std::int64_t k) const { return a.at(i, k); }
  std::int64_t step() const { return row_major() ? a.row : a.column; }
  std::int64_t space(std::int64_t count, std::int64_t depth) const {
    if (!copy) return 0;
    return row_major() ? count * (depth + row_padding<T>) : depth * count;
  }
  Panel<T> rows(std::int64_t i, std::int64_t count, std::int64_t k, std::int64_t depth,
                T* to) const {
    const T* from = a.at(i, k);
    if (!copy) return {from, step()};
    if (!row_major()) {
      for (std::int64_t q = 0; q < depth; ++q) copy_run(to + q * count, from + q * a.column, count);
      return {to, count};
    }
    const std::int64_t stride = depth + row_padding<T>;
    for (std::int64_t r = 0; r < count; ++r) {
      const T* line = from + r * a.row;
      if (a.column == 1)
        copy_run(to + r * stride, line, depth);
      else
        for (std::int64_t q = 0; q < depth; ++q) to[r * stride + q] = line[q * a.column];
    }
    return {to, stride};
  }
};

template <class T>
struct RightMatrix {
  Matrix<const T> b;
  bool direct;

  bool in_place() const { return direct; }
  Panel<T> columns(std::int64_t j, std::int64_t k) const { return {b.at(k, j), b.row}; }
  void pack(T* to, std::int64_t stride, std::int64_t k, std::int64_t depth, std::int64_t j,
            std::int64_t count) const {
    pack_right(to, stride, b.at(k, j), b.row, b.column, depth, count);
  }
};

// Plus the old C if accumulate, or plus `row` in each row unless that is null.
template <class T>
void blocked(const Size& size, Matrix<T> c, Matrix<const T> a, Matrix<const T> b, bool accumulate,
             const T* row, bool parallel) {
  // A is read once for each panel of columns. A copy pays where many panels meet rows a multiple of
  // 4 KiB apart, which share one set of the cache, or dense columns that each lie on another page,
  // or 16 lines apart and more if the panels are many enough.
  const bool row_major = a.row != 1;
  const bool no_dense = row_major && a.column != 1;
  const std::int64_t apart = (row_major ? a.row : a.column) * static_cast<std::int64_t>(sizeof(T));
  const bool far = row_major ? apart % 4096 == 0 : apart >= (size.n > 16 * lanes<T> ? 1024 : 4096);
  const bool many = size.n >= 8 * lanes<T> && size.m > tile_rows;
  const LeftMatrix<T> left{a, no_dense || (many && far)};
  // B is read once for each tile of rows. Up to 16 of them read it where it is, at 3 % less speed,
  // before a copy pays; it must leave room in the second cache.
  const bool few_tiles = size.m <= 2 * tile_rows ||
                         (size.m <= 16 * tile_rows && size.n * size.k <= direct_elements<T>);
  const RightMatrix<T> right{b, b.column == 1 && few_tiles};
  blocked_product(size.m, size.n, size.k, left, right, c.data, c.row, c.column, accumulate, row,
                  parallel);
}

// ---- few rows ----

// to[j] = the sum of v[j]'s lanes: halves are added down to four lanes, then a 4 x 4 block turned.
template <class T, int L>
void sum_each(Vec<T, L> (&v)[4], T* to) {
  if constexpr (L > 4) {
    Vec<T, L / 2> folded[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      Vec<T, L / 2> half[2];
      std::memcpy(half, &v[j], sizeof v[j]);
      folded[j] = half[0] + half[1];
    }
    sum_each<T, L / 2>(folded, to);
  } else if constexpr (L == 4) {
    transpose_block(v);
    store(to, (v[0] + v[1]) + (v[2] + v[3]));
  } else {
    for (int j = 0; j < 4; ++j) to[j] = sum(v[j]);
  }
}

// c[i][j] = Σ_k a[i][k] b[j][k] for M rows and four columns; columns of b beyond `columns` are
// read again from the last one, and their sums dropped.
template <class T, int M>
void dot_block(std::int64_t depth, Matrix<const T> a, Matrix<const T> b, std::int64_t columns,
               Matrix<T> c, bool accumulate) {
  constexpr int width = lanes<T>;
  Vec<T> acc[M][4] = {};
  const T* column[4];
  for (int j = 0; j < 4; ++j) column[j] = b.at(0, std::min<std::int64_t>(j, columns - 1));
  auto step = [&](std::int64_t k, auto&& read) {
    Vec<T> y[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) y[j] = read(column[j] + k);
#pragma GCC unroll 4
    for (int i = 0; i < M; ++i) {
      const Vec<T> x = read(a.data + i * a.row + k);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) acc[i][j] += x * y[j];
    }
  };
  std::int64_t k = 0;
  for (; k + width <= depth; k += width) step(k, [](const T* p) { return load(p); });
  if (k < depth) step(k, [&](const T* p) { return load_part(p, depth - k); });
#pragma GCC unroll 4
  for (int i = 0; i < M; ++i) {
    T total[4];
    sum_each<T, width>(acc[i], total);
    for (int j = 0; j < std::min<std::int64_t>(columns, 4); ++j) {
      T& z = *c.at(i, j);
      z = accumulate ? z + total[j] : total[j];
    }
  }
}

template <class T, int M>
void dot_rows(const Size& size, Matrix<T> c, Matrix<const T> a, Matrix<const T> b, bool accumulate,
              bool parallel) {
  const std::int64_t blocks = divide_up(size.n, 4);
  parallel_for(blocks, parallel ? 64 : blocks, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin * 4; j < std::min(end * 4, size.n); j += 4)
      dot_block<T, M>(size.k, a, {b.at(0, j), b.row, b.column}, size.n - j,
                      {c.at(0, j), c.row, c.column}, accumulate);
  });
}

// Few rows against a B whose columns are dense (b.row == 1).
template <class T>
void dots(const Size& size, Matrix<T> c, Matrix<const T> a, Matrix<const T> b, bool accumulate,
          bool parallel) {
  const Scratch<T> copy(a.column == 1 ? 0 : size.m * size.k);
  if (a.column != 1) {
    for (std::int64_t i = 0; i < size.m; ++i)
      for (std::int64_t k = 0; k < size.k; ++k) copy.get()[i * size.k + k] = *a.at(i, k);
    a = {copy.get(), size.k, 1};
  }
  switch (size.m) {
    case 1:
      return dot_rows<T, 1>(size, c, a, b, accumulate, parallel);
    case 2:
      return dot_rows<T, 2>(size, c, a, b, accumulate, parallel);
    case 3:
      return dot_rows<T, 3>(size, c, a, b, accumulate, parallel);
    default:
      return dot_rows<T, 4>(size, c, a, b, accumulate, parallel);
  }
}

template <class T>
void product(Size size, Matrix<T> c, Matrix<const T> a, Matrix<const T> b, bool accumulate,
             bool parallel) {
  if ((c.column != 1 && c.row == 1) || (size.n <= few_rows && size.m > size.n)) {
    std::swap(size.m, size.n);
    const Matrix<const T> left = b.transposed();
    b = a.transposed();
    a = left;
    c = c.transposed();
  }
  if (size.m <= few_rows && b.row == 1 && size.k >= lanes<T>)
    dots(size, c, a, b, accumulate, parallel);
  else
    blocked<T>(size, c, a, b, accumulate, nullptr, parallel);
}

// ---- batches ----

// The leading dimensions, neighbours that follow each other in memory merged into one.
struct Batch {
  Shape size;
  Strides c, a, b;

  Batch(const Array& of_c, const Array& of_a, const Array& of_b) {
    for (int d = 0; d < of_c.shape.rank() - 2; ++d) {
      if (of_c.shape[d] == 1) continue;
      const std::int64_t n = of_c.shape[d];
      const int last = size.rank() - 1;
      if (last >= 0 && c[last] == n * of_c.strides[d] && a[last] == n * of_a.strides[d] &&
          b[last] == n * of_b.strides[d]) {
        size[last] *= n;
        c[last] = of_c.strides[d], a[last] = of_a.strides[d], b[last] = of_b.strides[d];
      } else {
        size.push_back(n);
        c.push_back(of_c.strides[d]);
        a.push_back(of_a.strides[d]);
        b.push_back(of_b.strides[d]);
      }
    }
  }
  void drop_last() {
    const int last = size.rank() - 1;
    size.erase(last), c.erase(last), a.erase(last), b.erase(last);
  }
};

template <class T>
void gemm(const Array& out, const Array& left, const Array& right, bool accumulate) {
  const int r = out.shape.rank() - 2;
  Size size{out.shape[r], out.shape[r + 1], left.shape[r + 1]};
  Matrix<T> c{out.as<T>(), out.strides[r], out.strides[r + 1]};
  Matrix<const T> a{left.as<T>(), left.strides[r], left.strides[r + 1]};
  Matrix<const T> b{right.as<T>(), right.strides[r], right.strides[r + 1]};
  // The stride of a single row or column is never used: let it say "dense" where it may.
  if (size.m == 1) c.row = size.n * c.column, a.row = size.k * a.column;
  if (size.n == 1) c.column = 1, b.column = 1;
  if (size.k == 1) a.column = 1, b.row = size.n * b.column;

  Batch batch(out, left, right);
  if (const int last = batch.size.rank() - 1; last >= 0) {
    // B is the same for all: their rows are the rows of one product. Or A is, and the columns are.
    const bool rows_follow =
        (size.m == 1 || (batch.a[last] == size.m * a.row && batch.c[last] == size.m * c.row));
    const bool columns_follow =
        (size.n == 1 || (batch.b[last] == size.n * b.column && batch.c[last] == size.n * c.column));
    if (batch.b[last] == 0 && rows_follow) {
      if (size.m == 1) a.row = batch.a[last], c.row = batch.c[last];
      size.m *= batch.size[last];
      batch.drop_last();
    } else if (batch.a[last] == 0 && columns_follow) {
      if (size.n == 1) b.column = batch.b[last], c.column = batch.c[last];
      size.n *= batch.size[last];
      batch.drop_last();
    }
  }

  const std::int64_t count = batch.size.numel();
  const bool large = size.flops() >= parallel_flops;
  const std::int64_t grain =
      large ? count : std::max<std::int64_t>(1, parallel_flops / (2 * size.flops()));
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      Matrix<T> ci = c;
      Matrix<const T> ai = a, bi = b;
      std::int64_t rest = i;
      for (int d = batch.size.rank() - 1; d >= 0; --d) {
        const std::int64_t at = rest % batch.size[d];
        rest /= batch.size[d];
        ci.data += at * batch.c[d], ai.data += at * batch.a[d], bi.data += at * batch.b[d];
      }
      product<T>(size, ci, ai, bi, accumulate, large);
    }
  });
}

// C = A B plus `row` in each row. False: the shape is not one for blocked().
template <class T>
bool product_plus_row(const Array& out, const Array& left, const Array& right, const Array& row) {
  const Size size{out.shape[0], out.shape[1], left.shape[1]};
  const Matrix<T> c{out.as<T>(), out.strides[0], out.strides[1]};
  const Matrix<const T> a{left.as<T>(), left.strides[0], left.strides[1]};
  const Matrix<const T> b{right.as<T>(), right.strides[0], right.strides[1]};
  if (std::min(size.m, size.n) <= few_rows || size.k < 2 || c.column != 1 || row.strides[0] != 1)
    return false;
  blocked(size, c, a, b, false, row.as<const T>(), size.flops() >= parallel_flops);
  return true;
}

}  // namespace

void Cpu::linear(const Array& y, const Array& x, const Array& w, const Array& b) const {
  const bool done = y.dtype == f32   ? product_plus_row<float>(y, x, w.transposed(), b)
                    : y.dtype == f64 ? product_plus_row<double>(y, x, w.transposed(), b)
                                     : false;
  if (!done) Kernels::linear(y, x, w, b);
}

void Cpu::gemm(const Array& c, const Array& a, const Array& b, bool accumulate) const {
  if (c.shape.numel() == 0) return;
  if (a.shape.back() == 0 || !is_floating(c.dtype)) return Naive::gemm(c, a, b, accumulate);
  if (c.dtype == f32)
    labgrad::gemm<float>(c, a, b, accumulate);
  else
    labgrad::gemm<double>(c, a, b, accumulate);
}

}  // namespace labgrad
