#include "engine/ops/resize.h"

#include <doctest/doctest.h>

#include "engine/create.h"
#include "engine/ops/shape.h"
#include "tests/check_close.h"
#include "tests/engine/ops/golden_ops.h"

using namespace labgrad;
using tests::check_golden;
using tests::Named;

TEST_CASE("interpolate_bilinear: golden values and gradients") {
  const auto run = [](const Json& attrs, Named& in) {
    const std::vector<std::int64_t> size = golden::integers(attrs.at("size"));
    return interpolate_bilinear(in["x"], {size[0], size[1]});
  };
  CHECK(check_golden("interpolate_bilinear", run) == 2);
}

TEST_CASE("interpolate_bilinear: by hand, and errors") {
  const Tensor x = reshape(tensor({0.0, 4.0}), {1, 1, 1, 2});
  // Places -1/4 (held at 0), 1/4, 3/4, 5/4 (held at the last pixel).
  CHECK(interpolate_bilinear(x, {1, 4}).to_vector() == std::vector<double>{0, 1, 3, 4});
  CHECK(interpolate_bilinear(x, {2, 1}).to_vector() == std::vector<double>{2, 2});
  CHECK_THROWS_WITH_AS(interpolate_bilinear(x, {0, 4}), doctest::Contains("(0, 4)"), Error);
  CHECK_THROWS_WITH_AS(interpolate_bilinear(zeros({2, 2}), 4), doctest::Contains("(2, 2)"), Error);
}
