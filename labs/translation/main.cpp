// labs/translation: sequence to sequence, with and without attention.

#include <algorithm>
#include <string_view>
#include <vector>

#include "labs/translation/sections.h"
#include "labs/translation/task.h"

namespace {

using namespace labgrad::labs;

void add_options(Options& o) {
  o.group("Translating with a saved model");
  o.add_string("translate", "TEXT", "translate a German sentence, and do no more");
  o.add_string("model", "FILE",
               "the model for it; attention.safetensors of the last training if left out");
  o.add_int("beam", "N", "how many beginnings of a sentence beam search keeps; 1: greedy", 4,
            {.min = 1, .max = 100});
}

void tell_data(Lab& lab) {
  const translation::Task& task = translation::task(lab);
  if (task.multi30k) {
    lab.say("The corpus is Multi30k, German to English: {} pairs to train on.",
            task.train.text.size());
  } else {
    lab.say(
        "There is no Multi30k in {}, so the corpus is generated from a small grammar: {} pairs to "
        "train on. It is easier than real sentences, but every word's translation is known. `make "
        "data` fetches Multi30k.",
        lab.data_dir().string(), task.train.text.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Lab lab({.name = "translation",
           .title = "Translation: sequence to sequence, with and without attention",
           .summary = "A recurrent encoder and decoder translate German to English, once through a "
                      "single vector and once with attention to every word of the source.",
           .seed = 0});
  add_options(lab.options());
  std::vector<const char*> args(argv, argv + argc);
  const auto given = [&](std::string_view option) {
    return std::any_of(args.begin() + 1, args.end(),
                       [&](std::string_view arg) { return arg.starts_with(option); });
  };
  if (given("--translate")) {
    // In a folder of its own: the report of the training stays.
    if (!given("--out")) args.push_back("--out=build/out/translation/sentence");
    lab.section("translate", "A sentence translated", translation::translate_one);
    return lab.run(static_cast<int>(args.size()), args.data());
  }
  lab.start(tell_data);
  lab.section("recurrent", "Part 0: recurrent networks", translation::recurrent);
  lab.section("attention", "Part 1: attention", translation::soft_attention);
  lab.section("corpus", "Part 2: the data", translation::corpus);
  lab.section("models", "Part 3: two models, part by part", translation::models);
  lab.section("one-batch", "Part 4: one batch by heart", translation::one_batch);
  lab.section("tutorial", "Part 4: the tutorial's training", translation::tutorial);
  lab.section("train", "Part 4: both models by one recipe", translation::train_both);
  lab.section("scores", "Part 4: without teacher forcing", translation::scores);
  lab.section("length", "Part 5: the bottleneck, by length", translation::by_length);
  lab.section("states", "Part 5: sentences as points", translation::states);
  lab.section("alignment", "Part 5: what attention looked at", translation::alignment);
  lab.section("sentences", "Part 5: sentences translated", translation::translations);
  return lab.run(argc, argv);
}
