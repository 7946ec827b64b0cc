#pragma once
// The layouts of an output and up to three inputs, brought to the fewest dimensions: an elementwise
// primitive may visit its elements in any order.

#include <array>
#include <cstdint>

#include "engine/kernels.h"

namespace labgrad::cpu {

inline constexpr int max_operands = 4;

// Dimensions of size 1 are dropped, the others ordered by the output's strides, from the outermost
// to the innermost, and neighbours joined where every operand steps evenly from one to the next: a
// dense array has one dimension in the end. Operand 0 is the output.
struct Loops {
  Loops(const Array& out, const Array* const* in, int inputs);

  int rank = 1;  // at least 1
  int operands;
  std::array<std::int64_t, max_rank> size{1};
  std::array<std::array<std::int64_t, max_rank>, max_operands> stride{};

  int inner() const { return rank - 1; }
  std::int64_t line_size() const { return size[static_cast<std::size_t>(rank - 1)]; }
  std::int64_t line_stride(int k) const { return at(k)[static_cast<std::size_t>(rank - 1)]; }
  const std::array<std::int64_t, max_rank>& at(int k) const {
    return stride[static_cast<std::size_t>(k)];
  }
  // Is operand k dense in the order of the loops; is it the same element everywhere?
  bool is_dense(int k) const;
  bool is_constant(int k) const;
};

// A position in the loops with every operand's offset there.
class Cursor {
 public:
  Cursor(const Loops& loops, std::int64_t position);

  std::int64_t offset(int k) const { return offset_[static_cast<std::size_t>(k)]; }
  // Elements from here to the end of the line.
  std::int64_t left() const { return loops_.line_size() - index_[inner_]; }
  // Moves on by n <= left() elements.
  void advance(std::int64_t n) {
    index_[inner_] += n;
    move(inner_, n);
    for (std::size_t d = inner_; d > 0 && index_[d] == loops_.size[d]; --d) {
      move(d, -index_[d]);
      index_[d] = 0;
      ++index_[d - 1];
      move(d - 1, 1);
    }
  }

 private:
  void move(std::size_t d, std::int64_t steps) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(loops_.operands); ++k)
      offset_[k] += steps * loops_.stride[k][d];
  }

  const Loops& loops_;
  std::size_t inner_;
  std::array<std::int64_t, max_rank> index_{};
  std::array<std::int64_t, max_operands> offset_{};
};

// Copies n elements of operand k, from `position` in the loops on, between the array that starts at
// `array` and a dense row. U is an unsigned integer of the elements' size.
template <class U>
void gather(const Loops& loops, int k, const U* array, std::int64_t position, std::int64_t n,
            U* row) {
  const std::int64_t stride = loops.line_stride(k);
  for (Cursor cursor(loops, position); n > 0;) {
    const std::int64_t run = n < cursor.left() ? n : cursor.left();
    const U* from = array + cursor.offset(k);
    for (std::int64_t i = 0; i < run; ++i) row[i] = from[i * stride];
    cursor.advance(run);
    row += run;
    n -= run;
  }
}
template <class U>
void scatter(const Loops& loops, int k, U* array, std::int64_t position, std::int64_t n,
             const U* row) {
  const std::int64_t stride = loops.line_stride(k);
  for (Cursor cursor(loops, position); n > 0;) {
    const std::int64_t run = n < cursor.left() ? n : cursor.left();
    U* to = array + cursor.offset(k);
    for (std::int64_t i = 0; i < run; ++i) to[i * stride] = row[i];
    cursor.advance(run);
    row += run;
    n -= run;
  }
}

// Calls f(Type<U>{}) with the unsigned integer of the dtype's size: moving elements needs no more.
template <class F>
decltype(auto) dispatch_size(DType dtype, F&& f) {
  switch (size_of(dtype)) {
    case 1:
      return f(Type<std::uint8_t>{});
    case 4:
      return f(Type<std::uint32_t>{});
    default:
      return f(Type<std::uint64_t>{});
  }
}

}  // namespace labgrad::cpu
