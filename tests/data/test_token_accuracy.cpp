#include "data/token_accuracy.h"

#include <doctest/doctest.h>

#include <cmath>

#include "data/vocabulary.h"
#include "engine/create.h"
#include "engine/error.h"

using labgrad::tensor;
using labgrad::data::TokenAccuracy;

TEST_CASE("token accuracy: the tutorial's counts padding and divides by steps, ours does neither") {
  // (S, B) = (3, 2); the second sentence ends after <eos>, id 3, and is padded with id 1.
  const auto target = tensor({{7, 8}, {9, 3}, {3, 1}});
  TokenAccuracy accuracy;
  CHECK(std::isnan(accuracy.per_token()));
  CHECK(std::isnan(accuracy.as_in_tutorial()));
  accuracy.add(tensor({{7, 5}, {9, 3}, {4, 1}}), target);
  CHECK(accuracy.right == 3);
  CHECK(accuracy.tokens == 5);
  CHECK(accuracy.per_token() == doctest::Approx(0.6));
  CHECK(accuracy.as_in_tutorial() == doctest::Approx(4.0 / 3));  // with the padding, of 3 steps
  accuracy.add(target, target);
  CHECK(accuracy.per_token() == doctest::Approx(0.8));
  CHECK(accuracy.as_in_tutorial() == doctest::Approx((4.0 / 3 + 2) / 2));
}

TEST_CASE("token accuracy: bad shapes and dtypes") {
  TokenAccuracy accuracy;
  CHECK_THROWS_AS(accuracy.add(tensor({{1, 2}}), tensor({{1}})), labgrad::Error);
  CHECK_THROWS_AS(accuracy.add(tensor({1, 2}), tensor({1, 2})), labgrad::Error);
  CHECK_THROWS_AS(accuracy.add(tensor({{1.0, 2.0}}), tensor({{1, 2}})), labgrad::Error);
  CHECK(accuracy.batches == 0);
}
