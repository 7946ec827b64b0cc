#pragma once
// A model's own translations, word by word without a target to look at.

#include <vector>

#include "labs/translation/beam.h"
#include "labs/translation/seq2seq.h"

namespace labgrad::labs::translation {

struct Translated {
  std::vector<std::int64_t> words = {};  // without <sos> and <eos>
  bool complete = false;                 // it wrote <eos>
  double score = 0;                      // mean log-probability of its words, <eos> included
  // For each word, and <eos> if it wrote one: the attention of each layer's query over the words of
  // the source with <sos> and <eos>, [word][layer][position]. Empty without attention.
  std::vector<std::vector<std::vector<double>>> weights = {};

  // The mean over the layers of the weights: [word][position].
  std::vector<std::vector<double>> mean_weights() const;
};

// How long a translation of S1 words may become, its end included.
std::int64_t longest(std::int64_t S1);

// Always the likeliest word. x (S1, B), lengths (B). In evaluation mode, without a graph.
std::vector<Translated> translate_greedily(Seq2Seq& model, const Tensor& x, const Tensor& lengths);

// By beam search, a sentence at a time: x (S1, 1). With width 1 the same as greedily.
Translated translate_with_beam(Seq2Seq& model, const Tensor& x, std::int64_t width);

}  // namespace labgrad::labs::translation
