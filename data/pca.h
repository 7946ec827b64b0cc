#pragma once
// Principal components: the directions in which points differ most.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/tensor.h"

namespace labgrad::data {

struct EigenPairs {
  std::vector<double> values;                // falling
  std::vector<std::vector<double>> vectors;  // of length 1, one for each value
};
// All eigenvalues and eigenvectors of a symmetric n x n matrix, row by row; only its upper half is
// read. Jacobi's method: plane rotations, each of which makes one pair of entries 0, over all pairs
// until what is off the diagonal is lost in rounding. The sign of a vector makes the first of its
// largest entries (by size, up to rounding) positive. Equal eigenvalues: any orthogonal vectors of
// their space, always the same ones. Error: not n·n numbers, one that is not finite.
EigenPairs symmetric_eigen(std::span<const double> matrix, std::int64_t n);

struct Pca {
  Tensor mean;                   // (D)
  Tensor components;             // (k, D), rows of length 1, orthogonal to each other
  std::vector<double> variance;  // (k), falling: along each component, dividing by N - 1
  double total_variance = 0;     // over all D directions

  // Coordinates of the points (N, D) along the components: (N, k). Error: another D.
  Tensor project(const Tensor& points) const;
};

// The first k principal components of N points (N, D) of any floating dtype; computed and given in
// f64, on the default device, outside the graph. Signs as in symmetric_eigen. A component along
// which nothing varies (there are at most N - 1 others) is a row of zeros.
// Error: not (N, D) with N at least 2, k outside 1 to D, a number that is not finite.
Pca pca(const Tensor& points, std::int64_t k = 2);

}  // namespace labgrad::data
