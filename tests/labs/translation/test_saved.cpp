#include "labs/translation/saved.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "engine/engine.h"
#include "engine/io/safetensors.h"
#include "labs/translation/alignment_map.h"
#include "labs/translation/evaluate.h"
#include "tests/engine/io/files.h"

using namespace labgrad;
using namespace labgrad::labs::translation;

namespace {

namespace fs = std::filesystem;

const std::vector<data::Sentence> german = {{"ein", "hund", "schläft"},
                                            {"ein", "mann", "lacht", "."},
                                            {"der", "hund", "sieht", "den", "mann", "."}};
const std::vector<data::Sentence> english = {
    {"a", "dog", "sleeps"}, {"a", "man", "laughs", "."}, {"the", "dog", "sees", "the", "man", "."}};

struct Words {
  data::Vocabulary source = data::vocabulary_by_frequency(german, 1);
  data::Vocabulary target = data::vocabulary_by_frequency(english, 1);
  data::EncodedPairs pairs = data::encode(
      {.name = "three", .source = german, .target = english, .alignment = {}}, source, target);
  ModelSizes sizes{.source_words = source.size(),
                   .target_words = target.size(),
                   .embedding = 6,
                   .hidden = 8,
                   .layers = 2};
};

}  // namespace

TEST_CASE("translation: a saved model translates the same, with its own vocabularies") {
  const Words w;
  const files::Scratch scratch("translation");
  const fs::path path = scratch.file("model.safetensors");
  for (const bool attention : {false, true}) {
    CAPTURE(attention);
    manual_seed(3);
    Seq2Seq model(w.sizes, attention);
    model.enc.reads_padding = attention;
    save_model(path, model, "three pairs", w.sizes, attention, w.source, w.target);
    SavedModel saved = load_model(path);
    CHECK(saved.data == "three pairs");
    CHECK(saved.attention == attention);
    CHECK(saved.model->enc.reads_padding == attention);
    CHECK(saved.source.words() == w.source.words());
    CHECK(saved.target.words() == w.target.words());
    CHECK(saved.sizes.layers == 2);
    const std::vector<Translated> before = translate_all(model, w.pairs, 3);
    const std::vector<Translated> after = translate_all(*saved.model, w.pairs, 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(before[i].words == after[i].words);
      CHECK(before[i].score == after[i].score);
    }
  }
}

TEST_CASE("translation: a file that is no saved model is refused") {
  const files::Scratch scratch("no_translation");
  const fs::path path = scratch.file("model.safetensors");
  save_safetensors(path, {{"x", ones({2})}});
  CHECK_THROWS_WITH_AS(
      load_model(path),
      (path.string() +
       ": there is no 'translation' in its metadata; it was not written by this lab")
          .c_str(),
      Error);
  fs::remove(path);
  CHECK_THROWS_AS(load_model(path), MissingFile);
}

TEST_CASE("translation: translate_all keeps the pairs' order, whatever the batches") {
  const Words w;
  manual_seed(4);
  Seq2Seq model(w.sizes, true);
  model.to(f64);
  const std::vector<Translated> all = translate_all(model, w.pairs, 3);
  for (std::int64_t i = 0; i < 3; ++i) {
    const Tensor x = source_of(w.pairs, i);
    const Translated alone = translate_greedily(model, x, tensor({x.size(0)}))[0];
    const Translated& in_batch = all[static_cast<std::size_t>(i)];
    // Alone a sentence may become as long as its own length allows.
    const std::size_t n = std::min(alone.words.size(), in_batch.words.size());
    REQUIRE(n > 0);
    CHECK(std::equal(alone.words.begin(), alone.words.begin() + static_cast<std::ptrdiff_t>(n),
                     in_batch.words.begin()));
  }
}

TEST_CASE("translation: the loss over batches is the mean over words") {
  const Words w;
  manual_seed(5);
  Seq2Seq model(w.sizes, false);
  model.to(f64);
  const double at_once = forced_loss(model, w.pairs, 3), singly = forced_loss(model, w.pairs, 1);
  CHECK(!(std::abs(at_once - singly) > 1e-12));
  double total = 0, words = 0;
  const nn::Evaluating evaluating(model);
  for (const std::int64_t row : {0, 1, 2}) {
    const std::vector<std::int64_t> rows = {row};
    const data::PairBatch b = data::pair_batch(w.pairs, rows);
    const double n = static_cast<double>(english[static_cast<std::size_t>(row)].size()) + 1;
    total +=
        n * translation_loss(model.forward(b.source, b.target, b.source_lengths), b.target).item();
    words += n;
  }
  CHECK(!(std::abs(at_once - total / words) > 1e-12));
}

TEST_CASE("translation: accuracy counts places, the tutorial's with padding") {
  const Words w;
  manual_seed(6);
  Seq2Seq model(w.sizes, false);
  // Whatever it reads, this model writes <pad>: right on padding, wrong on words.
  NoGrad no_grad;
  auto& decoder = dynamic_cast<Seq2SeqDecoder&>(*model.dec);
  decoder.out_fc.weight.zero_();
  decoder.out_fc.bias.zero_();
  select(decoder.out_fc.bias, 0, data::pad_id).fill_(1);
  const data::TokenAccuracy accuracy = free_accuracy(model, w.pairs, false, 3);
  CHECK(accuracy.per_token() == 0);
  // Of 7 steps the shorter two sentences (4 and 5 with <eos>) leave 3 and 2 to padding.
  CHECK(!(std::abs(accuracy.as_in_tutorial() - 5.0 / 7.0) > 1e-12));
}

TEST_CASE("translation: an alignment as text names the heaviest words") {
  const std::string text =
      alignment_text({"ein", "hund"}, {"a", "dog"}, {{0.1, 0.7, 0.15, 0.05}, {0, 0.3, 0.7, 0}});
  CHECK(text == "a    <- ein 0.70\ndog  <- hund 0.70 ein 0.30\n");
  CHECK(draw_alignment({"ein", "hund"}, {"a", "dog"}, {{0.1, 0.7, 0.15, 0.05}, {0, 0.3, 0.7, 0}})
            .find("hund") != std::string::npos);
}
