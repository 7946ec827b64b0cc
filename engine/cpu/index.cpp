// Reading and adding at indices. Reading moves whole rows where the memory allows; adding divides
// the targets among threads, never the additions to one target, which happen in the order of the
// index.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/cpu/cpu.h"
#include "engine/cpu/each_vector.h"
#include "engine/cpu/elementwise.h"
#include "engine/cpu/loops.h"
#include "engine/cpu/rows.h"
#include "engine/cpu/threads.h"

namespace labgrad {

using namespace cpu;

namespace {

// An array seen from dimension dim: the dimensions before it, and those after it, which are moved
// or added as one line if they lie dense in both arrays.
bool dense_after(const Array& a, int dim) {
  std::int64_t expected = 1;
  for (int d = a.shape.rank() - 1; d > dim; --d) {
    if (a.shape[d] != 1 && a.strides[d] != expected) return false;
    expected *= a.shape[d];
  }
  return true;
}

struct Sides {
  Shape before;          // with 1 from dim on
  std::int64_t after;    // elements behind one position
  std::int64_t outside;  // positions before
};
Sides sides(const Array& a, int dim) {
  Sides s{a.shape, 1, 1};
  for (int d = dim; d < a.shape.rank(); ++d) s.before[d] = 1;
  for (int d = dim + 1; d < a.shape.rank(); ++d) s.after *= a.shape[d];
  s.outside = s.before.numel();
  return s;
}

// The offset of position p of the dimensions before dim.
std::int64_t offset_of(const Shape& before, const Strides& strides, std::int64_t p) {
  std::int64_t offset = 0;
  for (int d = before.rank() - 1; d >= 0; --d) {
    if (before[d] == 1) continue;
    offset += p % before[d] * strides[d];
    p /= before[d];
  }
  return offset;
}

// a + b as the specification has it: integers wrap around.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return static_cast<T>(a + b);
}

}  // namespace

// out[i, j, k] = x[index[i, j, k], j, k]
void Cpu::gather(const Array& out, const Array& x, const Array& index, int dim) const {
  if (out.shape.rank() == 0 || out.shape.numel() == 0) return Naive::gather(out, x, index, dim);
  // Along dim x stands still, for there the index takes its place.
  Strides held = x.strides;
  held[dim] = 0;
  // The longest dimension, of equal ones the last.
  int line = out.shape.rank() - 1;
  for (int d = line; d >= 0; --d)
    if (out.shape[d] > out.shape[line]) line = d;
  const std::int64_t n = out.shape[line], step = x.strides[dim];
  dispatch_size(x.dtype, [&](auto tag) {
    using U = typename decltype(tag)::type;
    parallel_lines(
        out.shape, line, cheap_grain,
        [&](std::int64_t i, std::int64_t j, std::int64_t l) {
          U* const o = out.as<U>() + i;
          const U* const a = x.as<const U>() + j;
          const std::int64_t* const at = index.as<const std::int64_t>() + l;
          const std::int64_t so = out.strides[line], sa = held[line], si = index.strides[line];
          for (std::int64_t q = 0; q < n; ++q) o[q * so] = a[q * sa + at[q * si] * step];
        },
        out.strides, held, index.strides);
  });
}

// out[i, j, k] = x[index[i], j, k], moved as rows of what follows dim
void Cpu::index_select(const Array& out, const Array& x, const Array& index, int dim) const {
  if (out.shape.rank() == 0 || out.shape.numel() == 0 || !dense_after(out, dim) ||
      !dense_after(x, dim))
    return Naive::index_select(out, x, index, dim);
  const Sides s = sides(out, dim);
  const std::int64_t count = out.shape[dim];
  dispatch_size(x.dtype, [&](auto tag) {
    using U = typename decltype(tag)::type;
    const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / s.after);
    parallel_for(s.outside * count, grain, [&](std::int64_t begin, std::int64_t end) {
      while (begin < end) {
        const std::int64_t p = begin / count, first = begin % count;
        const std::int64_t last = std::min(count, first + end - begin);
        const U* const a = x.as<const U>() + offset_of(s.before, x.strides, p);
        U* const o = out.as<U>() + offset_of(s.before, out.strides, p);
        for (std::int64_t i = first; i < last; ++i) {
          const std::int64_t from = index.as<const std::int64_t>()[i * index.strides[0]];
          copy_run(o + i * out.strides[dim], a + from * x.strides[dim], s.after);
        }
        begin += last - first;
      }
    });
  });
}

// out[index[i], j, k] += src[i, j, k]
void Cpu::index_add(const Array& out, const Array& index, const Array& src, int dim) const {
  if (src.shape.rank() == 0 || src.shape.numel() == 0 || out.dtype == boolean ||
      !dense_after(out, dim) || !dense_after(src, dim))
    return Naive::index_add(out, index, src, dim);
  const Sides s = sides(src, dim);
  const std::int64_t count = src.shape[dim];
  // A task owns a block of columns and goes through the whole index.
  const std::int64_t width = std::clamp<std::int64_t>(cheap_grain / count, 32, s.after + 32);
  const std::int64_t blocks = divide_up(s.after, width);
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::int64_t grain =
        std::max<std::int64_t>(1, cheap_grain / (count * std::min(width, s.after)));
    parallel_for(s.outside * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t p = task / blocks, j = task % blocks * width;
        const std::int64_t n = std::min(width, s.after - j);
        T* const o = out.as<T>() + offset_of(s.before, out.strides, p) + j;
        const T* const a = src.as<const T>() + offset_of(s.before, src.strides, p) + j;
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t to = index.as<const std::int64_t>()[i * index.strides[0]];
          T* const target = o + to * out.strides[dim];
          const T* const source = a + i * src.strides[dim];
          for (std::int64_t q = 0; q < n; ++q) target[q] = plus(target[q], source[q]);
        }
      }
    });
  });
}

// out[index[i, j, k], j, k] += src[i, j, k]: lines along dim don't meet
void Cpu::scatter_add(const Array& out, const Array& index, const Array& src, int dim) const {
  if (src.shape.rank() == 0 || index.shape.numel() == 0 || out.dtype == boolean)
    return Naive::scatter_add(out, index, src, dim);
  const std::int64_t n = index.shape[dim];
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_lines(
        index.shape, dim, cheap_grain,
        [&](std::int64_t i, std::int64_t l, std::int64_t j) {
          for (std::int64_t q = 0; q < n; ++q) {
            const std::int64_t to =
                index.as<const std::int64_t>()[l + q * index.strides[dim]] * out.strides[dim];
            T& target = out.as<T>()[i + to];
            target = plus(target, src.as<const T>()[j + q * src.strides[dim]]);
          }
        },
        out.strides, index.strides, src.strides);
  });
}

}  // namespace labgrad
