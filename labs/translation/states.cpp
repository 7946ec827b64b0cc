// Part 5: sentences as points: the encoder's last state, seen in two dimensions.

#include <cmath>

#include "data/pca.h"
#include "data/tokenizer.h"
#include "engine/engine.h"
#include "labs/common/plot.h"
#include "labs/translation/evaluate.h"
#include "labs/translation/sections.h"
#include "labs/translation/training.h"

namespace labgrad::labs::translation {
namespace {

// Sentences in families: those of one say nearly the same, in another order or with other words.
using Families = std::vector<std::vector<std::string>>;

Families families(const Task& task) {
  if (task.multi30k)
    return {{"ein mann spielt gitarre .", "ein junger mann spielt auf einer gitarre .",
             "ein mann mit einer gitarre ."},
            {"zwei kinder spielen im wasser .", "kinder spielen am strand im wasser .",
             "im wasser spielen zwei kinder ."},
            {"eine frau reitet auf einem pferd .", "auf einem pferd reitet eine frau .",
             "eine junge frau auf einem braunen pferd ."},
            {"ein hund rennt durch den schnee .", "ein schwarzer hund läuft im schnee .",
             "durch den schnee rennt ein hund ."}};
  return {{"der mann sieht einen hund .", "ein mann sieht den hund .",
           "der alte mann sieht einen hund ."},
          {"der hund sieht einen mann .", "ein hund sieht den mann .",
           "der alte hund sieht einen mann ."},
          {"die frau kauft eine lampe .", "eine frau kauft die lampe .",
           "die junge frau kauft eine lampe ."},
          {"das kind spielt im garten .", "ein kind spielt im garten .",
           "das kleine kind spielt im garten ."}};
}

Tensor last_state(Seq2Seq& model, const Task& task, const std::string& sentence) {
  const std::vector<std::int64_t> ids =
      data::encode(data::tokenize(sentence, data::Language::german), task.source);
  const auto n = static_cast<std::int64_t>(ids.size());
  return select(select(model.enc.forward(from_values(ids, {n, 1})).h_T, 0, -1), 0, 0);  // (H)
}

// The mean distance of two points of one family, over that of two points of different ones.
double spread(const Tensor& points, const std::vector<std::size_t>& family) {
  double same = 0, other = 0, same_pairs = 0, other_pairs = 0;
  for (std::size_t i = 0; i < family.size(); ++i)
    for (std::size_t j = i + 1; j < family.size(); ++j) {
      const double distance = norm(select(points, 0, static_cast<std::int64_t>(i)) -
                                   select(points, 0, static_cast<std::int64_t>(j)))
                                  .item();
      (family[i] == family[j] ? same : other) += distance;
      (family[i] == family[j] ? same_pairs : other_pairs) += 1;
    }
  return (same / same_pairs) / (other / other_pairs);
}

}  // namespace

void states(Lab& lab) {
  const Task& data = task(lab);
  NoGrad no_grad;
  lab.say(
      "The plain model has to put all of a sentence into the encoder's last state. Four families "
      "of sentences, each of which says nearly the same in other words, as points: the last state, "
      "projected onto the two directions in which the points differ most.{}",
      data.multi30k ? ""
                    : " The first two families have the same words, but who sees whom differs.");
  Tensors points;
  std::vector<std::size_t> family;
  std::vector<std::string> texts;
  Trained& t = trained(lab, Kind::plain);
  const nn::Evaluating evaluating(*t.model);
  const Families all = families(data);
  for (std::size_t f = 0; f < all.size(); ++f)
    for (const std::string& sentence : all[f]) {
      points.push_back(last_state(*t.model, data, sentence));
      family.push_back(f);
      texts.push_back(sentence);
    }
  const Tensor x = stack(points, 0);
  const data::Pca pca = data::pca(x, 2);
  const Tensor at = pca.project(x);
  Table table({{"family", "d"}, {"sentence"}, {"component 1", ".2f"}, {"component 2", ".2f"}});
  std::vector<Series> series(all.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    table.row(family[i] + 1, texts[i], at.at({row, 0}), at.at({row, 1}));
    Series& s = series[family[i]];
    s.style = Style::points;
    s.name = fmt::format("family {}", family[i] + 1);
    s.x.push_back(at.at({row, 0}));
    s.y.push_back(at.at({row, 1}));
    s.labels.push_back(texts[i]);
  }
  lab.table(table);
  const double share = (pca.variance[0] + pca.variance[1]) / pca.total_variance;
  lab.picture("sentence_states", "The encoder's last state of twelve sentences.",
              draw_plot({.title = "Sentences in two dimensions",
                         .x = {.label = "component 1"},
                         .y = {.label = "component 2"},
                         .series = series,
                         .width = 760,
                         .height = 520}));
  lab.say("The two components hold {:.0f} % of the variance.", 100 * share);

  Recipe untrained = t.recipe;
  const auto fresh =
      make_model(untrained, data, Kind::plain, static_cast<std::uint64_t>(lab.seed()));
  const nn::Evaluating evaluating_fresh(*fresh);
  Tensors before;
  for (const std::string& sentence : texts) before.push_back(last_state(*fresh, data, sentence));
  const double trained_spread = spread(x, family), fresh_spread = spread(stack(before, 0), family);
  Table distances({{"encoder"}, {"within a family / between families", ".3f"}},
                  "Mean distance in all H dimensions");
  distances.row("as initialised", fresh_spread).row("trained", trained_spread);
  lab.table(distances);
  if (is_trained(t))
    lab.check_less("sentences of one family lie nearer to each other than to others",
                   trained_spread, 1);
}

}  // namespace labgrad::labs::translation
