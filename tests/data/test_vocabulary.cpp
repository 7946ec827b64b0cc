#include "data/vocabulary.h"

#include <doctest/doctest.h>

#include "engine/error.h"

using namespace labgrad::data;

TEST_CASE(
    "vocabulary by frequency: specials, falling frequency, ties by code point, rare ones out") {
  const std::vector<std::vector<std::string>> sentences = {
      {"zwei", "ein", "ä", "rar"}, {"ein", "zwei", "z", "ä"}, {"ein", "z", "<pad>", "<pad>"}};
  const Vocabulary v = vocabulary_by_frequency(sentences);
  // z before ä, as U+007A is before U+00E4; the word <pad> is the special.
  CHECK(v.words() ==
        std::vector<std::string>{"<unk>", "<pad>", "<sos>", "<eos>", "ein", "z", "zwei", "ä"});
  CHECK(v.id("rar") == unk_id);
  CHECK(v.id("<pad>") == pad_id);
  CHECK(vocabulary_by_frequency(sentences, 1).size() == 9);
  CHECK(vocabulary_by_frequency(sentences, 4).size() == 4);
  CHECK(vocabulary_by_frequency({}).size() == 4);
  CHECK_THROWS_AS(vocabulary_by_frequency(sentences, 0), labgrad::Error);
}

TEST_CASE("vocabulary: encode marks the ends, decode stops at <eos>") {
  const Vocabulary v = translation_vocabulary(std::vector<std::string>{"ein", "mann"});
  CHECK(encode({"ein", "hund"}, v) == std::vector<std::int64_t>{2, 4, 0, 3});
  CHECK(encode(std::vector<std::string>{}, v) == std::vector<std::int64_t>{2, 3});
  const std::vector<std::int64_t> ids = {2, 4, 1, 0, 5, 3, 4};
  CHECK(decode(ids, v) == std::vector<std::string>{"ein", "<unk>", "mann"});
  CHECK_THROWS_AS(decode(std::vector<std::int64_t>{6}, v), labgrad::Error);
  // Saved with its specials and read again: the same.
  CHECK(translation_vocabulary(v.words()).words() == v.words());
}
