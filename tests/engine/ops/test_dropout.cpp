#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/engine.h"
#include "tests/check_close.h"

using namespace labgrad;
using tests::bit_difference;
using tests::difference;

TEST_CASE("dropout: survivors are scaled by 1/(1-p) and the mean stays") {
  Generator generator(1);
  const Tensor y = dropout(ones({1000000}), 0.1, true, generator);
  const double survivor = 1 / 0.9;
  std::int64_t zeros_seen = 0;
  for (float v : y.to_vector<float>()) {
    if (v == 0)
      ++zeros_seen;
    else if (!(std::abs(v - survivor) < 1e-6))
      FAIL("a survivor is " << v);
  }
  CHECK(std::abs(static_cast<double>(zeros_seen) - 1e5) < 2e3);
  CHECK(std::abs(mean(y).item() - 1) < 0.002);
}

TEST_CASE("dropout: the backward pass uses the same mask, the next call another") {
  Generator generator(2);
  const Tensor x = full({200}, 3.0, {.dtype = f64, .requires_grad = true});
  const Tensor y = dropout(x, 0.5, true, generator);
  CHECK(difference(grad(sum(y), x, {}, {.retain_graph = true}), (y / 3).to_vector()) == "");
  CHECK(difference(dropout(x, 0.5, true, generator), y.to_vector()) != "");
  Generator again(2);
  CHECK(bit_difference(dropout(x, 0.5, true, again), y) == "");
  // The mask belongs to the element's place, not to the layout of its storage.
  Generator a(3), b(3);
  const Tensor m = ones({8, 9});
  CHECK(bit_difference(dropout(m, 0.5, true, a), dropout(transpose(ones({9, 8})), 0.5, true, b)) ==
        "");
}

TEST_CASE("dropout: p = 0, p = 1, evaluation, errors") {
  Generator generator(4);
  const Tensor x = tensor({1.0, std::numeric_limits<double>::infinity()}).requires_grad_();
  CHECK(dropout(x, 0, true, generator).impl() == x.impl());
  CHECK(dropout(x, 0.5, false, generator).impl() == x.impl());
  CHECK(generator.get_state() == Generator(4).get_state());  // nothing was drawn
  const Tensor none = dropout(x, 1, true, generator);
  CHECK(none.to_vector() == std::vector<double>{0, 0});
  CHECK(grad(sum(none), x).to_vector() == std::vector<double>{0, 0});
  CHECK_THROWS_WITH_AS(dropout(x, 1.5), doctest::Contains("dropout: p is 1.5"), Error);
  CHECK_THROWS_WITH_AS(dropout(x, std::nan("")), doctest::Contains("dropout: p is"), Error);
  CHECK_THROWS_WITH_AS(dropout(tensor({1}), 0.5), doctest::Contains("dropout: needs a floating"),
                       Error);
}
