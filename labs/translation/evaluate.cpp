#include "labs/translation/evaluate.h"

#include <algorithm>
#include <numeric>

#include "data/buckets.h"
#include "engine/create.h"
#include "engine/ops.h"
#include "labs/common/progress.h"

namespace labgrad::labs::translation {

double forced_loss(Seq2Seq& model, const data::EncodedPairs& pairs, std::int64_t batch) {
  NoGrad no_grad;
  const nn::Evaluating evaluating(model);
  double total = 0, words = 0;
  for (const std::vector<std::int64_t>& rows : data::sorted_batches(pairs, batch)) {
    const data::PairBatch b = data::pair_batch(pairs, rows);
    const double n = sum(b.target_lengths - 1).item();
    total +=
        n * translation_loss(model.forward(b.source, b.target, b.source_lengths), b.target).item();
    words += n;
  }
  return total / words;
}

data::TokenAccuracy free_accuracy(Seq2Seq& model, const data::EncodedPairs& pairs, bool dropout,
                                  std::int64_t batch) {
  NoGrad no_grad;
  const nn::Evaluating evaluating(model);
  model.train(dropout);
  data::TokenAccuracy accuracy;
  for (const std::vector<std::int64_t>& rows : data::sorted_batches(pairs, batch)) {
    const data::PairBatch b = data::pair_batch(pairs, rows);
    const Tensor l = model.forward(b.source, b.target, b.source_lengths, {.p_tf = 0});
    accuracy.add(argmax(l, 2), narrow(b.target, 0, 1, b.target.size(0) - 1));
  }
  return accuracy;
}

std::vector<Translated> translate_all(Seq2Seq& model, const data::EncodedPairs& pairs,
                                      std::int64_t count, std::int64_t batch) {
  count = std::min(count, pairs.size());
  std::vector<Translated> out(static_cast<std::size_t>(count));
  std::vector<std::int64_t> order(out.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return pairs.source[static_cast<std::size_t>(a)].size() >
           pairs.source[static_cast<std::size_t>(b)].size();
  });
  Progress progress("translating", count, 0, "sentence");
  for (std::int64_t first = 0; first < count; first += batch) {
    const auto n = static_cast<std::size_t>(std::min(batch, count - first));
    const std::span<const std::int64_t> rows(order.data() + first, n);
    const data::PairBatch b = data::pair_batch(pairs, rows);
    std::vector<Translated> translated = translate_greedily(model, b.source, b.source_lengths);
    for (std::size_t i = 0; i < n; ++i)
      out[static_cast<std::size_t>(rows[i])] = std::move(translated[i]);
    progress.update(first + static_cast<std::int64_t>(n));
  }
  return out;
}

Tensor source_of(const data::EncodedPairs& pairs, std::int64_t i) {
  const std::vector<std::int64_t>& ids = pairs.source.at(static_cast<std::size_t>(i));
  return from_values(ids, {static_cast<std::int64_t>(ids.size()), 1});
}

data::Sentence words_of(const Translated& sentence, const data::Vocabulary& vocabulary) {
  return data::decode(sentence.words, vocabulary);
}

}  // namespace labgrad::labs::translation
