#include "data/pca.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "engine/create.h"
#include "engine/error.h"

namespace labgrad::data {
namespace {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

constexpr int max_sweeps = 60;

// In eight partial sums: they need not wait for each other, and round less than one.
double dot(const Row& a, const Row& b) {
  std::array<double, 8> sums{};
  std::size_t i = 0;
  for (; i + 8 <= a.size(); i += 8)
    for (std::size_t j = 0; j < 8; ++j) sums[j] += a[i + j] * b[i + j];
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Rows p and q of V turned in their plane by (c, s): p' = c p - s q, q' = s p + c q.
void turn(Row& p, Row& q, double c, double s) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double before = p[i];
    p[i] = c * before - s * q[i];
    q[i] = s * before + c * q[i];
  }
}

// The first entry that is as large as the largest, up to rounding, becomes positive.
void fix_sign(Row& v) {
  double most = 0;
  for (const double x : v) most = std::max(most, std::abs(x));
  const auto first =
      std::find_if(v.begin(), v.end(), [&](double x) { return std::abs(x) >= most * (1 - 1e-9); });
  if (first != v.end() && *first < 0)
    for (double& x : v) x = -x;
}

void check_finite(const char* function, std::span<const double> numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!std::isfinite(numbers[i]))
      fail(fmt::format("{}: element {} is {}, expected finite numbers", function, i, numbers[i]));
}

Row flat(const Matrix& rows) {
  Row all;
  for (const Row& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

// The products of any two rows, divided by `by`; only the upper half of the matrix is filled.
Row gram(const Matrix& rows, double by) {
  Row products(rows.size() * rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = i; j < rows.size(); ++j)
      products[i * rows.size() + j] = dot(rows[i], rows[j]) / by;
  return products;
}

Matrix transposed(const Matrix& rows) {
  Matrix columns(rows[0].size(), Row(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows[i].size(); ++j) columns[j][i] = rows[i][j];
  return columns;
}

}  // namespace

EigenPairs symmetric_eigen(std::span<const double> matrix, std::int64_t n) {
  if (n < 0 || std::ssize(matrix) != n * n)
    fail(fmt::format("symmetric_eigen: {} numbers for a matrix of {} x {}", matrix.size(), n, n));
  check_finite("symmetric_eigen", matrix);
  const auto size = static_cast<std::size_t>(n);
  // Turned is not A but V and VA, both by rows, so that everything runs along memory; an entry of
  // VAVᵀ, which becomes diagonal, is the product of a row of VA and one of V.
  Matrix va(size, Row(size)), v(size, Row(size));
  double norm = 0;
  for (std::size_t i = 0; i < size; ++i) {
    v[i][i] = 1;
    for (std::size_t j = 0; j < size; ++j) {
      va[i][j] = matrix[std::min(i, j) * size + std::max(i, j)];
      norm += va[i][j] * va[i][j];
    }
  }
  // What rounding leaves of a zero.
  const double negligible = 1e-15 * std::sqrt(norm * static_cast<double>(n));
  Row diagonal(size);
  for (int sweep = 0, turned = 1; turned != 0 && sweep < max_sweeps; ++sweep) {
    turned = 0;
    for (std::size_t i = 0; i < size; ++i) diagonal[i] = dot(va[i], v[i]);
    for (std::size_t p = 0; p < size; ++p)
      for (std::size_t q = p + 1; q < size; ++q) {
        const double a_pq = dot(va[p], v[q]);
        if (std::abs(a_pq) <= negligible) continue;
        // [jacobi.1] The angle φ that makes a_pq zero: with θ = (a_qq - a_pp) / 2a_pq, t = tan φ is
        // the smaller root of t² + 2θt - 1 = 0.
        const double theta = (diagonal[q] - diagonal[p]) / (2 * a_pq);
        const double t = (theta < 0 ? -1.0 : 1.0) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        turn(va[p], va[q], c, s);
        turn(v[p], v[q], c, s);
        diagonal[p] -= t * a_pq;
        diagonal[q] += t * a_pq;
        ++turned;
      }
  }
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return diagonal[i] > diagonal[j]; });
  EigenPairs result;
  for (const std::size_t i : order) {
    fix_sign(v[i]);
    result.values.push_back(diagonal[i]);
    result.vectors.push_back(v[i]);
  }
  return result;
}

Pca pca(const Tensor& points, std::int64_t k) {
  if (points.rank() != 2 || !is_floating(points.dtype()) || points.size(0) < 2)
    fail(fmt::format("pca: expected at least two points as floating (N, D), got shape {}",
                     points.shape().str()));
  const std::int64_t N = points.size(0), D = points.size(1);
  if (k < 1 || k > D) fail(fmt::format("pca: {} components of {} dimensions", k, D));
  const Row values = points.to_vector();
  check_finite("pca", values);

  Matrix x;  // centred
  Row mean(static_cast<std::size_t>(D));
  for (std::size_t i = 0; i < values.size(); ++i)
    mean[i % mean.size()] += values[i] / static_cast<double>(N);
  for (auto row = values.begin(); row != values.end(); row += D) {
    x.emplace_back(row, row + D);
    for (std::size_t j = 0; j < mean.size(); ++j) x.back()[j] -= mean[j];
  }

  // [pca.1] The covariance XᵀX / (N-1) is D x D; with few points the N x N matrix XXᵀ / (N-1),
  // which has the same eigenvalues apart from zeros, is smaller: if XXᵀu = λu then XᵀX(Xᵀu) =
  // λ(Xᵀu).
  const double by = static_cast<double>(N - 1);
  const bool few = N < D;
  const Matrix columns = transposed(x);
  const EigenPairs eigen =
      few ? symmetric_eigen(gram(x, by), N) : symmetric_eigen(gram(columns, by), D);

  Pca result;
  for (const Row& column : columns) result.total_variance += dot(column, column) / by;
  Matrix components;
  for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
    Row component(static_cast<std::size_t>(D));
    double variance = 0;
    // Below this, a value is what rounding has left of 0.
    if (i < eigen.values.size() && eigen.values[i] > 1e-12 * eigen.values[0]) {
      variance = eigen.values[i];
      component = eigen.vectors[i];
      if (few) {
        component.assign(static_cast<std::size_t>(D), 0.0);
        for (std::size_t j = 0; j < columns.size(); ++j)
          component[j] = dot(columns[j], eigen.vectors[i]);
        const double length = std::sqrt(dot(component, component));
        for (double& c : component) c /= length;
        fix_sign(component);
      }
    }
    result.variance.push_back(variance);
    components.push_back(std::move(component));
  }
  result.mean = from_values(mean, {D});
  result.components = from_values(flat(components), {k, D});
  return result;
}

Tensor Pca::project(const Tensor& points) const {
  const std::int64_t D = mean.size(0), k = components.size(0);
  if (points.rank() != 2 || points.size(1) != D)
    fail(fmt::format("Pca: expected points of (N, {}), got shape {}", D, points.shape().str()));
  const Row x = points.to_vector(), centre = mean.to_vector(), w = components.to_vector();
  const auto width = static_cast<std::size_t>(D);
  Row coordinates;
  for (std::size_t row = 0; row < x.size(); row += width)
    for (std::size_t c = 0; c < w.size(); c += width) {
      double sum = 0;
      for (std::size_t j = 0; j < width; ++j) sum += (x[row + j] - centre[j]) * w[c + j];
      coordinates.push_back(sum);
    }
  return from_values(coordinates, {points.size(0), k});
}

}  // namespace labgrad::data
