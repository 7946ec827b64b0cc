#include "labs/translation/scores.h"

#include <algorithm>

#include "labs/translation/evaluate.h"

namespace labgrad::labs::translation {

std::int64_t tested(Lab& lab) {
  const Task& data = task(lab);
  return std::min(lab.by_budget<std::int64_t>(40, data.multi30k ? 1000 : 500, 1000),
                  data.test.ids.size());
}

const std::vector<Translated>& test_translations(Lab& lab, Trained& t) {
  if (t.test.empty()) t.test = translate_all(*t.model, t.task->test.ids, tested(lab));
  return t.test;
}

TestScore score(Lab& lab, Trained& t, Lengths lengths) {
  const std::vector<Translated>& translations = test_translations(lab, t);
  TestScore s;
  for (std::size_t i = 0; i < translations.size(); ++i) {
    const auto n = static_cast<std::int64_t>(t.task->test.text.source[i].size());
    if (n < lengths.first || n > lengths.last) continue;
    const data::Sentence words = words_of(translations[i], t.task->target);
    const data::Sentence& reference = t.task->test.text.target[i];
    ++s.sentences;
    s.bleu.add(words, reference);
    s.sentence_bleu += data::sentence_bleu(words, reference);
  }
  if (s.sentences > 0) s.sentence_bleu /= static_cast<double>(s.sentences);
  return s;
}

double best_loss(const Trained& t) {
  double best = t.history.epochs.front().front().second;
  for (const Metrics& m : t.history.epochs) best = std::min(best, m.front().second);
  return best;
}

double loss_bound(const Lab& lab, const Trained& t) {
  if (lab.budget() == Budget::quick) return 0.95;
  return t.recipe.name == "tutorial" ? 0.75 : 0.5;
}

}  // namespace labgrad::labs::translation
