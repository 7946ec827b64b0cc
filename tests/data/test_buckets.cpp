#include "data/buckets.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "engine/error.h"

using namespace labgrad::data;
using labgrad::Generator;

namespace {

// Sentence i has 1 to 30 words and its translation about as many.
EncodedPairs some_pairs(std::int64_t n) {
  EncodedPairs pairs;
  Generator generator(7);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(2 * n));
  generator.random_ints(lengths, 0, 28);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const auto length = static_cast<std::size_t>(lengths[2 * i]);
    const auto more = static_cast<std::size_t>(lengths[2 * i + 1] % 3);
    pairs.source.emplace_back(length + 3, 5);
    pairs.target.emplace_back(length + 3 + more, 6);
  }
  return pairs;
}

std::vector<std::int64_t> all_rows(const Batches& batches) {
  std::vector<std::int64_t> rows;
  for (const auto& batch : batches) rows.insert(rows.end(), batch.begin(), batch.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<std::int64_t> count_to(std::int64_t n) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace

TEST_CASE("buckets: a batch is (S, B), padded behind <eos>") {
  ParallelCorpus corpus;
  corpus.source = {{"ein", "mann"}, {"hunde"}};
  corpus.target = {{"a", "man"}, {"two", "big", "dogs"}};
  const Vocabulary source =
      translation_vocabulary(std::vector<std::string>{"ein", "mann", "hunde"});
  const Vocabulary target = translation_vocabulary(std::vector<std::string>{"a", "man", "dogs"});
  const EncodedPairs pairs = encode(corpus, source, target);
  const PairBatch batch = pair_batch(pairs, std::vector<std::int64_t>{1, 0});
  CHECK(batch.source.shape() == labgrad::Shape{4, 2});
  CHECK(batch.source.to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{2, 2, 6, 4, 3, 5, 1, 3});
  CHECK(batch.source_lengths.to_vector<std::int64_t>() == std::vector<std::int64_t>{3, 4});
  CHECK(batch.target.to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{2, 2, 0, 4, 0, 5, 6, 3, 3, 1});
  CHECK(batch.target_lengths.to_vector<std::int64_t>() == std::vector<std::int64_t>{5, 4});
  CHECK(batch.rows == std::vector<std::int64_t>{1, 0});
  CHECK(padding_share(pairs, {{1, 0}}) == doctest::Approx(2.0 / 18));
  CHECK_THROWS_AS(pair_batch(pairs, {}), labgrad::Error);
  CHECK_THROWS_AS(pair_batch(pairs, std::vector<std::int64_t>{2}), labgrad::Error);
}

TEST_CASE("buckets: every pair exactly once, similar lengths together, falling within a batch") {
  const EncodedPairs pairs = some_pairs(1003);
  Generator generator(1);
  const Batches batches = bucket_batches(pairs, {.batch_size = 16, .pool = 20}, generator);
  CHECK(batches.size() == 63);  // three pools of 20, and the last 43 pairs in 3
  CHECK(all_rows(batches) == count_to(1003));
  std::size_t spread = 0;
  for (const auto& batch : batches) {
    for (std::size_t i = 1; i < batch.size(); ++i)
      CHECK(pairs.source[static_cast<std::size_t>(batch[i - 1])].size() >=
            pairs.source[static_cast<std::size_t>(batch[i])].size());
    if (batch.size() == 16)
      spread = std::max(spread, pairs.source[static_cast<std::size_t>(batch.front())].size() -
                                    pairs.source[static_cast<std::size_t>(batch.back())].size());
  }
  CHECK(spread <= 14);
  Generator other(1);
  const double mixed =
      padding_share(pairs, bucket_batches(pairs, {.batch_size = 16, .pool = 1}, other));
  CHECK(padding_share(pairs, batches) < 0.12);
  CHECK(mixed > 0.4);
  CHECK(padding_share(pairs, {}) == 0);
}

TEST_CASE("buckets: the same generator gives the same epoch, the next epoch is another") {
  const EncodedPairs pairs = some_pairs(200);
  Generator a(5), b(5);
  const Batches first = bucket_batches(pairs, {.batch_size = 8}, a);
  CHECK(first == bucket_batches(pairs, {.batch_size = 8}, b));
  CHECK(first != bucket_batches(pairs, {.batch_size = 8}, a));
  // Draws as documented.
  Generator c(5);
  c.randperm(200);
  c.randperm(25);
  Generator d(5);
  bucket_batches(pairs, {.batch_size = 8}, d);
  CHECK(c.u32() == d.u32());
}

TEST_CASE("buckets: sorted batches for evaluation, and sizes") {
  const EncodedPairs pairs = some_pairs(50);
  const Batches batches = sorted_batches(pairs, 16);
  CHECK(batches.size() == 4);
  CHECK(batches.back().size() == 2);
  CHECK(all_rows(batches) == count_to(50));
  std::size_t before = 100;
  for (const auto& batch : batches)
    for (const std::int64_t row : batch) {
      CHECK(pairs.source[static_cast<std::size_t>(row)].size() <= before);
      before = pairs.source[static_cast<std::size_t>(row)].size();
    }
  Generator generator(1);
  CHECK(bucket_batches(some_pairs(0), {}, generator).empty());
  CHECK(bucket_batches(pairs, {.batch_size = std::int64_t{1} << 62, .pool = std::int64_t{1} << 62},
                       generator)
            .size() == 1);
  CHECK_THROWS_AS(bucket_batches(pairs, {.batch_size = 0}, generator), labgrad::Error);
  CHECK_THROWS_AS(bucket_batches(pairs, {.pool = 0}, generator), labgrad::Error);
  CHECK_THROWS_AS(sorted_batches(pairs, 0), labgrad::Error);
}
