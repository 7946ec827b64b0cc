#pragma once
// How well a model does on pairs it has not seen.

#include <vector>

#include "data/token_accuracy.h"
#include "labs/translation/task.h"
#include "labs/translation/translate.h"

namespace labgrad::labs::translation {

// Mean cross-entropy in nats a word, each word read after the target's words before it. In
// evaluation mode.
double forced_loss(Seq2Seq& model, const data::EncodedPairs& pairs, std::int64_t batch = 128);

// The model's own words against the target's, place by place, without teacher forcing; a word too
// many at the start makes all that follows wrong. dropout: the tutorial left it on.
data::TokenAccuracy free_accuracy(Seq2Seq& model, const data::EncodedPairs& pairs,
                                  bool dropout = false, std::int64_t batch = 128);

// The first `count` pairs' sources, translated greedily, in their order.
std::vector<Translated> translate_all(Seq2Seq& model, const data::EncodedPairs& pairs,
                                      std::int64_t count, std::int64_t batch = 128);
// One pair's source as (S1, 1).
Tensor source_of(const data::EncodedPairs& pairs, std::int64_t i);

data::Sentence words_of(const Translated& sentence, const data::Vocabulary& vocabulary);

}  // namespace labgrad::labs::translation
