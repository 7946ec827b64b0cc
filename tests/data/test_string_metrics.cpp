#include "data/string_metrics.h"

#include <doctest/doctest.h>

#include <cmath>

#include "data/edit_distance.h"
#include "engine/error.h"

using namespace labgrad::data;

TEST_CASE("edit distance: known pairs, both ways") {
  const auto distance = [](Symbols a, Symbols b) {
    CHECK(edit_distance(a, b) == edit_distance(b, a));
    return edit_distance(a, b);
  };
  CHECK(distance({}, {}) == 0);
  CHECK(distance({}, {1, 2, 3}) == 3);
  CHECK(distance({1, 2, 3}, {1, 2, 3}) == 0);
  CHECK(distance({1, 2, 3}, {1, 3}) == 1);
  CHECK(distance({1, 2, 3}, {1, 4, 3}) == 1);
  CHECK(distance({1, 2}, {2, 1}) == 2);
  // kitten and sitting: two substitutions and one insertion.
  CHECK(distance({'k', 'i', 't', 't', 'e', 'n'}, {'s', 'i', 't', 't', 'i', 'n', 'g'}) == 3);
  CHECK(distance({1, 2, 3, 4, 5}, {2, 3, 4, 5, 6}) == 2);
}

TEST_CASE("string metrics: clean stops at <eos> and drops <sos> and <pad>") {
  CHECK(clean(Symbols{10, 3, 12, 0, 11, 5}) == Symbols{3, 0});
  CHECK(clean(Symbols{11, 1}).empty());
  CHECK(clean(Symbols{9, 9}) == Symbols{9, 9});
}

TEST_CASE("string metrics: exact share, error rate, and by length") {
  const std::vector<Symbols> targets = {{1, 2, 11}, {3, 4, 11}, {5, 6, 7, 11}};
  const std::vector<Symbols> read = {{1, 2, 11, 9}, {4, 11, 0, 0}, {5, 6, 6, 7}};
  const ReadingScore score = reading_score(read, targets);
  CHECK(score.strings == 3);
  CHECK(score.exact == 1);
  CHECK(score.exact_accuracy() == doctest::Approx(1.0 / 3));
  CHECK(score.cer() == doctest::Approx(2.0 / 7));
  const auto by_length = reading_by_length(read, targets);
  REQUIRE(by_length.size() == 2);
  CHECK(by_length.at(2).exact_accuracy() == 0.5);
  CHECK(by_length.at(2).cer() == 0.25);
  CHECK(by_length.at(3).exact == 0);
  CHECK(by_length.at(3).edits == 1);
  CHECK(std::isnan(ReadingScore().cer()));
  CHECK_THROWS_AS(reading_score(read, {}), labgrad::Error);
}
