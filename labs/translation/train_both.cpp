// Part 4: both models trained by one recipe, and tested without teacher forcing.

#include "data/bleu.h"
#include "labs/common/plot.h"
#include "labs/translation/evaluate.h"
#include "labs/translation/scores.h"
#include "labs/translation/sections.h"

namespace labgrad::labs::translation {
namespace {

void tell_recipe(Lab& lab, const Recipe& r, const Task& data) {
  lab.say(
      "Both models by the same recipe: E = {}, H = {}, {} layer{}, {} epoch{} of {} batches of {}, "
      "Adam at {:g}{}, gradients clipped to a norm of {:g}, {}.{}",
      r.embedding, r.hidden, r.layers, r.layers == 1 ? "" : "s", r.epochs, r.epochs == 1 ? "" : "s",
      r.batches > 0 ? r.batches : (data.train.ids.size() + r.batch - 1) / r.batch, r.batch, r.lr,
      r.cosine ? " on a cosine to 0" : "", r.clip,
      r.p_tf_falls ? "teacher forcing with a probability that falls by 1/20 an epoch"
                   : "teacher forcing at every step",
      r.until_it_stops ? " The rate is halved when an epoch does not lower the validation loss; "
                         "two such epochs in a row are the end."
                       : "");
  if (data.multi30k && r.name == "tutorial")
    lab.say(
        "That is the tutorial's own run, and teaches the models little. `--epochs 12` trains on "
        "all of Multi30k, `--full` until the validation loss stops falling.");
}

void curves(Lab& lab, const std::vector<const Trained*>& all) {
  std::vector<Series> loss, accuracy;
  for (const Trained* t : all) {
    const std::string name = name_of(t->kind);
    loss.push_back(t->history.curve("loss", name + ", training"));
    Series validation = t->history.curve("validation loss", name + ", validation");
    validation.dashed = true;
    loss.push_back(validation);
    accuracy.push_back(t->history.curve("validation accuracy", name));
  }
  lab.picture("loss", "Training and validation loss of each epoch.",
              draw_plot({.title = "Loss",
                         .x = {.label = "epoch"},
                         .y = {.label = "nats a word"},
                         .series = loss}));
  lab.picture("accuracy", "Right words in their places, written without teacher forcing.",
              draw_plot({.title = "Accuracy on validation sentences",
                         .x = {.label = "epoch"},
                         .y = {.label = "share of words", .min = 0},
                         .series = accuracy}));
}

}  // namespace

void train_both(Lab& lab) {
  const Task& data = task(lab);
  const Recipe recipe = main_recipe(lab, data);
  tell_recipe(lab, recipe, data);
  const auto prediction =
      lab.predict("Which model will have the lower validation loss?", {"plain", "attention"});
  std::vector<const Trained*> all;
  for (const Kind kind : {Kind::plain, Kind::attention}) all.push_back(&trained(lab, kind));
  for (const Trained* t : all) {
    Table table({{"epoch", "d"},
                 {"training loss", ".4f"},
                 {"validation loss", ".4f"},
                 {"validation accuracy", ".4f"}},
                name_of(t->kind));
    for (std::size_t e = 0; e < t->history.epochs.size(); ++e)
      table.row(e + 1, t->history.epoch_losses[e], t->history.epochs[e][0].second,
                t->history.epochs[e][1].second);
    lab.table(table);
  }
  const double plain = best_loss(*all[0]), attention = best_loss(*all[1]);
  lab.reveal(prediction, static_cast<std::size_t>(plain < attention ? 0 : 1));
  for (const Trained* t : all) {
    lab.check_less(name_of(t->kind) + ": lowest validation loss, of the first step's loss",
                   best_loss(*t) / t->history.losses.front(), loss_bound(lab, *t));
    if (t->words > 0)
      lab.say("{}: {} parameters, {:.0f} s of training, {:.0f} words of English a second.",
              name_of(t->kind), t->model->parameter_count(), t->seconds,
              static_cast<double>(t->words) / t->seconds);
  }
  curves(lab, all);
}

void scores(Lab& lab) {
  const Task& data = task(lab);
  lab.say(
      "Now the models write by themselves, always the likeliest word, and never <unk>. Accuracy "
      "compares words place by place: the tutorial's counts padding on padding as right, per word "
      "leaves padding out. One word too many at the start and all that follows is wrong. BLEU "
      "instead counts which sequences of 1 to 4 words occur in the reference at all:");
  lab.equation("", "BLEU = BP exp(1/4 Σ_n ln p_n),  BP = min(1, e^(1 - r/c))");
  lab.say(
      "over the corpus, and in the mean of single sentences as NLTK's sentence_bleu gives it "
      "without smoothing: a sentence without a common sequence of four words counts as nothing. On "
      "the first {} test sentences:",
      tested(lab));
  Table table({{"model"},
               {"right of a batch", ".1f"},
               {"right words", ".3f"},
               {"sentence BLEU", ".3f"},
               {"corpus BLEU", ".3f"},
               {"BP", ".3f"},
               {"p1", ".3f"},
               {"p2", ".3f"},
               {"p3", ".3f"},
               {"p4", ".3f"}});
  std::vector<double> bleus;
  for (const Kind kind : {Kind::plain, Kind::attention}) {
    Trained& t = trained(lab, kind);
    const data::TokenAccuracy accuracy = free_accuracy(*t.model, data.test.ids);
    const TestScore s = score(lab, t, {0, 1000});
    table.row(name_of(kind), accuracy.as_in_tutorial(), accuracy.per_token(), s.sentence_bleu,
              s.bleu.score(), s.bleu.brevity_penalty(), s.bleu.precision(1), s.bleu.precision(2),
              s.bleu.precision(3), s.bleu.precision(4));
    bleus.push_back(s.bleu.score());
  }
  lab.table(table);
  if (!is_trained(trained(lab, Kind::attention))) {
    lab.say("After so short a training there is nothing to compare.");
    return;
  }
  lab.check_greater("attention's BLEU over the plain model's (difference)", bleus[1] - bleus[0], 0);
  if (!data.multi30k && lab.budget() != Budget::quick)
    lab.check_greater("attention's corpus BLEU", bleus[1], 0.5);
}

}  // namespace labgrad::labs::translation
