// Part 4: the tutorial's own training, beside what it printed.

#include "labs/common/plot.h"
#include "labs/translation/sections.h"
#include "labs/translation/training.h"

namespace labgrad::labs::translation {
namespace {

// What the tutorial printed at the end of its two epochs, and in its evaluation after each.
struct Printed {
  double loss[2];
  std::int64_t right[2];  // "acc": right places of 128
};
Printed printed(Kind kind) {
  return kind == Kind::plain ? Printed{{5.297, 4.920}, {9, 8}} : Printed{{5.407, 5.125}, {7, 8}};
}

}  // namespace

void tutorial(Lab& lab) {
  const Task& data = task(lab);
  const Recipe recipe = tutorial_recipe(lab);
  lab.say(
      "The tutorial's setting: E = {}, H = {}, {} layers, dropout {}, Adam at {:g}, gradients "
      "clipped to a norm of {:g}, {} epochs of {} batches of {}. The probability of teacher "
      "forcing falls by 1/20 an epoch. Its evaluation lets the model write by itself, with the "
      "dropout still on, and counts the right places of a step among the {} sentences of a batch, "
      "padding on padding included.",
      recipe.embedding, recipe.hidden, recipe.layers, recipe.dropout, recipe.lr, recipe.clip,
      recipe.epochs, recipe.batches, recipe.batch, recipe.batch);
  if (!data.multi30k)
    lab.say(
        "On {} the words are fewer and the losses lower: the tutorial's figures are for "
        "Multi30k.",
        data.name);
  Table table({{"model"},
               {"epoch", "d"},
               {"last loss", ".3f"},
               {"tutorial", ".3f"},
               {"right of 128", ".1f"},
               {"tutorial", "d"},
               {"validation loss", ".3f"}});
  std::vector<Series> losses;
  for (const Kind kind : {Kind::plain, Kind::attention}) {
    const Trained& t = trained_as_tutorial(lab, kind);
    const Printed want = printed(kind);
    const std::size_t each = t.history.losses.size() / t.history.epochs.size();
    for (std::size_t e = 0; e < t.history.epochs.size(); ++e) {
      const Metrics& m = t.history.epochs[e];
      const bool comparable = data.multi30k && lab.budget() != Budget::quick;
      table.row(name_of(kind), e + 1, t.history.losses[(e + 1) * each - 1],
                comparable ? make_cell(want.loss[e]) : Cell{}, m[2].second,
                comparable ? make_cell(want.right[e]) : Cell{}, m[0].second);
    }
    Series s{.name = name_of(kind)};
    for (std::size_t i = 0; i < t.history.losses.size(); ++i) {
      s.x.push_back(static_cast<double>(i + 1));
      s.y.push_back(t.history.losses[i]);
    }
    losses.push_back(s);
    lab.check_less(name_of(kind) + ": last loss over the first",
                   t.history.losses.back() / t.history.losses.front(),
                   data.multi30k && lab.budget() != Budget::quick ? 0.75 : 0.95);
  }
  lab.table(table);
  lab.picture("tutorial_loss", "The loss of each of the tutorial's steps.",
              draw_plot({.title = "The tutorial's training",
                         .x = {.label = "step"},
                         .y = {.label = "nats a word"},
                         .series = losses}));
  const auto last_loss = [&](Kind kind) {
    return trained_as_tutorial(lab, kind).history.last("validation loss");
  };
  if (!data.multi30k && last_loss(Kind::attention) > last_loss(Kind::plain))
    lab.say(
        "The model with attention is behind. The section before shows why: three layers, and wide "
        "contexts at so high a rate. The next section trains both with one layer.");
  if (data.multi30k && lab.budget() != Budget::quick)
    lab.say(
        "The batches are not the same ones as there, and one batch's loss goes up and down by some "
        "tenths; in PyTorch on a machine like this one the two models came to 4.0 to 4.5 and 5.4 "
        "to 5.5 after a whole epoch of 227 batches. After {} steps neither model translates.",
        recipe.epochs * recipe.batches);
}

}  // namespace labgrad::labs::translation
