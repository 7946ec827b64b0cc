#pragma once
// Strided arrays of one shape, walked by a running number: what an elementwise kernel is told of
// its operands' layouts.

#include <cstdint>

#include "engine/cpu/loops.h"
#include "engine/cuda/platform.h"

namespace labgrad {

// i / n, for 0 <= i < numel. A 64 bit division costs a GPU some hundred instructions, a 32 bit one
// twenty.
__device__ inline std::int64_t quotient(std::int64_t i, std::int64_t n, std::int64_t numel) {
  if (numel > 0x7fffffff) return i / n;
  return static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(n);
}

// Where element i lies in each of n arrays.
template <int n>
struct Offsets {
  std::int64_t at[n];
};

template <int n>
struct Layout {
  int rank = 1;
  std::int64_t numel = 1;
  std::int64_t size[max_rank] = {1};
  std::int64_t stride[n][max_rank] = {};

  __device__ Offsets<n> operator[](std::int64_t i) const {
    Offsets<n> o{};
    for (int d = rank - 1; d > 0; --d) {
      const std::int64_t rest = quotient(i, size[d], numel);
      const std::int64_t index = i - rest * size[d];
      for (int k = 0; k < n; ++k) o.at[k] += index * stride[k][d];
      i = rest;
    }
    for (int k = 0; k < n; ++k) o.at[k] += i * stride[k][0];
    return o;
  }
};

// Elements in any order, with neighbouring dimensions joined: a dense array has one. arrays[0] is
// the output.
template <int n>
Layout<n> any_order(const Array* const (&arrays)[n]) {
  const cpu::Loops loops(*arrays[0], arrays + 1, n - 1);
  Layout<n> l;
  l.rank = loops.rank;
  l.numel = arrays[0]->shape.numel();
  for (int d = 0; d < l.rank; ++d) {
    l.size[d] = loops.size[static_cast<std::size_t>(d)];
    for (int k = 0; k < n; ++k) l.stride[k][d] = loops.at(k)[static_cast<std::size_t>(d)];
  }
  return l;
}

// Elements in row-major order of `shape`; dimensions of size 1 are left out.
template <int n>
Layout<n> row_major(const Shape& shape, const Strides* const (&strides)[n]) {
  Layout<n> l;
  l.numel = shape.numel();
  int rank = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] == 1) continue;
    l.size[rank] = shape[d];
    for (int k = 0; k < n; ++k) l.stride[k][rank] = (*strides[k])[d];
    ++rank;
  }
  if (rank > 0) l.rank = rank;
  return l;
}

}  // namespace labgrad
