#pragma once
// Batches of sentence pairs of similar length, so that little is padding.

#include <cstdint>
#include <span>
#include <vector>

#include "data/parallel.h"
#include "data/vocabulary.h"
#include "engine/random.h"
#include "engine/tensor.h"

namespace labgrad::data {

// A corpus as ids, each sentence from <sos> to <eos>.
struct EncodedPairs {
  std::vector<std::vector<std::int64_t>> source, target;
  std::int64_t size() const { return static_cast<std::int64_t>(source.size()); }
};
EncodedPairs encode(const ParallelCorpus& corpus, const Vocabulary& source,
                    const Vocabulary& target);

// One batch of B pairs; time is the first dimension, as in the tutorial. Lengths count <sos> and
// <eos>; behind them stands <pad>. All of i64.
struct PairBatch {
  Tensor source;                   // (S1, B)
  Tensor source_lengths;           // (B)
  Tensor target;                   // (S2, B)
  Tensor target_lengths;           // (B)
  std::vector<std::int64_t> rows;  // which pairs: column b is pair rows[b]
};
// The given pairs in the given order, on the default device. Error: no row, or one out of range.
PairBatch pair_batch(const EncodedPairs& pairs, std::span<const std::int64_t> rows);

// Rows of one batch after the other.
using Batches = std::vector<std::vector<std::int64_t>>;

struct BucketOptions {
  std::int64_t batch_size = 128;
  std::int64_t pool = 100;  // how many batches are sorted together; 1: no bucketing
};

// One epoch: every pair exactly once, in a random order that depends on the generator alone. All
// pairs are shuffled; pools of `pool` batches are sorted by length (source, then target) and cut
// into batches, the shortest one perhaps not full; the batches of all pools are shuffled. Within a
// batch the source's length falls. Draws randperm(pairs), then randperm(batches).
// The tutorial's BucketIterator meant the same; but as it was called it sorts nothing, as its
// printed batch shows, where lengths 11 and 17 stand side by side.
// Error: a size below 1.
Batches bucket_batches(const EncodedPairs& pairs, const BucketOptions& options,
                       Generator& generator);
// For evaluation: all pairs by falling length of source, then target, then by row.
Batches sorted_batches(const EncodedPairs& pairs, std::int64_t batch_size);

// How much of the (S1, B) and (S2, B) tensors of these batches is <pad>; 0 for no batch.
double padding_share(const EncodedPairs& pairs, const Batches& batches);

}  // namespace labgrad::data
