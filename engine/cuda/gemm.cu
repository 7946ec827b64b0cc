// The matrix product. gemm_tile.h has the kernel for large ones.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/cuda/cuda.h"
#include "engine/cuda/gemm_tile.h"
#include "engine/naive/formulas.h"

namespace labgrad {

using namespace naive;
using tiled::Matrix;
using tiled::Sizes;

namespace {

// c_ij = Σ_k a_ik b_kj, one thread for each element: for few terms, and for integers
template <class T>
__global__ void plain_product_kernel(Matrix<T> c, Matrix<const T> a, Matrix<const T> b,
                                     Sizes size) {
  const std::int64_t in_product = size.rows * size.columns;
  for (std::int64_t n = first_index(); n < in_product * size.batches.numel; n += index_step()) {
    const Offsets<3> begins = size.batches[n / in_product];
    const std::int64_t i = n % in_product / size.columns, j = n % size.columns;
    T sum = T(0);
    for (std::int64_t k = 0; k < size.depth; ++k)
      sum = plus(sum, times(a.memory[begins.at[1] + a.outer(i).offset + a.inner(k).offset],
                            b.memory[begins.at[2] + b.outer(j).offset + b.inner(k).offset]));
    T& to = c.memory[begins.at[0] + c.outer(i).offset + c.inner(j).offset];
    to = size.accumulate ? plus(to, sum) : sum;
  }
}

// A product as the strides of its three operands.
struct Product {
  struct Side {
    const Array* array;
    std::int64_t outer, inner;     // c: of a row and a column
    std::int64_t batch[max_rank];  // of the leading dimensions
  };
  Product(const Array& c_, const Array& a_, const Array& b_);

  int leading;
  std::int64_t batch[max_rank];
  std::int64_t rows, columns, depth;
  Side c, a, b;
};

// What is repeated over the last leading dimension, while its partner and the result go on there
// as more rows of one matrix, makes one product of them all.
bool join(Product& p, const Product::Side& repeated, const Product::Side& moving,
          std::int64_t& rows, std::int64_t c_row) {
  const int d = p.leading - 1;
  if (repeated.batch[d] != 0 || moving.batch[d] != rows * moving.outer ||
      p.c.batch[d] != rows * c_row)
    return false;
  rows *= p.batch[d];
  --p.leading;
  return true;
}

Product::Product(const Array& c_, const Array& a_, const Array& b_) {
  leading = c_.shape.rank() - 2;
  const int row = leading, column = leading + 1;
  rows = c_.shape[row];
  columns = c_.shape[column];
  depth = a_.shape[column];
  c = {&c_, c_.strides[row], c_.strides[column], {}};
  a = {&a_, a_.strides[row], a_.strides[column], {}};
  b = {&b_, b_.strides[column], b_.strides[row], {}};
  for (int d = 0; d < leading; ++d) {
    batch[d] = c_.shape[d];
    for (Side* side : {&c, &a, &b}) side->batch[d] = side->array->strides[d];
  }
  while (leading > 0 && (join(*this, b, a, rows, c.outer) || join(*this, a, b, columns, c.inner))) {
  }
  // Neighbouring threads write neighbouring columns: if c's neighbours are its rows, cᵀ = bᵀ aᵀ.
  if (c.outer == 1 && c.inner != 1) {
    std::swap(rows, columns);
    std::swap(c.outer, c.inner);
    std::swap(a, b);
  }
}

Layout<3> batches(const Product& p) {
  Layout<3> l;
  l.rank = std::max(1, p.leading);
  for (int d = 0; d < p.leading; ++d) {
    l.numel *= p.batch[d];
    l.size[d] = p.batch[d];
    l.stride[0][d] = p.c.batch[d];
    l.stride[1][d] = p.a.batch[d];
    l.stride[2][d] = p.b.batch[d];
  }
  return l;
}

template <class T>
Matrix<T> matrix(const Product& p, const Product::Side& x, std::int64_t outer_size,
                 const char* name) {
  Matrix<T> m{Memory<T>(*x.array, name), x.outer, x.inner};
  m.along_inner = p.depth > 1 && (x.inner == 1 || x.outer != 1);
  // All packs are whole, and lie at multiples of 16 bytes, if all lengths and distances are
  // multiples.
  constexpr std::int64_t lanes = 16 / sizeof(T);
  m.packed = reinterpret_cast<std::uintptr_t>(x.array->data) % 16 == 0 &&
             (m.along_inner ? x.inner : x.outer) == 1 &&
             (m.along_inner ? p.depth : outer_size) % lanes == 0 &&
             (m.along_inner ? x.outer : x.inner) % lanes == 0;
  for (int d = 0; d < p.leading; ++d) m.packed = m.packed && x.batch[d] % lanes == 0;
  return m;
}

}  // namespace

void Cuda::gemm(const Array& c, const Array& a, const Array& b, bool accumulate) const {
  const Product p(c, a, b);
  const Sizes size{p.rows, p.columns, p.depth, batches(p), accumulate};
  const std::int64_t n = tiled::results(size);
  if (n == 0) return;
  dispatch(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto to = matrix<T>(p, p.c, 0, "c");
    const auto x = matrix<const T>(p, p.a, p.rows, "a");
    const auto y = matrix<const T>(p, p.b, p.columns, "b");
    if constexpr (std::is_floating_point_v<T>)
      if (!tiled::is_small(size)) return tiled::multiply<T>("gemm", size, to, x, y);
    launch("plain gemm", plain_product_kernel<T>, grid_of(n), block_size, to, x, y, size);
  });
}

}  // namespace labgrad
