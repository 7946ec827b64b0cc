#pragma once
// How well a model does on pairs it has not seen.

#include <vector>

#include "labs/translation/task.h"
#include "labs/translation/translate.h"

namespace labgrad::labs::translation {

// Mean cross-entropy in nats a word, each word read after the target's words before it. In
// evaluation mode.
double forced_loss(Seq2Seq& model, const data::EncodedPairs& pairs, std::int64_t batch = 128);

// The model's own words against the target's, place by place, without teacher forcing.
struct Accuracy {
  double of_batch = 0;  // the tutorial's: right places of a step, <pad> on <pad> included, in the
                        // mean over steps and batches; of 128 with batches of 128
  double of_words = 0;  // share of the target's words, padding left out
};
// Batches in sorted order, as the last one may be small. dropout: the tutorial left it on.
Accuracy free_accuracy(Seq2Seq& model, const data::EncodedPairs& pairs, bool dropout = false,
                       std::int64_t batch = 128);

// The first `count` pairs' sources, translated greedily, in their order.
std::vector<Translated> translate_all(Seq2Seq& model, const data::EncodedPairs& pairs,
                                      std::int64_t count, std::int64_t batch = 128);
// One pair's source as (S1, 1).
Tensor source_of(const data::EncodedPairs& pairs, std::int64_t i);

data::Sentence words_of(const Translated& sentence, const data::Vocabulary& vocabulary);

}  // namespace labgrad::labs::translation
