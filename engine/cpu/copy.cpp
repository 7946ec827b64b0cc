// Filling, copying and converting.

#include <algorithm>
#include <type_traits>

#include "engine/cpu/cpu.h"
#include "engine/cpu/elementwise.h"
#include "engine/cpu/functions.h"
#include "engine/cpu/loops.h"
#include "engine/cpu/threads.h"

namespace labgrad {

namespace {

using namespace cpu;

// The line of a copy within a type. Moving elements needs no more than their size.
template <class U>
constexpr Line copy_line = &line<std::remove_const_t<decltype(functions::same)>, U, U>;

// A line of conversions. in and out are different types, so they are different memory.
template <class To, class From>
void convert_line(std::int64_t n, std::byte* out, const Operand* in) {
  To* __restrict o = reinterpret_cast<To*>(out);
  const From* __restrict x = reinterpret_cast<const From*>(in->data);
  if (in->step == 0) {
    std::fill(o, o + n, naive::convert<To>(*x));
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) o[i] = naive::convert<To>(x[i]);
}

template <class T>
void fill_with(const Array& out, T value) {
  const Array one{reinterpret_cast<std::byte*>(&value), out.dtype, out.shape,
                  Strides::filled(out.shape.rank(), 0)};
  dispatch_size(out.dtype, [&](auto tag) {
    elementwise(copy_line<typename decltype(tag)::type>, cheap_grain, out, one);
  });
}

// A transposed copy: the output runs along its last loop, the input along another, `across`. Both
// are cut in squares, which pass through a buffer: each cache line is used whole at once, even
// where rows a power of two apart would push each other out.
constexpr std::int64_t square = 32;

template <class U>
void transpose(const Loops& loops, int across, U* out, const U* in) {
  const auto a = static_cast<std::size_t>(across), b = static_cast<std::size_t>(loops.inner());
  const std::int64_t rows = loops.size[a], columns = loops.size[b];
  const std::int64_t out_row = loops.stride[0][a], in_column = loops.stride[1][b];
  Loops outer = loops;  // the other dimensions
  outer.size[a] = 1;
  outer.size[b] = 1;
  std::int64_t planes = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(outer.rank); ++d) planes *= outer.size[d];
  const std::int64_t strips = (rows + square - 1) / square;
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / (square * columns));
  parallel_for(planes * strips, grain, [&](std::int64_t begin, std::int64_t end) {
    U tile[square][square + 1];  // odd rows: a column is spread over the cache
    for (std::int64_t s = begin; s < end; ++s) {
      const Cursor plane(outer, s / strips);
      const std::int64_t row = s % strips * square, row_end = std::min(row + square, rows);
      U* o = out + plane.offset(0);
      const U* x = in + plane.offset(1);
      for (std::int64_t column = 0; column < columns; column += square) {
        const std::int64_t column_end = std::min(column + square, columns);
        for (std::int64_t j = column; j < column_end; ++j)
          std::copy(x + row + j * in_column, x + row_end + j * in_column, tile[j - column]);
        for (std::int64_t i = row; i < row_end; ++i)
          for (std::int64_t j = column; j < column_end; ++j)
            o[i * out_row + j] = tile[j - column][i - row];
      }
    }
  });
}

// The loop along which the input is dense, if the output is along the last one and the input is
// not, and both are long enough; else -1.
int dense_across(const Loops& loops) {
  if (loops.line_stride(0) != 1 || loops.line_stride(1) == 1) return -1;
  for (int d = 0; d < loops.inner(); ++d)
    if (loops.at(1)[static_cast<std::size_t>(d)] == 1 &&
        std::min(loops.size[static_cast<std::size_t>(d)], loops.line_size()) >= 8)
      return d;
  return -1;
}

}  // namespace

void Cpu::fill(const Array& out, double value) const {
  dispatch(out.dtype,
           [&](auto tag) { fill_with(out, naive::convert<typename decltype(tag)::type>(value)); });
}

void Cpu::fill_i64(const Array& out, std::int64_t value) const {
  dispatch(out.dtype,
           [&](auto tag) { fill_with(out, naive::convert<typename decltype(tag)::type>(value)); });
}

void Cpu::copy(const Array& out, const Array& in) const {
  if (out.dtype != in.dtype) {
    const Line line = dispatch(out.dtype, [&](auto to) {
      return dispatch(in.dtype, [](auto from) -> Line {
        return &convert_line<typename decltype(to)::type, typename decltype(from)::type>;
      });
    });
    elementwise(line, cheap_grain, out, in);
    return;
  }
  dispatch_size(out.dtype, [&](auto tag) {
    using U = typename decltype(tag)::type;
    const std::int64_t n = out.shape.numel();
    if (n > square * square && !is_contiguous(in.shape, in.strides)) {
      const Array* const inputs[] = {&in};
      const Loops loops(out, inputs, 1);
      const int across = dense_across(loops);
      if (across >= 0) return transpose(loops, across, out.as<U>(), in.as<U>());
    }
    elementwise(copy_line<U>, cheap_grain, out, in);
  });
}

}  // namespace labgrad
