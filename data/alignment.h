#pragma once
// How well attention finds the words that are being translated, where a gold alignment is known.

#include <cstdint>

#include "data/parallel.h"
#include "engine/tensor.h"

namespace labgrad::data {

// The share of target words whose largest attention weight lies on a source word that the gold
// alignment gives them. Meant for teacher forcing with the corpus's own target, so that row t is
// the step that puts out target word t. Counted are the words with at least one gold source word
// (in the toy corpus all of them), <eos> is none. Of equally large weights the first counts. A step
// whose largest weight lies on <sos>, <eos> or padding is a miss, and so is one with a NaN.
struct AlignmentScore {
  std::int64_t words = 0, hits = 0;
  double by_chance = 0;  // the hits to be expected of picking one of the source's words at random

  // Adds one sentence. `weights` is (T, S), T at least the target's words and S at least the
  // source's and <sos>, floating: column 0 is <sos>, source word j is column j + 1.
  // Error: other shapes or dtypes, an alignment that points beyond them, source_words < 1.
  void add(const Tensor& weights, const Alignment& gold, std::int64_t source_words);

  double share() const;         // hits / words; NaN if there is none
  double chance_share() const;  // by_chance / words
};

}  // namespace labgrad::data
