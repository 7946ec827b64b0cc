// Q5.2: over the whole test set, does the largest weight lie on the digit that is written?

#include "labs/digit_reader/attention_map.h"
#include "labs/digit_reader/sections.h"
#include "labs/digit_reader/training.h"

namespace labgrad::labs::digit_reader {

void alignment(Lab& lab) {
  Trained* t = trained_or_tell(lab, Kind::attention);
  if (!t) return;
  const Task& data = task(lab);
  lab.say(
      "For the k-th digit of each target: take the step that wrote the k-th digit, the column c "
      "where its weight is largest, and that column's centre, pixel 16 c + 8. The position is "
      "aligned if the centre lies in the box of the target's k-th digit.");
  const auto prediction =
      lab.predict("For what share of the digits that were read right is it so?");
  const Alignment a = align(data.test, t->on_test);
  lab.reveal(prediction, a.right_share(), 0.05);
  lab.table(table_of(a));
  // A box spans 28 of 336 pixels.
  const double chance = static_cast<double>(data::box_side) / data::strip_width;
  lab.say(
      "The median of the largest weight, over the digits read right, is {:.3f}; a centre chosen "
      "blindly would lie in a given box in {:.3f} of all cases.",
      a.median_largest(), chance);
  if (lab.budget() == Budget::quick) {
    lab.check_equal("right, wrong and missing positions are all positions",
                    a.right + a.wrong + a.missing,
                    score(t->on_test, data.test, train_lengths).digits);
    return;
  }
  lab.check_greater("the weight lies on the digit, among the digits read right", a.right_share(),
                    0.8);
  lab.say(
      "{} So the largest weight is where the digit is, and where a reading goes wrong one can see "
      "whether it looked at the wrong place or at the right one without recognising it. It does "
      "not "
      "establish that the weight made the reader write what it wrote: an aligned weight is a "
      "correlation of two things that both follow the strip.",
      a.wrong_share() < a.right_share() - 0.05
          ? "Among the digits read wrong the share is smaller: often the place was lost, and every "
            "digit after a missed one stands in another's place."
          : "Among the digits read wrong the share is about the same: the place was right, and the "
            "digit was taken for another.");
}

}  // namespace labgrad::labs::digit_reader
