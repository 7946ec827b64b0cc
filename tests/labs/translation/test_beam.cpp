#include "labs/translation/beam.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "engine/engine.h"
#include "labs/translation/translate.h"

using namespace labgrad;
using namespace labgrad::labs::translation;

namespace {

// Words 4, 5, 6 and the end 3. P(next | words so far), by a table; what it does not name ends.
class Language {
 public:
  using Words = std::vector<std::int64_t>;
  std::map<Words, std::map<std::int64_t, double>> table;

  Advance advance() {
    return [this](const Words& words, const std::vector<std::int64_t>& parents) {
      std::vector<Words> next;
      std::vector<double> log_p;
      for (std::size_t i = 0; i < words.size(); ++i) {
        Words sentence = beginnings_.empty() ? Words{} : beginnings_[index(parents[i])];
        if (words[i] != 2) sentence.push_back(words[i]);
        std::vector<double> p(7, 1e-9);
        const auto found = table.find(sentence);
        if (found == table.end())
          p[3] = 1;
        else
          for (const auto& [word, probability] : found->second) p[index(word)] = probability;
        for (const double v : p) log_p.push_back(std::log(v));
        next.push_back(sentence);
      }
      beginnings_ = next;
      return from_values(log_p, {static_cast<std::int64_t>(words.size()), 7});
    };
  }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  std::vector<Words> beginnings_;
};

// The likelier first word leads to nothing likely.
Language trap() {
  Language l;
  l.table[{}] = {{4, 0.6}, {5, 0.4}};
  l.table[{4}] = {{4, 0.3}, {5, 0.35}, {6, 0.34}};
  l.table[{5}] = {{6, 0.95}, {4, 0.05}};
  return l;
}

using Words = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("beam search: width 1 is greedy and is trapped, width 2 is not") {
  Language greedy = trap(), two = trap();
  const Hypothesis one = beam_search(greedy.advance(), {.width = 1});
  CHECK(one.words == Words{4, 5, 3});
  CHECK(one.complete);
  CHECK(!(std::abs(one.log_probability - std::log(0.6 * 0.35)) > 1e-12));
  const Hypothesis best = beam_search(two.advance(), {.width = 2});
  CHECK(best.words == Words{5, 6, 3});
  CHECK(best.rows == std::vector<std::size_t>{0, 1, 0});
  CHECK(!(std::abs(best.log_probability - std::log(0.4 * 0.95)) > 1e-12));
  CHECK(!(std::abs(best.score() - std::log(0.4 * 0.95) / 3) > 1e-12));
}

TEST_CASE("beam search: a wide beam finds the best of all sentences") {
  Language l = trap();
  double best = -1e9;
  for (const auto& [first, p] : l.table[{}])
    for (const auto& [second, q] : l.table[{first}]) best = std::max(best, std::log(p * q));
  CHECK(!(std::abs(beam_search(l.advance(), {.width = 9}).log_probability - best) > 1e-12));
}

TEST_CASE("beam search: stops at max_words with what it has") {
  Language endless;
  endless.table[{}] = {{4, 0.9}, {5, 0.1}};
  endless.table[{4}] = {{4, 1.0}};
  endless.table[{4, 4}] = {{4, 1.0}};
  const Hypothesis cut = beam_search(endless.advance(), {.width = 1, .max_words = 2});
  CHECK(cut.words == Words{4, 4});
  CHECK(!cut.complete);
  CHECK_THROWS_WITH_AS(beam_search(endless.advance(), {.width = 0}),
                       "beam search: width 0 and 60 words; both must be at least 1", Error);
}

TEST_CASE("translation: a beam of 1 writes what greedy search writes, alone or in a batch") {
  for (const bool attention : {false, true}) {
    CAPTURE(attention);
    manual_seed(11);
    Seq2Seq model({.source_words = 20, .target_words = 9, .embedding = 6, .hidden = 8, .layers = 2},
                  attention);
    model.to(f64);
    const Tensor x = tensor({{2, 2}, {9, 11}, {17, 5}, {3, 6}, {1, 14}, {1, 3}});
    const std::vector<Translated> both = translate_greedily(model, x, tensor({4, 6}));
    for (std::int64_t b = 0; b < 2; ++b) {
      const std::int64_t n = b == 0 ? 4 : 6;
      const Translated one = translate_with_beam(model, narrow(narrow(x, 1, b, 1), 0, 0, n), 1);
      const Translated& greedy = both[static_cast<std::size_t>(b)];
      // The batch may go on for longer than a sentence of its own would.
      const std::size_t common = std::min(one.words.size(), greedy.words.size());
      REQUIRE(common > 0);
      CHECK(std::equal(one.words.begin(), one.words.begin() + static_cast<std::ptrdiff_t>(common),
                       greedy.words.begin()));
      if (greedy.complete && one.complete) CHECK(!(std::abs(one.score - greedy.score) > 1e-12));
      CHECK(one.weights.size() == (attention ? one.words.size() + (one.complete ? 1 : 0) : 0));
      if (!attention) continue;
      for (const std::vector<double>& row : one.mean_weights()) {
        CHECK(row.size() == static_cast<std::size_t>(n));
        double total = 0;
        for (const double w : row) total += w;
        CHECK(!(std::abs(total - 1) > 1e-9));
      }
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        CHECK(!(std::abs(one.weights[0][1][i] - greedy.weights[0][1][i]) > 1e-12));
    }
  }
}

// A hypothesis that went on from another one's state would not have the score of its words.
TEST_CASE("translation: a beam's score is what the model says of the sentence as a whole") {
  int compared = 0;
  for (const bool attention : {false, true})
    for (const std::uint64_t seed : {11u, 12u, 13u}) {
      manual_seed(seed);
      Seq2Seq model(
          {.source_words = 20, .target_words = 9, .embedding = 6, .hidden = 8, .layers = 2},
          attention);
      model.to(f64);
      model.eval();
      const Tensor x = tensor({{2}, {9}, {17}, {5}, {3}});
      const Translated best = translate_with_beam(model, x, 5);
      std::vector<std::int64_t> y = {2};
      y.insert(y.end(), best.words.begin(), best.words.end());
      if (best.complete) y.push_back(3);
      const auto n = static_cast<std::int64_t>(y.size());
      const Tensor l = squeeze(model.forward(x, from_values(y, {n, 1}), tensor({5})), 1);
      const Tensor log_p = log_softmax(narrow(l, 1, 3, 6), 1);  // of <eos> and the words
      double total = 0;
      for (std::int64_t t = 1; t < n; ++t)
        total += log_p.at({t - 1, y[static_cast<std::size_t>(t)] - 3});
      CHECK(!(std::abs(best.score - total / static_cast<double>(n - 1)) > 1e-12));
      compared += n > 3 ? 1 : 0;
    }
  CHECK(compared > 2);
}
