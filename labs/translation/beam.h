#pragma once
// Beam search: the best few beginnings of a sentence are kept and each is continued by every word,
// where greedy search keeps one.

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/tensor.h"

namespace labgrad::labs::translation {

struct BeamOptions {
  std::int64_t width = 4;       // how many are kept
  std::int64_t max_words = 60;  // of a sentence, its end included
  std::int64_t sos = 2, eos = 3;
};

// A sentence, or the beginning of one.
struct Hypothesis {
  std::vector<std::int64_t> words = {};  // without <sos>; the last one is <eos> if it is complete
  std::vector<std::size_t> rows = {};    // the row of step t that words[t] was chosen in
  double log_probability = 0;            // Σ_t log P(w_t | the words before it)

  bool complete = false;
  // Σ / number of words: sums alone would favour short sentences.
  double score() const;
};

// One step further: row i reads words[i] after what row parents[i] of the step before has read.
// Returns log P(next word), (rows, V). The first step has one row, which reads <sos>.
using Advance = std::function<Tensor(const std::vector<std::int64_t>& words,
                                     const std::vector<std::int64_t>& parents)>;

// At each step the `width` likeliest of all continuations are kept; those that end in <eos> are set
// aside. When there are `width` of them, or max_words are reached, the one with the best score wins
// (if none is complete, the best beginning). Of equal ones the first row and the lower word win, so
// that width 1 is greedy search. Error: width or max_words below 1.
Hypothesis beam_search(const Advance& advance, const BeamOptions& options);

}  // namespace labgrad::labs::translation
