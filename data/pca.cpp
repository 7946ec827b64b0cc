#include "data/pca.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/create.h"
#include "engine/error.h"

namespace labgrad::data {
namespace {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

constexpr int max_sweeps = 60;

double dot(const Row& a, const Row& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The sum of squares on the diagonal and above it.
struct Sizes {
  double diagonal = 0, above = 0;
};
Sizes sizes(const Matrix& a) {
  Sizes s;
  for (std::size_t i = 0; i < a.size(); ++i) {
    s.diagonal += a[i][i] * a[i][i];
    for (std::size_t j = i + 1; j < a.size(); ++j) s.above += a[i][j] * a[i][j];
  }
  return s;
}

// The rotation (c, s) in the plane (p, q) that makes a[p][q] zero: with θ = (a_qq - a_pp) / 2a_pq,
// t = tan φ is the smaller root of t² + 2θt - 1 = 0.
void rotate(Matrix& a, Matrix& vectors, std::size_t p, std::size_t q) {
  if (a[p][q] == 0) return;
  const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double t = (theta < 0 ? -1.0 : 1.0) / (std::abs(theta) + std::hypot(theta, 1.0));
  const double c = 1 / std::hypot(t, 1.0), s = t * c;
  const auto turn = [&](double& x, double& y) {
    const double before = x;
    x = c * before - s * y;
    y = s * before + c * y;
  };
  for (std::size_t i = 0; i < a.size(); ++i) turn(a[p][i], a[q][i]);
  for (Row& row : a) turn(row[p], row[q]);
  a[p][q] = a[q][p] = 0;
  for (std::size_t i = 0; i < a.size(); ++i) turn(vectors[p][i], vectors[q][i]);
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

// All products of two rows, divided by `by`.
Row gram(const Matrix& rows, double by) {
  Row products;
  for (const Row& a : rows)
    for (const Row& b : rows) products.push_back(dot(a, b) / by);
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
  Matrix a(size, Row(size)), vectors(size, Row(size));
  for (std::size_t i = 0; i < size; ++i) {
    vectors[i][i] = 1;
    for (std::size_t j = i; j < size; ++j) a[i][j] = a[j][i] = matrix[i * size + j];
  }
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    const Sizes s = sizes(a);
    if (s.above <= 1e-32 * s.diagonal || s.above == 0) break;
    for (std::size_t p = 0; p < size; ++p)
      for (std::size_t q = p + 1; q < size; ++q) rotate(a, vectors, p, q);
  }
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return a[i][i] > a[j][j]; });
  EigenPairs result;
  for (const std::size_t i : order) {
    fix_sign(vectors[i]);
    result.values.push_back(a[i][i]);
    result.vectors.push_back(vectors[i]);
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

  // The covariance XᵀX / (N-1) is D x D; with few points the N x N matrix XXᵀ / (N-1), which has
  // the same eigenvalues apart from zeros, is smaller: if XXᵀu = λu then XᵀX(Xᵀu) = λ(Xᵀu).
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
