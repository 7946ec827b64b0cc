#pragma once
// The corpus of a run: Multi30k if it is at hand, else the generated one.

#include <string>
#include <vector>

#include "data/buckets.h"
#include "labs/common/lab.h"

namespace labgrad::labs::translation {

struct Part {
  data::ParallelCorpus text;
  data::EncodedPairs ids;
};

struct Task {
  bool multi30k;
  std::string name;
  data::Vocabulary source, target;  // of the training pairs
  Part train, val, test;
};

// Made once.
const Task& task(Lab& lab);
// The generated corpus, whichever is at hand: its alignments are known.
const Task& toy_task(Lab& lab);

// "ein hund läuft"
std::string text_of(const data::Sentence& words);

}  // namespace labgrad::labs::translation
