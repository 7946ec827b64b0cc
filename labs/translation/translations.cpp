// Part 5: sentences translated, by both models, greedily and by beam search; and from a saved
// model.

#include "data/tokenizer.h"
#include "engine/create.h"
#include "engine/io/file.h"
#include "labs/translation/alignment_map.h"
#include "labs/translation/evaluate.h"
#include "labs/translation/saved.h"
#include "labs/translation/scores.h"
#include "labs/translation/sections.h"

namespace labgrad::labs::translation {
namespace {

void test_sentences(Lab& lab, const Task& data) {
  const std::int64_t width = lab.options().integer("beam");
  Table table({{""}, {"sentence"}}, fmt::format("Test sentences; beam: {}", width));
  Trained& plain = trained(lab, Kind::plain);
  Trained& attention = trained(lab, Kind::attention);
  data::Bleu greedy_bleu, beam_bleu;
  const std::int64_t count = std::min<std::int64_t>(tested(lab), lab.by_budget(4, 100, 1000));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const Translated& a = test_translations(lab, attention)[row];
    const Translated beam =
        translate_with_beam(*attention.model, source_of(data.test.ids, i), width);
    const data::Sentence a_words = words_of(a, data.target), b_words = words_of(beam, data.target);
    greedy_bleu.add(a_words, data.test.text.target[row]);
    beam_bleu.add(b_words, data.test.text.target[row]);
    if (i >= 4) continue;
    table.row("de", text_of(data.test.text.source[row]))
        .row("reference", text_of(data.test.text.target[row]))
        .row("plain", text_of(words_of(test_translations(lab, plain)[row], data.target)))
        .row("attention", text_of(a_words))
        .row("attention, beam", text_of(b_words))
        .row("", "");
  }
  lab.table(table);
  Table scores({{"attention, search"}, {"corpus BLEU", ".3f"}},
               fmt::format("The first {} test sentences", count));
  scores.row("greedy", greedy_bleu.score()).row(fmt::format("beam {}", width), beam_bleu.score());
  lab.table(scores);
}

void saved_is_the_same(Lab& lab, const Task& data) {
  for (const Kind kind : {Kind::plain, Kind::attention}) {
    Trained& t = trained(lab, kind);
    const std::filesystem::path path = lab.out_dir() / "again.safetensors";
    save_model(path, *t.model, data.name, t.sizes, kind == Kind::attention, data.source,
               data.target);
    const SavedModel again = load_model(path);
    std::filesystem::remove(path);
    const std::vector<Translated> fresh = translate_all(*again.model, data.test.ids, 20);
    const std::vector<Translated>& before = test_translations(lab, t);
    const bool same_words = again.target.words() == data.target.words();
    std::int64_t same = 0;
    for (std::size_t i = 0; i < fresh.size(); ++i)
      same += same_words && fresh[i].words == before[i].words ? 1 : 0;
    lab.check_equal(name_of(kind) + ": of 20 sentences, the same from the saved model", same,
                    static_cast<std::int64_t>(fresh.size()));
  }
}

}  // namespace

void translations(Lab& lab) {
  const Task& data = task(lab);
  lab.say(
      "Greedy search takes the likeliest word at each step and cannot take it back. Beam search "
      "keeps the best few beginnings, and at the end the sentence whose words are likeliest in the "
      "mean.");
  test_sentences(lab, data);
  saved_is_the_same(lab, data);
  lab.say(
      "`{} --translate \"{}\"` translates a sentence with the saved model and shows what it looked "
      "at.",
      "build/bin/translation", text_of(data.test.text.source.front()));
}

void translate_one(Lab& lab) {
  // In the folder of the run, or the one above it, where a training leaves its models.
  std::filesystem::path path = lab.out_dir() / "attention.safetensors";
  if (!std::filesystem::exists(path)) path = lab.out_dir().parent_path() / "attention.safetensors";
  path = lab.options().text_or("model", path.string());
  if (!std::filesystem::exists(path))
    throw MissingFile(path, "train a model first, by running this program without --translate");
  SavedModel saved = load_model(path);
  const data::Sentence words =
      data::tokenize(lab.options().text("translate"), data::Language::german);
  if (words.empty()) throw UsageError("--translate: there is no word in the sentence");
  data::Sentence known;
  for (const std::string& word : words)
    known.push_back(saved.source.contains(word) ? word : word + " (<unk>)");
  const std::vector<std::int64_t> ids = data::encode(words, saved.source);
  const std::int64_t width = lab.options().integer("beam");
  const Translated best = translate_with_beam(
      *saved.model, from_values(ids, {static_cast<std::int64_t>(ids.size()), 1}), width);
  const data::Sentence out = data::decode(best.words, saved.target);
  lab.say("{} model, trained on {}; beam {}, mean log-probability of a word {:.3f}.",
          saved.attention ? "Attention" : "Plain", saved.data, width, best.score);
  lab.show(fmt::format("de  {}\nen  {}", text_of(known), text_of(out)));
  if (best.weights.empty()) return;
  lab.show(alignment_text(words, out, best.mean_weights()));
  lab.picture("translation", fmt::format("What the model looked at: {}", text_of(out)),
              draw_alignment(words, out, best.mean_weights()));
}

}  // namespace labgrad::labs::translation
