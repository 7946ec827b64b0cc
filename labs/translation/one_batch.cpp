// Part 4, before training: can the models learn one batch by heart, and what holds them back?

#include "labs/common/plot.h"
#include "labs/translation/sections.h"
#include "labs/translation/training.h"
#include "nn/optim.h"

namespace labgrad::labs::translation {
namespace {

struct Case {
  Kind kind;
  std::int64_t layers;
  double lr;
};

std::string name_of(const Case& c) {
  return fmt::format("{}, {} layer{}, rate {:g}", translation::name_of(c.kind), c.layers,
                     c.layers == 1 ? "" : "s", c.lr);
}

// The losses of so many steps on one and the same batch, without dropout.
Series learn(Lab& lab, const Task& task, const data::PairBatch& batch, const Case& c,
             std::int64_t steps) {
  const Recipe recipe{.name = "one batch", .layers = c.layers, .dropout = 0, .lr = c.lr};
  const auto model = make_model(recipe, task, c.kind, static_cast<std::uint64_t>(lab.seed()));
  optim::Adam adam(model->parameters(), {.lr = c.lr});
  Series losses{.name = name_of(c)};
  Generator forcing;
  for (std::int64_t step = 0; step < steps; ++step) {
    losses.x.push_back(static_cast<double>(step + 1));
    losses.y.push_back(train_step(*model, adam, batch, recipe, 1, forcing));
  }
  return losses;
}

}  // namespace

void one_batch(Lab& lab) {
  const Task& data = task(lab);
  const std::int64_t steps = lab.by_budget<std::int64_t>(12, 60, 300);
  Generator order(static_cast<std::uint64_t>(lab.seed()));
  const auto rows = data::bucket_batches(data.train.ids, {.batch_size = 32}, order).front();
  const data::PairBatch batch = data::pair_batch(data.train.ids, rows);
  lab.say(
      "Before a model is trained on a corpus it is shown one batch of 32 pairs, {} times. What "
      "cannot learn that by heart has a fault, or a setting that holds it back. The tutorial's "
      "widths, E = 64 and H = 128, teacher forcing, no dropout, gradients clipped to a norm of 1; "
      "tutorial: 3 layers and Adam at 1e-2.",
      steps);
  const auto prediction = lab.predict(
      "With the tutorial's three layers the attention model learns slowly. What helps most?",
      {"a lower rate", "fewer layers"});
  const std::vector<Case> cases = {{Kind::plain, 3, 1e-2},     {Kind::plain, 1, 1e-2},
                                   {Kind::attention, 3, 1e-2}, {Kind::attention, 3, 3e-3},
                                   {Kind::attention, 2, 1e-2}, {Kind::attention, 1, 1e-2},
                                   {Kind::attention, 1, 3e-3}};
  Table table({{"model"},
               {"layers", "d"},
               {"rate", ".0e"},
               {"first loss", ".3f"},
               {fmt::format("after {}", steps / 2), ".3f"},
               {fmt::format("after {}", steps), ".3f"}});
  std::vector<Series> curves;
  for (const Case& c : cases) {
    curves.push_back(learn(lab, data, batch, c, steps));
    const std::vector<double>& y = curves.back().y;
    table.row(translation::name_of(c.kind), c.layers, c.lr, y.front(), y[y.size() / 2 - 1],
              y.back());
  }
  const auto last = [&](std::size_t i) { return curves[i].y.back(); };
  lab.reveal(prediction, static_cast<std::size_t>(last(3) < last(5) ? 0 : 1));
  lab.table(table);
  lab.picture("one_batch", "The loss on one batch, seen again and again.",
              draw_plot({.title = "One batch by heart",
                         .x = {.label = "step"},
                         .y = {.label = "nats a word", .log = true},
                         .series = curves}));
  if (lab.budget() != Budget::quick) {
    lab.check_less("attention, one layer: last loss over the first", last(5) / curves[5].y.front(),
                   0.1);
    lab.check_less("plain, one layer: the same", last(1) / curves[1].y.front(), 0.1);
  }
  lab.check_less("attention: one layer against three, at the tutorial's rate", last(5) / last(2),
                 1);
  lab.say(
      "{} A lower rate alone {} three layers (a loss of {:.2f} at 3e-3, {:.2f} at 1e-2). What "
      "comes out of a GRU as it is initialised is small, a fraction of what goes in, and each "
      "layer repeats that: at the top of three the states of different words hardly differ, and "
      "the output layer first learns how frequent the words are and nothing else. With attention "
      "the bottom layer reads L H more inputs, nearly the same at every step while the weights are "
      "still equal, and what tells the words apart has to be found beside them.",
      last(5) < last(2) ? "The layers hold it back, not the attention and not its width."
                        : "Here one layer does not learn faster.",
      last(3) < last(2) ? "helps" : "does not help", last(3), last(2));
}

}  // namespace labgrad::labs::translation
