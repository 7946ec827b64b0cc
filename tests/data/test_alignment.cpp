#include "data/alignment.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/create.h"
#include "tests/engine/io/files.h"

using labgrad::tensor;
using labgrad::data::Alignment;
using labgrad::data::AlignmentScore;

namespace {

// <sos> and two source words, <eos>, one place of padding; three target words and <eos>.
const Alignment gold = {{0, 0}, {1, 1}, {0, 2}, {1, 2}};

}  // namespace

TEST_CASE("alignment: hits are largest weights on a gold word, <sos> is column 0") {
  AlignmentScore score;
  CHECK(std::isnan(score.share()));
  score.add(
      tensor(
          {{.1, .6, .2, .1, 0.}, {.1, .6, .2, .1, 0.}, {.1, .2, .6, .1, 0.}, {0., 0., 0., 1., 0.}}),
      gold, 2);
  CHECK(score.words == 3);
  CHECK(score.hits == 2);  // the second word looks at the first source word
  CHECK(score.share() == doctest::Approx(2.0 / 3));
  CHECK(score.chance_share() == doctest::Approx((0.5 + 0.5 + 1) / 3));
}

TEST_CASE("alignment: ties go to the first; <sos>, <eos>, padding and NaN are misses") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto hits = [](double a, double b, double c, double d, double e) {
    AlignmentScore score;
    score.add(tensor({{a, b, c, d, e}}), {{0, 0}}, 2);
    return score.hits;
  };
  CHECK(hits(0, .5, .5, 0, 0) == 1);
  CHECK(hits(0, .4, .6, 0, 0) == 0);
  CHECK(hits(.5, .5, 0, 0, 0) == 0);  // <sos> comes first
  CHECK(hits(0, 0, 0, 1, 0) == 0);
  CHECK(hits(0, 0, 0, 0, 1) == 0);
  CHECK(hits(nan, nan, nan, nan, nan) == 0);
  CHECK(hits(0, 1, 0, 0, nan) == 0);
}

TEST_CASE("alignment: words without a gold word don't count; bad input is an error") {
  AlignmentScore score;
  score.add(tensor({{0., 1., 0.}, {0., 1., 0.}}), {{0, 1}}, 1);
  CHECK(score.words == 1);
  using files::has;
  using files::problem;
  CHECK(has(problem([&] { score.add(tensor({{0., 1.}}), {{1, 0}}, 1); }), "gold pair (1, 0)"));
  CHECK(has(problem([&] { score.add(tensor({{0., 1.}}), {{0, 1}}, 1); }), "gold pair (0, 1)"));
  CHECK(has(problem([&] { score.add(tensor({{0., 1.}}), {}, 2); }), "2 columns"));
  CHECK(has(problem([&] { score.add(tensor({0., 1.}), {}, 1); }), "(T, S)"));
  CHECK(has(problem([&] { score.add(tensor({{0, 1}}), {}, 1); }), "floating"));
}
