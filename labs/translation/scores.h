#pragma once
// The test of the trained models: BLEU of their translations, over all and by length.

#include "data/bleu.h"
#include "labs/translation/training.h"

namespace labgrad::labs::translation {

// How many test sentences are translated, from the front.
std::int64_t tested(Lab& lab);

// Translated when first asked for.
const std::vector<Translated>& test_translations(Lab& lab, Trained& t);

struct Lengths {
  std::int64_t first, last;  // words of the source, both included
};
struct TestScore {
  std::int64_t sentences = 0;
  data::Bleu bleu = {};
  double sentence_bleu = 0;  // the mean
};
TestScore score(Lab& lab, Trained& t, Lengths lengths);

double best_loss(const Trained& t);
// What an honest run stays below: its lowest validation loss, of the first step's loss.
double loss_bound(const Lab& lab, const Trained& t);

}  // namespace labgrad::labs::translation
