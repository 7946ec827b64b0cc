// labs/attention: experiment 12, attention and a transformer encoder from scratch.

#include "labs/attention/sections.h"

int main(int argc, char** argv) {
  using namespace labgrad::labs;
  Lab lab({.name = "attention",
           .title = "Attention from scratch",
           .summary = "Scaled dot-product attention, a transformer encoder trained on a task whose "
                      "attention can be scored, and what it costs against recurrence.",
           .seed = 42});
  lab.start([](Lab& l) {
    l.say(
        "The data are generated: film reviews of neutral words with exactly one decisive word in "
        "each. There is nothing to download.");
  });
  lab.section("example", "Experiment 12: a worked example", attention::worked_example);
  lab.section("scale", "Experiment 12: why divide by √d_k", attention::why_scale);
  lab.section("encoder", "Experiment 12: a transformer encoder, trained",
              attention::trained_encoder);
  lab.section("where", "Experiment 12: where did it attend?", attention::where_it_attended);
  lab.section("positions", "Experiment 12: without positions", attention::without_positions);
  lab.section("codes", "Position codes", attention::position_codes);
  lab.section("recurrence", "Experiment 12: attention against recurrence",
              attention::against_recurrence);
  lab.section("additive", "Additive scores, and hard attention", attention::additive_and_hard);
  return lab.run(argc, argv);
}
