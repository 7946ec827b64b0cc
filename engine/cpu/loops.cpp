#include "engine/cpu/loops.h"

#include <cstdlib>
#include <utility>

namespace labgrad::cpu {

Loops::Loops(const Array& out, const Array* const* in, int inputs) : operands(inputs + 1) {
  // From the outermost dimension of the output's memory to the innermost: an insertion sort, which
  // keeps the order where strides are equal.
  std::array<int, max_rank> order{};
  std::size_t count = 0;
  for (int d = 0; d < out.shape.rank(); ++d) {
    if (out.shape[d] == 1) continue;
    std::size_t place = count++;
    for (; place > 0; --place) {
      const int before = order[place - 1];
      if (std::abs(out.strides[before]) >= std::abs(out.strides[d])) break;
      order[place] = before;
    }
    order[place] = d;
  }
  if (count == 0) return;  // a single element

  std::size_t last = 0;  // the dimension being built
  for (std::size_t i = 0; i < count; ++i) {
    const int d = order[i];
    const std::int64_t n = out.shape[d];
    auto step = [&](std::size_t k) { return k == 0 ? out.strides[d] : in[k - 1]->strides[d]; };
    bool joins = i > 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(operands); ++k)
      joins = joins && stride[k][last] == step(k) * n;
    if (i > 0 && !joins) ++last;
    size[last] = joins ? size[last] * n : n;
    for (std::size_t k = 0; k < static_cast<std::size_t>(operands); ++k) stride[k][last] = step(k);
  }
  rank = static_cast<int>(last) + 1;
}

bool Loops::is_dense(int k) const {
  std::int64_t expected = 1;
  for (auto d = static_cast<std::size_t>(rank); d-- > 0; expected *= size[d])
    if (at(k)[d] != expected && size[d] != 1) return false;
  return true;
}

bool Loops::is_constant(int k) const {
  for (std::size_t d = 0; d < static_cast<std::size_t>(rank); ++d)
    if (at(k)[d] != 0 && size[d] != 1) return false;
  return true;
}

Cursor::Cursor(const Loops& loops, std::int64_t position)
    : loops_(loops), inner_(static_cast<std::size_t>(loops.rank - 1)) {
  for (std::size_t d = inner_ + 1; d-- > 0;) {
    index_[d] = position % loops.size[d];
    position /= loops.size[d];
    move(d, index_[d]);
  }
}

}  // namespace labgrad::cpu
