// Part 5: alignments: which word of the source each word looked at, and against gold.

#include <algorithm>

#include "data/alignment.h"
#include "engine/engine.h"
#include "labs/translation/alignment_map.h"
#include "labs/translation/scores.h"
#include "labs/translation/sections.h"

namespace labgrad::labs::translation {
namespace {

struct Scores {
  std::vector<data::AlignmentScore> layers;
  data::AlignmentScore mean;
};

// With the target's own words as input, over the first `count` test pairs.
Scores align(Seq2Seq& model, const Task& task, std::int64_t count) {
  NoGrad no_grad;
  const nn::Evaluating evaluating(model);
  Scores scores;
  for (std::int64_t first = 0; first < count; first += 64) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = first; i < std::min(first + 64, count); ++i) rows.push_back(i);
    const data::PairBatch b = data::pair_batch(task.test.ids, rows);
    const Source source = model.encode(b.source, b.source_lengths);
    const Tensor inputs = narrow(b.target, 0, 0, b.target.size(0) - 1);
    const Tensor w = model.dec->decode(inputs, source.h_T, source).weights;  // (T, B, L, S1)
    scores.layers.resize(static_cast<std::size_t>(w.size(2)));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto row = static_cast<std::size_t>(rows[k]);
      const data::Alignment& gold = task.test.text.alignment[row];
      const auto n = static_cast<std::int64_t>(task.test.text.source[row].size());
      const Tensor of_pair = select(w, 1, static_cast<std::int64_t>(k));  // (T, L, S1)
      scores.mean.add(mean(of_pair, 1), gold, n);
      for (std::size_t l = 0; l < scores.layers.size(); ++l)
        scores.layers[l].add(select(of_pair, 1, static_cast<std::int64_t>(l)), gold, n);
    }
  }
  return scores;
}

void against_gold(Lab& lab, Trained& t) {
  const Scores scores = align(*t.model, *t.task, tested(lab));
  lab.say(
      "The generated corpus knows which German words each English word translates. With the "
      "target's own words as input, the word that gets the largest weight at each step is "
      "compared with that, over {} words. Chance is to pick one of the sentence's words.",
      scores.mean.words);
  Table table({{"query"}, {"share right", ".3f"}, {"by chance", ".3f"}});
  for (std::size_t l = 0; l < scores.layers.size() && scores.layers.size() > 1; ++l)
    table.row(fmt::format("the state of layer {}", l), scores.layers[l].share(),
              scores.layers[l].chance_share());
  table.row(scores.layers.size() > 1 ? "mean of the layers" : "the state", scores.mean.share(),
            scores.mean.chance_share());
  lab.table(table);
  if (!is_trained(t)) return;
  lab.check_greater("share of words whose largest weight lies on a gold word", scores.mean.share(),
                    0.7);
  lab.say(
      "Nobody told the model which word belongs to which. It found out because looking there made "
      "the next word easier to say.");
}

}  // namespace

void alignment(Lab& lab) {
  const Task& data = task(lab);
  Trained& t = trained(lab, Kind::attention);
  if (!is_trained(t))
    lab.say(
        "This model has been trained too little to align anything; the pictures show what it "
        "does so far.");
  if (data.multi30k)
    lab.say(
        "Nobody has aligned these test sentences by hand: the pictures have to speak. On the "
        "generated corpus (`--data` with an empty folder) the alignment is scored.");
  else
    against_gold(lab, t);

  const std::vector<Translated>& translations = test_translations(lab, t);
  std::int64_t drawn = 0;
  for (std::size_t i = 0; i < translations.size() && drawn < 3; ++i) {
    const data::Sentence& source = data.test.text.source[i];
    // Sentences of middle length, that can be read beside each other.
    if (source.size() < 8 || source.size() > 14 || !translations[i].complete) continue;
    ++drawn;
    const data::Sentence words = data::decode(translations[i].words, data.target);
    lab.show(fmt::format("de  {}\nen  {}\nref {}", text_of(source), text_of(words),
                         text_of(data.test.text.target[i])));
    lab.picture(fmt::format("alignment_{}", drawn),
                fmt::format("Where the model looked while it wrote: {}", text_of(words)),
                draw_alignment(source, words, translations[i].mean_weights()));
  }
}

}  // namespace labgrad::labs::translation
