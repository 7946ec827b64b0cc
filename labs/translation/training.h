#pragma once
// Training of a model, by the same recipe for both, and what has been trained in this run.

#include <memory>
#include <string>
#include <vector>

#include "labs/common/train.h"
#include "labs/translation/seq2seq.h"
#include "labs/translation/task.h"
#include "labs/translation/translate.h"

namespace labgrad::labs::translation {

enum class Kind { plain, attention };
std::string name_of(Kind kind);

struct Recipe {
  std::string name;
  std::int64_t embedding = 64, hidden = 128, layers = 3;
  double dropout = 0.2, word_dropout = 0;  // as in ModelSizes
  bool reads_padding = false;
  double lr = 1e-2;
  bool cosine = false;      // the rate falls on a cosine to 0
  double clip = 1;          // of the gradients' norm
  bool p_tf_falls = false;  // by 1/20 an epoch, else all words are the target's
  std::int64_t epochs = 2, batch = 128;
  std::int64_t batches = 0;     // of an epoch; 0: as many as there are
  bool until_it_stops = false;  // to the end of the epochs only while the validation loss falls
};

// The tutorial's: 2 epochs of 25 batches.
Recipe tutorial_recipe(Lab& lab);
// Ours, chosen on validation data; `task` decides the widths.
Recipe own_recipe(Lab& lab, const Task& task);
// What the section `train` runs: ours, but on Multi30k the tutorial's unless more time is given by
// --epochs or --full.
Recipe main_recipe(Lab& lab, const Task& task);

struct Trained {
  Kind kind;
  Recipe recipe;
  const Task* task;
  ModelSizes sizes = {};
  std::unique_ptr<Seq2Seq> model = {};
  History history = {};
  double seconds = 0;                 // in this run
  std::int64_t words = 0;             // of the targets, read in this run
  std::vector<Translated> test = {};  // the first test sentences, translated greedily
};

// A model with the weights that PyTorch draws from the seed.
std::unique_ptr<Seq2Seq> make_model(const Recipe& recipe, const Task& task, Kind kind,
                                    std::uint64_t seed, ModelSizes* sizes = nullptr);

// One step on a batch: loss, backward, clipping, Adam. Returns the loss.
double train_step(Seq2Seq& model, optim::Optimizer& optimizer, const data::PairBatch& batch,
                  const Recipe& recipe, double p_tf, Generator& forcing);

// Trained by main_recipe (or by the tutorial's) when first asked for; the model is the one with the
// lowest validation loss, and lies in <out>/<kind>.safetensors.
Trained& trained(Lab& lab, Kind kind);
Trained& trained_as_tutorial(Lab& lab, Kind kind);
// Has it learned enough for its translations to mean something?
bool is_trained(const Trained& t);

}  // namespace labgrad::labs::translation
