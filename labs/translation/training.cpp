#include "labs/translation/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "engine/ops.h"
#include "labs/translation/evaluate.h"
#include "labs/translation/saved.h"
#include "nn/clip.h"
#include "nn/optim.h"
#include "nn/schedule.h"

namespace labgrad::labs::translation {

std::string name_of(Kind kind) { return kind == Kind::plain ? "plain" : "attention"; }

Recipe tutorial_recipe(Lab& lab) {
  return {.name = "tutorial",
          .reads_padding = true,
          .p_tf_falls = true,
          .epochs = 2,
          .batch = 128,
          .batches = lab.by_budget<std::int64_t>(3, 25, 25)};
}

Recipe own_recipe(Lab& lab, const Task& task) {
  if (task.multi30k)
    return {.name = "own",
            .embedding = 128,
            .hidden = 256,
            .layers = 1,
            .dropout = 0,
            .word_dropout = 0.3,
            .lr = 3e-3,
            .cosine = lab.options().given("epochs"),
            .epochs = lab.epochs(10, 10, 40),
            .batch = lab.batch(128, 128, 128),
            .until_it_stops = !lab.options().given("epochs")};
  return {.name = "own",
          .layers = 1,
          .dropout = 0,
          .lr = 4e-3,
          .cosine = true,
          .epochs = lab.epochs(1, 5, 12),
          .batch = lab.batch(64, 64, 64)};
}

Recipe main_recipe(Lab& lab, const Task& task) {
  if (task.multi30k && lab.budget() != Budget::full && !lab.options().given("epochs"))
    return tutorial_recipe(lab);
  return own_recipe(lab, task);
}

std::unique_ptr<Seq2Seq> make_model(const Recipe& recipe, const Task& task, Kind kind,
                                    std::uint64_t seed, ModelSizes* sizes) {
  const ModelSizes n{.source_words = task.source.size(),
                     .target_words = task.target.size(),
                     .embedding = recipe.embedding,
                     .hidden = recipe.hidden,
                     .layers = recipe.layers,
                     .dropout = recipe.dropout,
                     .word_dropout = recipe.word_dropout};
  if (sizes) *sizes = n;
  manual_seed(seed);
  auto model = std::make_unique<Seq2Seq>(n, kind == Kind::attention);
  model->enc.reads_padding = recipe.reads_padding;
  return model;
}

double train_step(Seq2Seq& model, optim::Optimizer& optimizer, const data::PairBatch& b,
                  const Recipe& recipe, double p_tf, Generator& forcing) {
  const Tensor l =
      model.forward(b.source, b.target, b.source_lengths, {.p_tf = p_tf, .generator = forcing});
  const Tensor loss = translation_loss(l, b.target);
  optimizer.zero_grad();
  loss.backward();
  optim::clip_grad_norm_(optimizer.parameters(), recipe.clip);
  optimizer.step();
  return loss.item();
}

namespace {

Json describe(const Recipe& r, const Task& task, Kind kind, std::int64_t seed) {
  return Json::object({{"model", name_of(kind)},
                       {"data", task.name},
                       {"pairs", task.train.ids.size()},
                       {"recipe", r.name},
                       {"embedding", r.embedding},
                       {"hidden", r.hidden},
                       {"layers", r.layers},
                       {"dropout", r.dropout},
                       {"word_dropout", r.word_dropout},
                       {"reads_padding", r.reads_padding},
                       {"lr", r.lr},
                       {"cosine_epochs", r.cosine ? r.epochs : 0},
                       {"clip", r.clip},
                       {"p_tf_falls", r.p_tf_falls},
                       {"batch", r.batch},
                       {"batches", r.batches},
                       {"seed", seed}});
}

// Epochs since the validation loss was lowest.
std::size_t epochs_since_best(const History& history) {
  std::vector<double> losses;
  for (const Metrics& m : history.epochs) losses.push_back(m.front().second);
  const auto best = std::min_element(losses.begin(), losses.end());
  return static_cast<std::size_t>(losses.end() - best) - 1;
}

Trained train_model(Lab& lab, const Task& task, Kind kind, const Recipe& recipe) {
  const auto seed = static_cast<std::uint64_t>(lab.seed());
  Trained out{.kind = kind, .recipe = recipe, .task = &task};
  out.model = make_model(recipe, task, kind, seed, &out.sizes);
  Seq2Seq& model = *out.model;
  optim::Adam adam(model.parameters(), {.lr = recipe.lr});
  Generator order(seed), forcing(seed);
  const std::string name = recipe.name == "own" ? name_of(kind) : name_of(kind) + " " + recipe.name;
  const std::filesystem::path best = lab.out_dir() / (file_safe(name) + ".safetensors");

  Training training{.name = name, .model = &model, .optimizer = &adam, .epochs = recipe.epochs};
  training.config = describe(recipe, task, kind, lab.seed());
  training.generators.emplace_back("order", &order);
  training.generators.emplace_back("forcing", &forcing);
  training.batches = [&](std::int64_t) {
    Batches batches = data::bucket_batches(task.train.ids, {.batch_size = recipe.batch}, order);
    if (recipe.batches > 0 && static_cast<std::int64_t>(batches.size()) > recipe.batches)
      batches.resize(static_cast<std::size_t>(recipe.batches));
    return batches;
  };
  const std::int64_t full_epoch = (task.train.ids.size() + recipe.batch - 1) / recipe.batch;
  const std::int64_t steps = recipe.batches > 0 ? std::min(recipe.batches, full_epoch) : full_epoch;
  const optim::Schedule schedule = optim::cosine(recipe.lr, recipe.epochs * steps);
  training.step = [&](const Batch& rows, std::int64_t step) {
    const auto start = std::chrono::steady_clock::now();
    const data::PairBatch b = data::pair_batch(task.train.ids, rows);
    if (recipe.cosine) adam.lr = schedule(step);
    const double fallen = recipe.p_tf_falls ? static_cast<double>(step / steps) / 20 : 0;
    const double loss = train_step(model, adam, b, recipe, 1 - std::min(fallen, 1.0), forcing);
    out.words += sum(b.target_lengths - 1).item<std::int64_t>();
    out.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return loss;
  };
  training.evaluate = [&](std::int64_t) {
    const data::TokenAccuracy accuracy =
        free_accuracy(model, task.val.ids, recipe.name == "tutorial");
    return Metrics{{"validation loss", forced_loss(model, task.val.ids)},
                   {"validation accuracy", accuracy.per_token()},
                   {"right of a batch", accuracy.as_in_tutorial()}};
  };
  training.enough = [&](const History& history) {
    const std::size_t since = epochs_since_best(history);
    if (since == 0)
      save_model(best, model, task.name, out.sizes, kind == Kind::attention, task.source,
                 task.target);
    // Half the rate at the first epoch that brought nothing, the end at the second in a row.
    if (recipe.until_it_stops && since == 1) adam.lr /= 2;
    return recipe.until_it_stops && since >= 2;
  };
  out.history = train(lab, training);
  out.model = load_model(best).model;
  return out;
}

Trained& cached(Lab& lab, Kind kind, const Task& task, const Recipe& recipe) {
  static std::map<std::string, Trained> made;
  const std::string key = recipe.name + name_of(kind);
  auto found = made.find(key);
  if (found == made.end()) found = made.emplace(key, train_model(lab, task, kind, recipe)).first;
  return found->second;
}

}  // namespace

Trained& trained(Lab& lab, Kind kind) {
  const Task& data = task(lab);
  return cached(lab, kind, data, main_recipe(lab, data));
}

Trained& trained_as_tutorial(Lab& lab, Kind kind) {
  return cached(lab, kind, task(lab), tutorial_recipe(lab));
}

bool is_trained(const Trained& t) {
  return t.recipe.name == "own" &&
         t.history.last("validation loss") < 0.5 * t.history.losses.front();
}

}  // namespace labgrad::labs::translation
