// Section 4: the attention is scored against the word that decides, and then the word is changed.

#include <algorithm>

#include "engine/engine.h"
#include "labs/attention/reviews_task.h"
#include "labs/attention/sections.h"
#include "labs/common/heat_map.h"

namespace labgrad::labs::attention {
namespace {

constexpr std::int64_t sentences = 120;

// How much each word of a sentence was attended to: the weights averaged over heads and over the
// queries that are words.
std::vector<double> attended(const Tensor& weights, std::int64_t length) {
  const Tensor words = narrow(narrow(weights, 1, 0, length), 2, 0, length);  // (H, L, L)
  return mean(mean(words, 0), 0).to_vector();
}

struct Sentence {
  std::vector<double> attention;
  std::int64_t top;
};

Sentence look(TinyTransformer& model, const ReviewsTask& task, std::int64_t i) {
  NoGrad no_grad;
  const Tensor weights = model.forward(narrow(task.test_x, 0, i, 1)).weights;
  const auto length = static_cast<std::int64_t>(task.test_review(i).words.size());
  std::vector<double> a = attended(select(weights, 0, 0), length);
  const auto top = std::max_element(a.begin(), a.end()) - a.begin();
  return {std::move(a), top};
}

// The sentence with a line of bars under it, one character for each word's attention.
std::string with_bars(const data::Review& review, const Sentence& s) {
  const double most = *std::max_element(s.attention.begin(), s.attention.end());
  const char* heights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string words, bars;
  for (std::size_t j = 0; j < review.words.size(); ++j) {
    const auto level = static_cast<std::size_t>(8 * s.attention[j] / most);
    words += review.words[j] + " ";
    for (std::size_t c = 0; c < review.words[j].size(); ++c) bars += heights[level];
    bars += " ";
  }
  return words + "\n" + bars;
}

void show_three(Lab& lab, TinyTransformer& model, const ReviewsTask& task) {
  for (std::int64_t i = 0; i < 3; ++i) {
    const data::Review& review = task.test_review(i);
    const Sentence s = look(model, task, i);
    lab.show(with_bars(review, s));
    const auto decisive = static_cast<std::size_t>(review.decisive);
    lab.say(
        "Decisive: '{}' at position {}. Most attended: '{}' at position {}, with {:.3f} of all "
        "attention.",
        review.words[decisive], decisive, review.words[static_cast<std::size_t>(s.top)], s.top,
        s.attention[static_cast<std::size_t>(s.top)]);
  }
  const data::Review& review = task.test_review(0);
  NoGrad no_grad;
  const auto L = static_cast<std::int64_t>(review.words.size());
  const Tensor w = mean(select(model.forward(narrow(task.test_x, 0, 0, 1)).weights, 0, 0), 0);
  HeatMap map{.title = "Attention in the first test review, mean of the heads",
              .row_labels = review.words,
              .column_labels = review.words,
              .row_title = "query",
              .column_title = "key"};
  for (std::int64_t q = 0; q < L; ++q)
    map.values.push_back(narrow(select(w, 0, q), 0, 0, L).to_vector());
  lab.picture("attention_map", "Which word looked at which.", draw_heat_map(map));
}

// How many predictions change when one word of each review is replaced.
std::int64_t flips(TinyTransformer& model, const ReviewsTask& task,
                   const std::vector<std::vector<std::string>>& changed) {
  NoGrad no_grad;
  const auto n = static_cast<std::int64_t>(changed.size());
  const Tensor before = argmax(model.forward(narrow(task.test_x, 0, 0, n)).out, 1);
  const Tensor after = argmax(model.forward(task.encode(changed)).out, 1);
  return sum(before != after).item<std::int64_t>();
}

void intervene(Lab& lab, TinyTransformer& model, const ReviewsTask& task) {
  const std::int64_t n = task.test_x.size(0);
  Generator g(static_cast<std::uint64_t>(lab.seed()));
  auto below = [&g](std::size_t bound) { return static_cast<std::size_t>(g.u32()) % bound; };
  std::vector<std::vector<std::string>> decisive, neutral;
  for (std::int64_t i = 0; i < n; ++i) {
    const data::Review& review = task.test_review(i);
    const auto other = review.label == 1 ? data::negative_words() : data::positive_words();
    std::vector<std::string> words = review.words;
    words[static_cast<std::size_t>(review.decisive)] = other[below(other.size())];
    decisive.push_back(words);

    words = review.words;
    std::size_t place = below(words.size() - 1);
    if (place >= static_cast<std::size_t>(review.decisive)) ++place;
    words[place] = data::neutral_words()[below(data::neutral_words().size())];
    neutral.push_back(words);
  }
  const std::int64_t by_decisive = flips(model, task, decisive);
  const std::int64_t by_neutral = flips(model, task, neutral);
  lab.say(
      "Attention only suggests what mattered; an intervention shows it. In each of the {} test "
      "reviews one word is replaced, and the predictions that change are counted.",
      n);
  Table table({{"word replaced"}, {"by"}, {"predictions changed", "d"}, {"share", ".3f"}});
  const auto share = [n](std::int64_t k) {
    return static_cast<double>(k) / static_cast<double>(n);
  };
  table.row("the decisive one", "one of the other list", by_decisive, share(by_decisive))
      .row("a random neutral one", "another neutral one", by_neutral, share(by_neutral));
  lab.table(table);
  lab.check_greater("another decisive word changes the prediction", share(by_decisive), 0.85);
  lab.check_less("another neutral word does not", share(by_neutral), 0.05);
}

}  // namespace

void where_it_attended(Lab& lab) {
  const ReviewsTask& task = course_reviews();
  TinyTransformer& model = course_model(lab).model;
  const nn::Evaluating evaluating(model);
  const auto prediction = lab.predict(
      "In what share of the test sentences is the decisive word the "
      "one most attended to?");
  show_three(lab, model, task);

  std::int64_t hits = 0;
  double on_decisive = 0, even_share = 0;
  for (std::int64_t i = 0; i < sentences; ++i) {
    const data::Review& review = task.test_review(i);
    const Sentence s = look(model, task, i);
    hits += s.top == review.decisive ? 1 : 0;
    on_decisive += s.attention[static_cast<std::size_t>(review.decisive)] / sentences;
    even_share += 1.0 / static_cast<double>(review.words.size()) / sentences;
  }
  const double rate = static_cast<double>(hits) / sentences;
  lab.reveal(prediction, rate, 0.05);
  Table table({{"over " + std::to_string(sentences) + " test reviews"},
               {"measured", ".3f"},
               {"by chance", ".3f"}});
  table.row("the decisive word is the most attended one", rate, even_share)
      .row("share of the attention on the decisive word", on_decisive, even_share);
  lab.table(table);
  lab.check_greater("the decisive word is the most attended one, far more often than by chance",
                    rate, 2 * even_share);
  if (rate > 0.99)
    lab.say(
        "In all but {} of {} sentences attention points at the word that decides. That is as clear "
        "as it gets, and still no proof that the model used it: what a head looks at and what the "
        "head's output changes are two questions. The second one is asked next.",
        sentences - hits, sentences);
  else if (rate > 0.5)
    lab.say(
        "In {} of {} sentences attention points at the word that decides, and in {} elsewhere, "
        "although the model is right almost always. So the rate says that attention is a fair hint "
        "here; it does not say that attention explains the prediction. What the model knows also "
        "flows through the residual connections and the feed-forward part, where no weight shows "
        "it.",
        hits, sentences, sentences - hits);
  else
    lab.say(
        "Only in {} of {} sentences does attention point at the word that decides, although the "
        "model answers well. Its answer goes another way: through the residual connections, or by "
        "attending to everything but that word. Attention is no explanation here.",
        hits, sentences);
  intervene(lab, model, task);
}

}  // namespace labgrad::labs::attention
