#pragma once
// What the rows of the registry are written with.

#include "engine/samples.h"

namespace labgrad::samples {

using Rows = std::vector<OpSample>;
using Cases = std::vector<SampleCase>;

// The families, one in each file of this folder.
Rows arithmetic_rows();
Rows pointwise_rows();
Rows reduction_rows();
Rows normalising_rows();
Rows shape_rows();
Rows product_rows();
Rows indexing_rows();
Rows image_rows();
Rows recurrent_rows();

// ---- domains ----
extern const Domain real;      // -2 .. 2
extern const Domain positive;  // 0.2 .. 3
extern const Domain nonzero;   // ±(0.1 .. 2)
extern const Domain distinct;  // far enough apart to be ordered
extern const Domain mask;      // bool
inline Domain between(double low, double high, std::vector<double> avoid = {}) {
  return {low, high, std::move(avoid)};
}
inline Domain index(std::int64_t size) {
  return {.low = 0, .high = static_cast<double>(size - 1), .dtype = i64};
}

// ---- cases ----
// One input of each of these shapes.
Cases shapes(const std::vector<Shape>& list, const Domain& domain = real);
// Of everything that may go wrong in a loop over elements: rank 0, sizes 0, 1 and primes, a length
// above what vectors and unrolling take at once, and one for several threads.
Cases elementwise(const Domain& domain = real);
// Two inputs that broadcast in every way, in both orders.
Cases broadcasting(const Domain& a = real, const Domain& b = real);
// Matrices and rank-3 tensors for ops along the last dimension, any length of it.
Cases rows_of(const Domain& domain = real);

// Both lists.
template <class T>
std::vector<T> operator+(std::vector<T> a, const std::vector<T>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace labgrad::samples
