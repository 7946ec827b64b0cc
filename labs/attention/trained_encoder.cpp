// Section 3: one encoder block learns which word decides.

#include "labs/attention/reviews_task.h"
#include "labs/attention/sections.h"
#include "labs/common/plot.h"

namespace labgrad::labs::attention {

void trained_encoder(Lab& lab) {
  const ReviewsTask& task = course_reviews();
  std::int64_t positive = 0;
  for (const data::Review& r : task.reviews) positive += r.label;
  lab.say(
      "{} reviews, {} to train on and {} to test; {} words of which {} decide, and in each review "
      "stands exactly one of those; {:.1f} % are positive. Sentences of 10 to 18 words are padded "
      "to "
      "{} with id 0, and attention may not look at padding. The first: {}.",
      task.reviews.size(), task.train_size, ReviewsTask::test_size, task.vocabulary.size() - 2,
      data::positive_words().size() + data::negative_words().size(),
      100.0 * static_cast<double>(positive) / static_cast<double>(task.reviews.size()),
      ReviewsTask::max_len, fmt::join(task.reviews[0].words, " "));
  lab.equation("encoder.1", "x = norm1(x + attn(x))");
  lab.equation("encoder.2", "x = norm2(x + ff(x))");

  Trained& trained = course_model(lab);
  Table parts({{"part"}, {"parameters", ",d"}});
  for (const auto& [part, n] : trained.model.parameter_count_by_part()) parts.row(part, n);
  parts.row("all", trained.model.parameter_count());
  lab.table(parts);

  const History& history = trained.history;
  Table epochs({{"epoch", "d"}, {"loss", ".6f"}, {"test accuracy", ".4f"}});
  const Series tests = history.curve("test accuracy");
  for (std::size_t i = 0; i < history.epoch_losses.size(); ++i)
    epochs.row(i + 1, history.epoch_losses[i], tests.y[i]);
  lab.table(epochs);
  lab.picture("training_loss", "Training loss of the encoder.",
              draw_plot({.title = "Training loss",
                         .x = {.label = "epoch"},
                         .y = {.label = "cross-entropy", .log = true},
                         .series = {history.curve("loss")}}));
  lab.picture("test_accuracy", "Accuracy on the test reviews.",
              draw_plot({.title = "Test accuracy",
                         .x = {.label = "epoch"},
                         .y = {.label = "accuracy"},
                         .series = {history.curve("test accuracy")},
                         .references = {{.at = 0.5, .label = "chance"}}}));

  const double reached = history.last("test accuracy");
  lab.check_greater("accuracy on the test reviews", reached, 0.85);
  // The weights and the order of the batches are PyTorch's for this seed, so its losses are met.
  if (lab.seed() == 42 && lab.batch(64, 64, 64) == 64) {
    const double torch[] = {0.609515, 0.193114, 0.002975};
    for (std::size_t i = 0; i < 3 && i < history.epoch_losses.size(); ++i)
      lab.check_close(fmt::format("epoch {}: the mean loss is PyTorch's, {:.6f}", i + 1, torch[i]),
                      history.epoch_losses[i], torch[i], 1e-3 * torch[i] + 1e-6);
  }
}

}  // namespace labgrad::labs::attention
