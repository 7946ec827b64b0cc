// Part 2: the corpus, its words, and batches of sentences of similar length.

#include <algorithm>
#include <cmath>
#include <set>

#include "data/buckets.h"
#include "labs/translation/sections.h"
#include "labs/translation/task.h"

namespace labgrad::labs::translation {
namespace {

// The tutorial's vocabularies, of spaCy's tokens.
constexpr std::int64_t tutorial_source = 7855, tutorial_target = 5893;

double mean_length(const std::vector<data::Sentence>& sentences) {
  double total = 0;
  for (const data::Sentence& s : sentences) total += static_cast<double>(s.size());
  return total / static_cast<double>(sentences.size());
}

std::int64_t longest_of(const std::vector<data::Sentence>& sentences) {
  std::size_t longest = 0;
  for (const data::Sentence& s : sentences) longest = std::max(longest, s.size());
  return static_cast<std::int64_t>(longest);
}

void sizes(Lab& lab, const Task& task) {
  Table table({{"part"},
               {"pairs", ",d"},
               {"German words", ".1f"},
               {"longest", "d"},
               {"English words", ".1f"},
               {"longest", "d"}},
              "Pairs, and words in a sentence in the mean");
  for (const auto& [name, part] :
       {std::pair{"train", &task.train}, {"validation", &task.val}, {"test", &task.test}})
    table.row(name, part->text.size(), mean_length(part->text.source),
              longest_of(part->text.source), mean_length(part->text.target),
              longest_of(part->text.target));
  lab.table(table);
  if (task.multi30k) {
    lab.check_equal("pairs to train on", task.train.text.size(), 29000);
    lab.check_equal("pairs to validate on", task.val.text.size(), 1014);
    lab.check_equal("pairs to test on", task.test.text.size(), 1000);
    return;
  }
  std::set<data::Sentence> seen(task.train.text.source.begin(), task.train.text.source.end());
  std::int64_t known = 0;
  for (const Part* part : {&task.val, &task.test})
    for (const data::Sentence& s : part->text.source) known += seen.contains(s) ? 1 : 0;
  lab.check_equal("validation and test sentences that are in training", known, 0);
}

void samples(Lab& lab, const Task& task) {
  Generator random(static_cast<std::uint64_t>(lab.seed()));
  std::vector<std::int64_t> rows(5);
  random.random_ints(rows, 0, task.train.text.size());
  Table table({{"pair", "d"}, {""}, {"sentence"}}, "Five pairs, drawn at random");
  for (const std::int64_t i : rows) {
    const auto row = static_cast<std::size_t>(i);
    table.row(i, "de", text_of(task.train.text.source[row]))
        .row("", "en", text_of(task.train.text.target[row]));
  }
  lab.table(table);
}

std::string top_words(const data::Vocabulary& vocabulary, std::int64_t count) {
  std::string text;
  for (std::int64_t id = 0; id < std::min(count, vocabulary.size()); ++id)
    text += (id == 0 ? "" : "  ") + vocabulary.word(id);
  return text;
}

// Words of the sentences that the vocabulary does not have.
double unknown_share(const std::vector<data::Sentence>& sentences,
                     const data::Vocabulary& vocabulary) {
  double words = 0, unknown = 0;
  for (const data::Sentence& s : sentences)
    for (const std::string& word : s) {
      words += 1;
      unknown += vocabulary.contains(word) ? 0 : 1;
    }
  return unknown / words;
}

void vocabularies(Lab& lab, const Task& task) {
  lab.say(
      "Sentences are cut into words by rule, in lower case. A vocabulary has four words of its "
      "own, then those of the training sentences that occur at least twice, by falling frequency. "
      "All others are <unk>.");
  Table table({{"language"},
               {"words", ",d"},
               {"tutorial, spaCy's tokens", ",d"},
               {"share of <unk> in test", ".4f"}});
  const auto tutorial = [&](std::int64_t n) { return task.multi30k ? make_cell(n) : Cell{}; };
  table.row("German", task.source.size(), tutorial(tutorial_source),
            unknown_share(task.test.text.source, task.source));
  table.row("English", task.target.size(), tutorial(tutorial_target),
            unknown_share(task.test.text.target, task.target));
  lab.table(table);
  if (task.multi30k)
    lab.check_less(
        "vocabulary sizes are near the tutorial's (largest relative difference)",
        std::max(std::abs(static_cast<double>(task.source.size()) / tutorial_source - 1),
                 std::abs(static_cast<double>(task.target.size()) / tutorial_target - 1)),
        0.02);
  lab.say("The first 30 words, German: {}", top_words(task.source, 30));
  lab.say("English: {}", top_words(task.target, 30));
  lab.check_equal("the index of <unk>", task.target.id("<unk>"), 0);
  lab.check_equal("the index of <pad>", task.target.id("<pad>"), 1);
}

std::string matrix_text(const Tensor& ids) {
  std::string text;
  for (std::int64_t t = 0; t < ids.size(0); ++t) {
    for (std::int64_t b = 0; b < ids.size(1); ++b)
      text += fmt::format("{:6}", static_cast<std::int64_t>(ids.at({t, b})));
    text += "\n";
  }
  return text;
}

std::string list_text(const Tensor& numbers) {
  std::string text;
  for (const std::int64_t v : numbers.to_vector<std::int64_t>())
    text += fmt::format("{}{}", text.empty() ? "" : ", ", v);
  return "(" + text + ")";
}

void batches(Lab& lab, const Task& task) {
  Generator order(static_cast<std::uint64_t>(lab.seed()));
  const data::Batches of_4 = data::bucket_batches(task.train.ids, {.batch_size = 4}, order);
  const data::PairBatch b = data::pair_batch(task.train.ids, of_4.front());
  lab.say(
      "A batch holds sentences of similar length; the shorter ones are filled up with <pad>. The "
      "first index is the step, so a sentence is a column. A batch of 4, x {} with lengths {} and "
      "y {} with lengths {}:",
      b.source.shape().str(), list_text(b.source_lengths), b.target.shape().str(),
      list_text(b.target_lengths));
  lab.show("x (S1, B)\n" + matrix_text(b.source) + "\ny (S2, B)\n" + matrix_text(b.target));
  Generator again(static_cast<std::uint64_t>(lab.seed())), other(1);
  const std::int64_t batch = 128;
  const data::Batches buckets = data::bucket_batches(task.train.ids, {.batch_size = batch}, again);
  const data::Batches mixed =
      data::bucket_batches(task.train.ids, {.batch_size = batch, .pool = 1}, other);
  const double sorted = data::padding_share(task.train.ids, buckets);
  const double shuffled = data::padding_share(task.train.ids, mixed);
  Table table({{"batches of 128"}, {"share that is padding", ".3f"}});
  table.row("of similar lengths", sorted).row("as they come", shuffled);
  lab.table(table);
  lab.check_less("batches of similar lengths: padding, of what it is otherwise", sorted / shuffled,
                 0.5);
  std::int64_t pairs = 0;
  for (const auto& rows : buckets) pairs += static_cast<std::int64_t>(rows.size());
  lab.check_equal("every pair is in an epoch once", pairs, task.train.ids.size());
}

}  // namespace

void corpus(Lab& lab) {
  const Task& data = task(lab);
  sizes(lab, data);
  samples(lab, data);
  vocabularies(lab, data);
  batches(lab, data);
}

}  // namespace labgrad::labs::translation
