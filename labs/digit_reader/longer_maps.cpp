// Q6.2: attention on longer strips that were misread.

#include <algorithm>

#include "labs/digit_reader/attention_map.h"
#include "labs/digit_reader/sections.h"
#include "labs/digit_reader/training.h"

namespace labgrad::labs::digit_reader {
namespace {

// Three misread strips, the first of twelve digits among them.
std::vector<std::int64_t> three_misread(const Trained& t, const Task& data) {
  std::vector<std::int64_t> wrong;
  for (std::size_t i = 0; i < t.on_long.size(); ++i) {
    const auto n = static_cast<std::int64_t>(i);
    if (is_exact(t.on_long[i], data.longer.digits(n))) continue;
    const bool twelve = data.longer.length(n) == 12;
    const bool have_twelve =
        std::ranges::any_of(wrong, [&](auto w) { return data.longer.length(w) == 12; });
    if (wrong.size() < 2 || (wrong.size() == 2 && (twelve || have_twelve))) wrong.push_back(n);
  }
  return wrong;
}

}  // namespace

void longer_maps(Lab& lab) {
  Trained* t = trained_or_tell(lab, Kind::attention);
  if (!t) return;
  const Task& data = task(lab);
  for (const std::int64_t i : three_misread(*t, data)) {
    const Reading& reading = t->on_long[static_cast<std::size_t>(i)];
    const data::Symbols written = data::clean(reading.symbols);
    lab.picture(fmt::format("map_long_{}", i), "A longer strip that was misread.",
                draw_map(fmt::format("Longer strip {}", i), data.longer, i, reading));
    lab.say("Longer strip {}: {} digits, {} written; the first mistake is at position {}.", i,
            data.longer.length(i), written.size(),
            first_difference(written, data.longer.digits(i)));
    lab.table(table_of_steps(data.longer, i, reading));
  }
  const Alignment near = align(data.test, t->on_test), far = align(data.longer, t->on_long);
  lab.table(table_of(far));
  lab.say(
      "Among the digits read right the weight lies on the digit in {:.3f} of the cases, on the "
      "test "
      "set in {:.3f}; among those read wrong in {:.3f}, on the test set in {:.3f}.",
      far.right_share(), near.right_share(), far.wrong_share(), near.wrong_share());
  const std::int64_t positions = far.right + far.wrong + far.missing;
  lab.check_equal("right, wrong and missing positions are all positions", positions,
                  score(t->on_long, data.longer, {9, 12}).digits);
  if (lab.budget() == Budget::quick) return;
  if (far.wrong + far.missing == 0) {
    lab.say("Every longer strip was read right: there is no failure to explain.");
  } else if (far.wrong_share() < far.right_share()) {
    lab.say(
        "Where a digit is wrong the weight is more often elsewhere: the reader lost its place, "
        "skipped a digit or stopped early. One explanation: the state that asks counts the symbols "
        "written, and has learned to count to eight. The maps support the lost place; that the "
        "count is the reason they cannot show. Evidence would be a reader trained on lengths up to "
        "10 that fails from 11 on, or a query taken from step 3 and put in at step 9.");
  } else {
    lab.say(
        "The weight is where the digit is even when the digit is wrong: the place is not what was "
        "lost. One explanation: the state, which never wrote a ninth symbol, turns the right "
        "context into the wrong symbol. The maps support the first half of that; for the second, "
        "change the state and keep the context, and see whether the symbol comes out right.");
  }
}

}  // namespace labgrad::labs::digit_reader
