#include "data/bleu.h"

#include <doctest/doctest.h>

#include <cmath>
#include <sstream>

#include "engine/error.h"

using labgrad::data::Bleu;
using labgrad::data::corpus_bleu;
using labgrad::data::sentence_bleu;

namespace {

Bleu::Words words(const std::string& text) {
  std::istringstream in(text);
  Bleu::Words result;
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

double bleu(const std::string& translation, const std::string& reference) {
  return sentence_bleu(words(translation), words(reference));
}

bool near(double value, double expected) { return std::abs(value - expected) <= 1e-14 * expected; }

// The examples of NLTK's manual, after the ones in the paper.
const std::string guide =
    "It is a guide to action which ensures that the military always obeys the commands of the "
    "party";
const std::vector<Bleu::Words> guides = {
    words("It is a guide to action that ensures that the military will forever heed Party "
          "commands"),
    words("It is the guiding principle which guarantees the military forces always being under "
          "the command of the Party"),
    words("It is the practical guide for the army always to heed the directions of the party")};
const std::string he_read = "he read the book because he was interested in world history";
const std::string he_was = "he was interested in world history because he read the book";

}  // namespace

TEST_CASE("bleu: the values of NLTK's manual") {
  Bleu both;
  both.add(words(guide), guides);
  CHECK(near(both.score(), 0.5045666840058485));
  CHECK(both.matches == std::array<std::int64_t, 4>{17, 10, 7, 4});
  CHECK(both.totals == std::array<std::int64_t, 4>{18, 17, 16, 15});
  CHECK(both.reference_length == 18);  // 16, 18 and 16: the closest
  CHECK(near((both.score() + bleu(he_read, he_was)) / 2, 0.6223247442490669));
  both.add(words(he_read), words(he_was));
  CHECK(near(both.score(), 0.5920778868801042));
}

TEST_CASE("bleu: equal sentences, clipping of repeated words, brevity") {
  CHECK(bleu("a man sleeps .", "a man sleeps .") == 1);
  Bleu repeated;  // the example of the paper: "the" may match twice
  repeated.add(words("the the the the the the the"), words("the cat is on the mat"));
  CHECK(repeated.matches[0] == 2);
  CHECK(repeated.totals[0] == 7);
  CHECK(repeated.precision(1) == doctest::Approx(2.0 / 7));
  CHECK(repeated.precision(2) == 0);
  // Five words of seven, all right: only brevity counts.
  CHECK(near(bleu("a man sleeps in the", "a man sleeps in the park ."), std::exp(1 - 7.0 / 5)));
  CHECK(near(bleu("a b c d e f", "a b c d e"), 0.7598356856515925));  // longer: no penalty
  CHECK(near(bleu("a man is in the park", "a man is in the garden"), 0.7598356856515925));
}

TEST_CASE("bleu: nothing matches, or an order of n-grams does not: NLTK without smoothing") {
  CHECK(bleu("x y z w", "a b c d") == 0);
  CHECK(bleu("", "a b c d") == 0);
  CHECK(bleu("", "") == 0);
  CHECK(bleu("a b", "") == 0);
  CHECK(near(bleu("a man .", "a man ."), 1.2213386697554703e-77));  // no 4-gram
  CHECK(near(bleu("a", "a"), 1.821831989445342e-231));              // only one unigram
  CHECK(near(bleu("a dog sleeps .", "a man sleeps ."), 1.0547686614863434e-154));
  CHECK(
      near(bleu("the the the the the the the", "the cat is on the mat"), 1.3319603978102934e-231));
}

TEST_CASE("bleu: a corpus adds up counts, not scores") {
  const std::vector<Bleu::Words> references = {words("a man sleeps in the park ."),
                                               words("two dogs play .")};
  const std::vector<Bleu::Words> translations = {words("a man sleeps in the garden ."),
                                                 words("two dogs run .")};
  CHECK(near(corpus_bleu(translations, references), 0.5283419944690572));
  CHECK(corpus_bleu({}, {}) == 0);
  CHECK_THROWS_AS(corpus_bleu(translations, {}), labgrad::Error);
  Bleu bleu_of_none;
  CHECK_THROWS_AS(bleu_of_none.add(words("a"), std::span<const Bleu::Words>()), labgrad::Error);
  CHECK_THROWS_AS(bleu_of_none.precision(5), labgrad::Error);
}
