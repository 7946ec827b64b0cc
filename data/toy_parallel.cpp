#include "data/toy_parallel.h"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <unordered_set>
#include <utility>

#include "data/toy_sentence.h"
#include "engine/error.h"
#include "engine/random.h"

namespace labgrad::data {
namespace {

constexpr std::int64_t max_pairs = 1'000'000;
constexpr std::int64_t max_tries = 10'000;

std::string text_of(const Sentence& words) {
  std::string text;
  for (const std::string& word : words) text += word + ' ';
  return text;
}

class Corpora {
 public:
  explicit Corpora(const ToyOptions& options)
      : generator_(options.seed), max_words_(options.max_words) {}

  // `size` pairs, none of whose sentences was in an earlier one.
  ParallelCorpus next(const std::string& name, std::int64_t size) {
    ParallelCorpus corpus;
    corpus.name = name;
    std::int64_t in_vain = 0;
    while (corpus.size() < size) {
      if (++in_vain > max_tries)
        fail(
            fmt::format("toy_parallel: no new sentence of at most {} words in {} tries, after {} "
                        "pairs of {}; ask for fewer or for longer ones",
                        max_words_, max_tries, corpus.size(), size));
      toy::AlignedPair pair = toy::sentence(generator_);
      if (std::ssize(pair.german) > max_words_ || std::ssize(pair.english) > max_words_) continue;
      std::string german = text_of(pair.german), english = text_of(pair.english);
      if (german_.contains(german) || english_.contains(english)) continue;
      german_.insert(std::move(german));
      english_.insert(std::move(english));
      corpus.source.push_back(std::move(pair.german));
      corpus.target.push_back(std::move(pair.english));
      corpus.alignment.push_back(std::move(pair.alignment));
      in_vain = 0;
    }
    return corpus;
  }

 private:
  Generator generator_;
  std::int64_t max_words_;
  std::unordered_set<std::string> german_, english_;
};

}  // namespace

ParallelSplits toy_parallel(const ToyOptions& options) {
  for (const std::int64_t size : {options.train, options.val, options.test})
    if (size < 0 || size > max_pairs)
      fail(fmt::format("toy_parallel: a part of {} pairs; expected 0 to {}", size, max_pairs));
  Corpora corpora(options);
  ParallelSplits splits;
  splits.test = corpora.next("toy German-English, test", options.test);
  splits.val = corpora.next("toy German-English, val", options.val);
  splits.train = corpora.next("toy German-English, train", options.train);
  return splits;
}

}  // namespace labgrad::data
