#include "data/retrieval.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/create.h"
#include "tests/check_close.h"

using namespace labgrad;
using namespace labgrad::data;

namespace {

using Labels = std::vector<std::int64_t>;

Tensor table(const std::vector<float>& values, std::int64_t rows) {
  return from_values(values, {rows, static_cast<std::int64_t>(values.size()) / rows});
}

}  // namespace

TEST_CASE("retrieval: cosines do not depend on lengths") {
  const Tensor queries = table({3, 4, 0, 0, -2, 0}, 3);
  const Tensor database = table({30, 40, 4, -3, 1, 0}, 3);
  const std::vector<float> want{1, 0, 0.6F, 0, 0, 0, -0.6F, -0.8F, -1};
  CHECK(tests::difference(cosines(queries, database), table(want, 3),
                          {.rtol = 1e-6, .atol = 1e-7}) == "");
  // Squares of these are beyond what f32 holds.
  const Tensor large = table({3e30F, 4e30F, 3e-30F, 4e-30F}, 2);
  CHECK(tests::difference(cosines(large, large), table({1, 1, 1, 1}, 2), {.rtol = 1e-6}) == "");
  CHECK_THROWS_WITH_AS(cosines(queries, table({1, 2, 3}, 1)), doctest::Contains("(3, 2)"), Error);
}

TEST_CASE("retrieval: the nearest, of equal ones the first") {
  const std::vector<float> row{0.5F, 0.9F, 0.5F, -1, 0.9F};
  CHECK(nearest(row, 3) == Labels{1, 4, 0});
  CHECK(nearest(row, 9) == Labels{1, 4, 0, 2, 3});
  CHECK(nearest(row, 0).empty());
  CHECK_THROWS_AS(nearest(row, -1), Error);
  CHECK_THROWS_WITH_AS(nearest(std::vector<float>{0, std::nanf("")}, 1),
                       doctest::Contains("similarity 1"), Error);
}

TEST_CASE("retrieval: scores worked out by hand") {
  const Labels database{0, 1, 0, 2, 1, 0, 1};
  // Ranked:  query 0 (label 0): 0 1 2 3 4 5 6, right at ranks 1, 3, 6: (1 + 2/3 + 3/6) / 3 = 13/18
  //          query 1 (label 2): 6 5 4 3 2 1 0, right at rank 4: 1/4
  //          query 2 (label 1): 0 2 5 3 1 4 6, right at 5, 6, 7: (1/5 + 2/6 + 3/7) / 3
  //          query 3 (label 2): 0 1 2 4 5 6 3, right at rank 7: 1/7
  //          query 4 (label 3): nothing to be found: 0
  const Tensor s = table({7, 6, 5, 4, 3, 2, 1,   //
                          1, 2, 3, 4, 5, 6, 7,   //
                          7, 3, 6, 4, 2, 5, 1,   //
                          7, 6, 5, 1, 4, 3, 2,   //
                          7, 6, 5, 4, 3, 2, 1},  //
                         5);
  const RetrievalScores r = score_retrieval(s, Labels{0, 2, 1, 2, 3}, database);
  CHECK(r.queries == 5);
  CHECK(r.hits == 1);
  CHECK(r.top1 == doctest::Approx(1 / 5.0));
  CHECK(r.top5 == doctest::Approx(3 / 5.0));
  const double precisions = 13 / 18.0 + 1 / 4.0 + (1 / 5.0 + 2 / 6.0 + 3 / 7.0) / 3 + 1 / 7.0;
  CHECK(r.mean_average_precision == doctest::Approx(precisions / 5).epsilon(1e-12));
  CHECK(r.chance == doctest::Approx((3 + 1 + 3 + 1 + 0) / 7.0 / 5));
  CHECK(r.class_queries == Labels{1, 1, 2, 1});
  CHECK(r.class_hits == Labels{1, 0, 0, 0});
}

TEST_CASE("retrieval: fewer than five entries; equal similarities keep the database's order") {
  const RetrievalScores r = score_retrieval(table({1, 1, 0, 0}, 2), Labels{1, 1}, Labels{0, 1});
  CHECK(r.hits == 0);
  CHECK(r.top5 == 1);
  CHECK(r.mean_average_precision == doctest::Approx(0.5));
}

TEST_CASE("retrieval: errors") {
  const Tensor s = table({1, 2, 3, 4}, 2);
  CHECK_THROWS_WITH_AS(score_retrieval(s, Labels{0}, Labels{0, 1}),
                       doctest::Contains("1 and 2 labels"), Error);
  CHECK_THROWS_WITH_AS(score_retrieval(s, Labels{0, -1}, Labels{0, 1}), doctest::Contains("-1"),
                       Error);
  CHECK_THROWS_AS(score_retrieval(s, Labels{0, 1}, Labels{0, std::numeric_limits<int>::max()}),
                  Error);
  CHECK_THROWS_AS(score_retrieval(zeros({0, 2}), Labels{}, Labels{0, 1}), Error);
  CHECK_THROWS_AS(score_retrieval(table({1, std::nanf("")}, 1), Labels{0}, Labels{0, 1}), Error);
}
