#include "data/half_circles.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/engine.h"
#include "engine/error.h"

using namespace labgrad;

TEST_CASE("half_circles: without noise the points lie on the two arcs, the labels alternate") {
  const auto [x, label] = data::half_circles(101, 0, 3);
  REQUIRE(x.shape() == Shape{101, 2});
  REQUIRE(label.shape() == Shape{101});
  CHECK(x.dtype() == f32);
  CHECK(label.dtype() == i64);
  for (std::int64_t i = 0; i < 101; ++i) {
    const double a = x.at({i, 0}), b = x.at({i, 1});
    REQUIRE(label.at({i}) == static_cast<double>(i % 2));
    if (i % 2 == 0) {
      CHECK(std::abs(std::hypot(a, b) - 1) < 1e-6);
      CHECK(b >= -1e-6);
    } else {
      CHECK(std::abs(std::hypot(a - 1, b - 0.5) - 1) < 1e-6);
      CHECK(b <= 0.5 + 1e-6);
    }
  }
}

TEST_CASE("half_circles: the seed decides, and the noise has the deviation asked for") {
  const data::HalfCircles a = data::half_circles(2000, 0.1, 7),
                          again = data::half_circles(2000, 0.1, 7);
  const data::HalfCircles other = data::half_circles(2000, 0.1, 8);
  const data::HalfCircles clean = data::half_circles(2000, 0, 7);
  CHECK(all(a.x == again.x).item<bool>());
  CHECK_FALSE(all(a.x == other.x).item<bool>());
  CHECK(std::abs(labgrad::std(a.x - clean.x).item() - 0.1) < 0.01);
  CHECK(data::half_circles(0).x.shape() == Shape{0, 2});
  CHECK_THROWS_AS(data::half_circles(-1), Error);
  CHECK_THROWS_AS(data::half_circles(3, -0.1), Error);
  CHECK_THROWS_AS(data::half_circles(3, std::nan("")), Error);
}
