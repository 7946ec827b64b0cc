#pragma once
// A generated German-English corpus: what labs/translation uses where Multi30k is not at hand, and
// where it needs to know which word translates which.

#include <cstdint>

#include "data/parallel.h"

namespace labgrad::data {

struct ToyOptions {
  std::int64_t train = 20000, val = 500, test = 500;  // pairs
  std::int64_t max_words = 40;                        // in either language
  std::uint64_t seed = 0;
};

// Pairs of the grammar in data/toy_grammar.h, of 4 to `max_words` words, in lower case, as
// tokenize() would give them. No German and no English sentence occurs twice in all three parts
// together; test and val don't depend on how long train is. The same seed gives the same pairs.
//
//   die kinder , die im garten spielen , schauen jeden tag einen alten hund an .
//   the children who play in the garden look at an old dog every day .
//
// Word order differs as in the languages: the verb is second in a German main clause (so that the
// subject follows it when something else comes first), its second half (particle, participle,
// infinitive) at the end, and all of it at the end of a subordinate clause; a possessor follows in
// German and precedes in English; a compound is one word there and two here.
//
// `alignment` holds, by construction, for each English word every German word it translates: at
// least one. "saw" has both of "hat ... gesehen", "next" and "to" have "neben", "in" and "the" have
// "im". German words without a counterpart (commas, articles that English drops) have none.
// Error: a size is negative or above a million, or so many different sentences of at most
// `max_words` words don't turn up.
ParallelSplits toy_parallel(const ToyOptions& options = {});

}  // namespace labgrad::data
