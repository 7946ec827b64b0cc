#include "data/reviews.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "data/vocabulary.h"
#include "engine/error.h"

using namespace labgrad;

namespace {

bool among(std::span<const std::string_view> words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::int64_t count(const data::Review& r, std::span<const std::string_view> words) {
  return std::count_if(r.words.begin(), r.words.end(),
                       [&](const auto& w) { return among(words, w); });
}

}  // namespace

TEST_CASE(
    "reviews: exactly one decisive word, where it is said to be; the same from the same seed") {
  const std::vector<data::Review> all = data::reviews(500);
  std::int64_t positive = 0;
  for (const data::Review& r : all) {
    CHECK((r.words.size() >= 10 && r.words.size() <= 18));
    CHECK(count(r, data::positive_words()) == r.label);
    CHECK(count(r, data::negative_words()) == 1 - r.label);
    CHECK(!among(data::neutral_words(), r.words[static_cast<std::size_t>(r.decisive)]));
    positive += r.label;
  }
  CHECK(positive > 200);
  CHECK(positive < 300);
  CHECK(all[0].words[1] == "script");  // the first draws of SplitMix64 from 42
  CHECK(data::reviews(3)[2].words == all[2].words);
  CHECK(data::reviews(3, 7)[2].words != all[2].words);
  CHECK(data::reviews(0).empty());
  CHECK_THROWS_AS(data::reviews(-1), Error);
}

TEST_CASE("ordered reviews: one word of each kind, the label says which is first") {
  std::int64_t positive = 0;
  for (const data::Review& r : data::ordered_reviews(400)) {
    CHECK(count(r, data::positive_words()) == 1);
    CHECK(count(r, data::negative_words()) == 1);
    const auto first = std::find_if(r.words.begin(), r.words.end(),
                                    [](const auto& w) { return !among(data::neutral_words(), w); });
    CHECK(first - r.words.begin() == r.decisive);
    CHECK(among(data::positive_words(), *first) == (r.label == 1));
    positive += r.label;
  }
  CHECK(positive == 200);
}

TEST_CASE("vocabulary: ids in order of appearance, unknown words, padding") {
  data::Vocabulary v;
  CHECK(v.add("film") == 2);
  CHECK(v.add("plot") == 3);
  CHECK(v.add("film") == 2);
  CHECK(v.size() == 4);
  CHECK(v.id("plot") == 3);
  CHECK(v.id("scene") == 1);
  CHECK(v.word(3) == "plot");
  CHECK_THROWS_AS(v.word(4), Error);
  CHECK_THROWS_AS(data::Vocabulary({"<pad>", "<pad>"}), Error);
  CHECK_THROWS_AS(data::Vocabulary({"<pad>"}, 1), Error);
  const std::vector<std::vector<std::string>> sentences = {{"plot", "film", "scene"}, {"film"}};
  CHECK(data::encode(sentences, v, 2).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{3, 2, 2, 0});
}
