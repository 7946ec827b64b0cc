#include "data/pca.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/create.h"
#include "engine/ops.h"
#include "tests/engine/io/files.h"

using namespace labgrad;
using data::EigenPairs;
using data::pca;
using data::symmetric_eigen;

namespace {

bool near(double a, double b, double tolerance = 1e-12) { return std::abs(a - b) <= tolerance; }

}  // namespace

TEST_CASE("eigen: known eigenvalues and eigenvectors") {
  // 2 1; 1 2 has 3 along (1, 1) and 1 along (1, -1).
  const EigenPairs two = symmetric_eigen(std::vector<double>{2, 1, 1, 2}, 2);
  const double h = std::sqrt(0.5);
  CHECK(near(two.values[0], 3));
  CHECK(near(two.values[1], 1));
  CHECK(near(two.vectors[0][0], h));
  CHECK(near(two.vectors[0][1], h));
  CHECK(near(two.vectors[1][0], h));
  CHECK(near(two.vectors[1][1], -h));
  // -1 0 0; 0 2 0; 0 0 1: already diagonal, only sorted.
  const EigenPairs diagonal = symmetric_eigen(std::vector<double>{-1, 0, 0, 0, 2, 0, 0, 0, 1}, 3);
  CHECK(diagonal.values == std::vector<double>{2, 1, -1});
  CHECK(diagonal.vectors[0] == std::vector<double>{0, 1, 0});
  CHECK(diagonal.vectors[2] == std::vector<double>{1, 0, 0});
  CHECK(symmetric_eigen({}, 0).values.empty());
  CHECK(symmetric_eigen(std::vector<double>{0, 0, 0, 0}, 2).values == std::vector<double>{0, 0});
}

// The second difference matrix (2 on the diagonal, -1 beside it) of size n has the eigenvalues
// 2 - 2 cos(kπ / (n + 1)) and the eigenvectors sin(ikπ / (n + 1)).
TEST_CASE("eigen: the second difference matrix, in closed form") {
  constexpr std::int64_t n = 40;
  std::vector<double> matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    matrix[i * n + i] = 2;
    if (i + 1 < n) matrix[i * n + i + 1] = matrix[(i + 1) * n + i] = -1;
  }
  const EigenPairs pairs = symmetric_eigen(matrix, n);
  const double step = std::acos(-1.0) / (n + 1);
  for (std::size_t at = 0; at < n; ++at) {
    const double k = static_cast<double>(n - at);
    CHECK(near(pairs.values[at], 2 - 2 * std::cos(k * step), 1e-13));
    const double scale = std::sqrt(2.0 / (n + 1));
    double same = 0;
    for (std::size_t i = 0; i < n; ++i)
      same += pairs.vectors[at][i] * scale * std::sin(static_cast<double>(i + 1) * k * step);
    CHECK(near(std::abs(same), 1, 1e-12));
  }
}

TEST_CASE("eigen: bad input") {
  using files::has;
  using files::problem;
  CHECK(has(problem([] { symmetric_eigen(std::vector<double>{1, 2, 3}, 2); }), "2 x 2"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(has(problem([&] { symmetric_eigen(std::vector<double>{nan}, 1); }), "element 0"));
}

TEST_CASE("pca: points on a line and a cross with known axes, signs fixed") {
  // Along (3, 4)/5 with coordinates -5, 0, 5, plus ±1 across, around (10, 20).
  const Tensor points = tensor({{7., 16.}, {13., 24.}, {9.2, 20.6}, {10.8, 19.4}});
  const data::Pca p = pca(points);
  CHECK(near(p.mean.at({0}), 10, 1e-6));
  CHECK(near(p.components.at({0, 0}), 0.6, 1e-6));
  CHECK(near(p.components.at({0, 1}), 0.8, 1e-6));
  CHECK(near(p.components.at({1, 0}), 0.8, 1e-6));
  CHECK(near(p.components.at({1, 1}), -0.6, 1e-6));
  CHECK(near(p.variance[0], 50.0 / 3, 1e-4));
  CHECK(near(p.variance[1], 2.0 / 3, 1e-4));
  CHECK(near(p.total_variance, 52.0 / 3, 1e-4));
  const Tensor projected = p.project(points);
  CHECK(near(projected.at({0, 0}), -5, 1e-5));
  CHECK(near(projected.at({1, 0}), 5, 1e-5));
  CHECK(near(projected.at({3, 1}), 1, 1e-5));
}

TEST_CASE("pca: few points in many dimensions give the same as the covariance would") {
  Generator generator(3);
  const Tensor points = randn({6, 9}, generator, {.dtype = f64});
  const data::Pca p = pca(points, 9);
  double sum = 0;
  for (const double v : p.variance) sum += v;
  CHECK(near(sum, p.total_variance));
  for (std::int64_t i = 0; i < 9; ++i) {
    // Six points span five dimensions around their mean.
    CHECK((p.variance[static_cast<std::size_t>(i)] > 1e-3) == (i < 5));
    for (std::int64_t j = 0; j <= i; ++j) {
      double product = 0;
      for (std::int64_t d = 0; d < 9; ++d)
        product += p.components.at({i, d}) * p.components.at({j, d});
      CHECK(near(product, i == j && i < 5 ? 1 : 0));
    }
  }
  // Variance of the coordinates, and the points again from all of them.
  const Tensor projected = p.project(points);
  for (std::int64_t i = 0; i < 5; ++i) {
    double squares = 0;
    for (std::int64_t n = 0; n < 6; ++n) squares += std::pow(projected.at({n, i}), 2);
    CHECK(near(squares / 5, p.variance[static_cast<std::size_t>(i)]));
  }
  const Tensor again = matmul(projected, p.components) + p.mean;
  for (std::int64_t n = 0; n < 6; ++n)
    for (std::int64_t d = 0; d < 9; ++d) CHECK(near(again.at({n, d}), points.at({n, d})));
  // The same points with three copies of each take the other way; the axes are the same.
  const data::Pca more = pca(cat({points, points, points}, 0), 5);
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t d = 0; d < 9; ++d)
      CHECK(near(more.components.at({i, d}), p.components.at({i, d}), 1e-9));
}

TEST_CASE("pca: nothing varies, and bad input") {
  const data::Pca flat = pca(ones({4, 3}));
  CHECK(flat.variance == std::vector<double>{0, 0});
  CHECK(flat.project(ones({1, 3})).to_vector() == std::vector<double>{0, 0});
  using files::has;
  using files::problem;
  CHECK(has(problem([] { pca(ones({1, 3})); }), "two points"));
  CHECK(has(problem([] { pca(ones({3})); }), "(N, D)"));
  CHECK(has(problem([] { pca(ones({3, 2}), 3); }), "3 components of 2"));
  CHECK(has(problem([] {
              pca(tensor({{1., std::numeric_limits<double>::infinity()}, {1., 2.}}));
            }),
            "element 1"));
  CHECK(has(problem([&] { flat.project(ones({1, 4})); }), "(N, 3)"));
}
