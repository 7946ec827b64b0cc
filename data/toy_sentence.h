#pragma once
// One sentence of the toy grammar in both languages.

#include "data/parallel.h"
#include "engine/random.h"

namespace labgrad::data::toy {

struct AlignedPair {
  Sentence german, english;
  Alignment alignment;  // (German word, English word), sorted by the English one
};

// A random sentence. Draws from the generator; how often depends on the sentence.
AlignedPair sentence(Generator& generator);

}  // namespace labgrad::data::toy
