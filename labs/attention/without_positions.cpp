// Section 5: a null result reported as it is, and a second task in which the order decides.

#include <algorithm>

#include "engine/engine.h"
#include "labs/attention/reviews_task.h"
#include "labs/attention/sections.h"

namespace labgrad::labs::attention {
namespace {

// ‖encode(permuted) - permuted(encode)‖∞: attention has no idea of order by itself.
double equivariance_error(TinyTransformer& model) {
  NoGrad no_grad;
  Generator g(7);
  const Tensor x = randn({1, 12, 32}, g);
  const Tensor order = randperm(12, g);
  const Tensor straight = model.block.forward(x).out;
  const Tensor permuted = model.block.forward(index_select(x, 1, order)).out;
  return max(abs(permuted - index_select(straight, 1, order))).item();
}

}  // namespace

void without_positions(Lab& lab) {
  const auto prediction =
      lab.predict("The same model without position codes on the same reviews: its test accuracy?");
  Trained& with = course_model(lab);
  Trained without = train_transformer(lab, "encoder_without_positions", course_reviews(),
                                      /*positions=*/false);
  const double a = with.history.last("test accuracy");
  const double b = without.history.last("test accuracy");
  lab.reveal(prediction, b, 0.02);
  Table table({{"reviews: which word decides"}, {"test accuracy", ".4f"}});
  table.row("with positions", a).row("without positions", b);
  lab.table(table);
  const double gap = a - b;
  if (std::abs(gap) < 0.02)
    lab.say(
        "A difference of {:+.4f}: positions change nothing here, and that is the right result. "
        "Which "
        "word stands in the review decides, not where; for this task a sentence is a bag of words. "
        "A "
        "null result is a result, and says that this task cannot show what positions are for.",
        gap);
  else
    lab.say(
        "A difference of {:+.4f}, although the task is one of bags of words, for which positions "
        "carry nothing. It is reported as measured; another seed will tell whether it is chance.",
        gap);
  lab.check_greater("without positions it learns this task as well", b, 0.85);
  lab.check_less("permuted words give the permuted output (largest difference)",
                 equivariance_error(without.model), 1e-5);

  lab.say(
      "Now a task where order decides: each review holds one positive and one negative word, and "
      "the "
      "label says whether the positive one comes first. As bags of words the two classes are the "
      "same.");
  const ReviewsTask ordered(data::ordered_reviews(8000));
  const double chance = 0.5;
  const Trained ordered_with = train_transformer(lab, "ordered_with_positions", ordered, true, 6);
  const Trained ordered_without =
      train_transformer(lab, "ordered_without_positions", ordered, false, 6);
  const double c = ordered_with.history.last("test accuracy");
  const double d = ordered_without.history.last("test accuracy");
  Table second({{"reviews: which word stands first"}, {"test accuracy", ".4f"}});
  second.row("with positions", c).row("without positions", d).row("chance", chance);
  lab.table(second);
  // 400 coin tosses have a standard deviation of 0.025.
  lab.check_less("without positions it stays near chance", std::abs(d - chance), 0.1);
  lab.check_greater("with positions it does not", c, 0.8);
  lab.say(
      "Without positions the encoder gives each word the same output in whatever order they stand, "
      "and "
      "the mean over the words forgets even that: nothing it computes can tell the two classes "
      "apart. "
      "The positions are what the order enters by.");
}

}  // namespace labgrad::labs::attention
