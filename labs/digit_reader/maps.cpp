// Q5.1: the attention of one strip read right and of one read wrong.

#include "labs/digit_reader/attention_map.h"
#include "labs/digit_reader/sections.h"
#include "labs/digit_reader/training.h"

namespace labgrad::labs::digit_reader {
namespace {

// The first strip of these lengths that was read right (or wrong), or -1.
std::int64_t find(const Trained& t, const data::StripDataset& strips, data::Lengths lengths,
                  bool right) {
  for (std::size_t i = 0; i < t.on_test.size(); ++i) {
    const auto n = static_cast<std::int64_t>(i);
    if (strips.length(n) >= lengths.first && strips.length(n) <= lengths.last &&
        is_exact(t.on_test[i], strips.digits(n)) == right)
      return n;
  }
  return -1;
}

void show(Lab& lab, const Trained& t, const Task& data, std::int64_t i, bool right) {
  const Reading& reading = t.on_test[static_cast<std::size_t>(i)];
  const std::string name = right ? "read right" : "read wrong";
  lab.picture(right ? "map_right" : "map_wrong",
              fmt::format("A strip {}: one row for each symbol written.", name),
              draw_map(fmt::format("Test strip {}, {}", i, name), data.test, i, reading));
  lab.table(table_of_steps(data.test, i, reading));
  if (right) return;
  const std::size_t first = first_difference(data::clean(reading.symbols), data.test.digits(i));
  lab.say("The first wrong symbol is written at step {}.", first);
}

}  // namespace

void maps(Lab& lab) {
  Trained* t = trained_or_tell(lab, Kind::attention);
  if (!t) return;
  const Task& data = task(lab);
  const std::int64_t right = find(*t, data.test, {7, 8}, true);
  const std::int64_t wrong = find(*t, data.test, {6, 8}, false);
  if (right < 0)
    lab.say("Among the first {} test strips none of 7 or 8 digits was read right.",
            t->on_test.size());
  else
    show(lab, *t, data, right, true);
  if (wrong < 0)
    lab.say("None of the strips of 6 to 8 digits was read wrong.");
  else
    show(lab, *t, data, wrong, false);
  const Alignment a = align(data.test, t->on_test);
  if (right >= 0 && a.right_share() > 0.8)
    lab.say(
        "The rows step to the right with the digits: the weight of a step lies on the box of the "
        "digit that is written, and neighbouring columns share it where a box lies between them. "
        "The row of `<eos>` has no digit of its own.");
  else
    lab.say("The rows do not yet follow the digits: this reader has been trained too little.");
  lab.say(
      "What a map shows is which column states were mixed into the context. What it leaves open: a "
      "column's state has read the strip from both sides, so a weight on a column is not a weight "
      "on its pixels, and s_{{t-1}} carries something past the attention. Which pixels decided is "
      "a "
      "question for an experiment: see the section `intervention`.");
}

}  // namespace labgrad::labs::digit_reader
