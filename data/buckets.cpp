#include "data/buckets.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "engine/create.h"
#include "engine/error.h"

namespace labgrad::data {
namespace {

using Rows = std::vector<std::int64_t>;
using Ids = std::vector<std::vector<std::int64_t>>;

std::size_t length(const Ids& sentences, std::int64_t row) {
  return sentences[static_cast<std::size_t>(row)].size();
}

std::size_t longest(const Ids& sentences, std::span<const std::int64_t> rows) {
  std::size_t most = 0;
  for (const std::int64_t row : rows) most = std::max(most, length(sentences, row));
  return most;
}

// The source's length falls, then the target's; equal ones keep their order.
void sort_by_length(const EncodedPairs& pairs, Rows::iterator begin, Rows::iterator end) {
  std::stable_sort(begin, end, [&](std::int64_t a, std::int64_t b) {
    const std::size_t la = length(pairs.source, a), lb = length(pairs.source, b);
    return la != lb ? la > lb : length(pairs.target, a) > length(pairs.target, b);
  });
}

void cut(Rows::iterator begin, Rows::iterator end, std::int64_t batch_size, Batches& into) {
  while (begin != end) {
    const auto stop = begin + std::min<std::int64_t>(batch_size, end - begin);
    into.emplace_back(begin, stop);
    begin = stop;
  }
}

void check_size(const char* function, const char* what, std::int64_t value) {
  if (value < 1)
    fail(std::string(function) + ": " + what + " must be at least 1, got " + std::to_string(value));
}

// The sentences of the rows as the columns of (S, B), and their lengths.
std::pair<Tensor, Tensor> columns(const Ids& sentences, std::span<const std::int64_t> rows) {
  const std::size_t B = rows.size(), S = longest(sentences, rows);
  std::vector<std::int64_t> ids(S * B, pad_id), lengths(B);
  for (std::size_t b = 0; b < B; ++b) {
    const auto& sentence = sentences[static_cast<std::size_t>(rows[b])];
    for (std::size_t s = 0; s < sentence.size(); ++s) ids[s * B + b] = sentence[s];
    lengths[b] = static_cast<std::int64_t>(sentence.size());
  }
  const auto width = static_cast<std::int64_t>(B);
  return {from_values(ids, {static_cast<std::int64_t>(S), width}), from_values(lengths, {width})};
}

}  // namespace

EncodedPairs encode(const ParallelCorpus& corpus, const Vocabulary& source,
                    const Vocabulary& target) {
  EncodedPairs pairs;
  for (const Sentence& words : corpus.source) pairs.source.push_back(encode(words, source));
  for (const Sentence& words : corpus.target) pairs.target.push_back(encode(words, target));
  return pairs;
}

PairBatch pair_batch(const EncodedPairs& pairs, std::span<const std::int64_t> rows) {
  if (rows.empty()) fail("pair_batch: a batch needs at least one pair, got no row");
  for (const std::int64_t row : rows)
    if (row < 0 || row >= pairs.size())
      fail("pair_batch: there is no pair " + std::to_string(row) + ", they are 0 to " +
           std::to_string(pairs.size() - 1));
  auto [source, source_lengths] = columns(pairs.source, rows);
  auto [target, target_lengths] = columns(pairs.target, rows);
  return {.source = source,
          .source_lengths = source_lengths,
          .target = target,
          .target_lengths = target_lengths,
          .rows = {rows.begin(), rows.end()}};
}

Batches bucket_batches(const EncodedPairs& pairs, const BucketOptions& options,
                       Generator& generator) {
  check_size("bucket_batches", "batch_size", options.batch_size);
  check_size("bucket_batches", "pool", options.pool);
  Rows order = generator.randperm(pairs.size());
  Batches batches;
  // No more than fits all, so that the product cannot overflow.
  const std::int64_t n = std::max<std::int64_t>(1, pairs.size());
  const std::int64_t pool = std::min(options.batch_size, n) * std::min(options.pool, n);
  for (auto begin = order.begin(); begin != order.end();) {
    const auto end = begin + std::min<std::int64_t>(pool, order.end() - begin);
    sort_by_length(pairs, begin, end);
    cut(begin, end, options.batch_size, batches);
    begin = end;
  }
  Batches shuffled;
  for (const std::int64_t i : generator.randperm(static_cast<std::int64_t>(batches.size())))
    shuffled.push_back(std::move(batches[static_cast<std::size_t>(i)]));
  return shuffled;
}

Batches sorted_batches(const EncodedPairs& pairs, std::int64_t batch_size) {
  check_size("sorted_batches", "batch_size", batch_size);
  Rows order(static_cast<std::size_t>(pairs.size()));
  std::iota(order.begin(), order.end(), 0);
  sort_by_length(pairs, order.begin(), order.end());
  Batches batches;
  cut(order.begin(), order.end(), batch_size, batches);
  return batches;
}

double padding_share(const EncodedPairs& pairs, const Batches& batches) {
  std::size_t words = 0, places = 0;
  for (const Rows& rows : batches)
    for (const Ids* side : {&pairs.source, &pairs.target}) {
      places += longest(*side, rows) * rows.size();
      for (const std::int64_t row : rows) words += length(*side, row);
    }
  return places == 0 ? 0 : static_cast<double>(places - words) / static_cast<double>(places);
}

}  // namespace labgrad::data
