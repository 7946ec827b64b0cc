// labs/digit_reader: lab 8, adding attention to the digit reader.

#include <algorithm>
#include <string_view>

#include "engine/cpu/winograd.h"
#include "labs/digit_reader/sections.h"
#include "labs/digit_reader/task.h"

namespace {

using namespace labgrad::labs;

void add_options(Options& o) {
  o.group("Training");
  o.add_int("strips", "N", "fresh training strips in each epoch", {}, {.min = 1, .max = 1000000});
  o.add_choice("reader", {"fixed", "attention", "both"}, "which reader to train", "both");
  o.add_flag("winograd", "convolve by Winograd's transform: quicker, and rounded otherwise");
  o.group("Writing strips for NumPy");
  o.add_string("dump-strips", "DIR", "write --strips strips to DIR as .npy files, and do no more");
  o.add_choice("split", {"train", "test"}, "whose digits they are made of", "test");
  o.add_string("lengths", "A-B", "how many digits a strip has, from A to B", "1-8");
  o.add_int("strips-seed", "N", "their seed", 1234, {.min = 0, .max = 4294967295});
}

void tell_settings(Lab& lab) {
  labgrad::set_winograd(lab.options().flag("winograd"));
  if (labgrad::winograd())
    lab.say(
        "Convolutions go by Winograd's transform: a quarter of the multiplications, and three "
        "times the rounding error. What has to be exact (the window of a column, the section "
        "`torch`) does without it.");
  const digit_reader::Task& task = digit_reader::task(lab);
  if (task.mnist) {
    lab.say("The digits are MNIST's: {} to train, {} to test.", task.train_images.size(),
            task.test_images.size());
  } else {
    lab.say(
        "There is no MNIST in {}, so the digits are drawn by a program: {} to train, {} to test. "
        "They are easier than handwriting, and the course's figures don't apply to them. "
        "`make data` fetches MNIST.",
        lab.data_dir().string(), task.train_images.size(), task.test_images.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Lab lab({.name = "digit_reader",
           .title = "Adding attention to the digit reader",
           .summary = "Two readers of strips of digits, alike but for one thing: whether the "
                      "decoder can look at the picture again. Trained alike, compared, inspected, "
                      "and taken beyond the lengths they were trained on.",
           .seed = 0});
  add_options(lab.options());
  lab.start(tell_settings);
  if (std::any_of(argv + 1, argv + argc,
                  [](std::string_view arg) { return arg.starts_with("--dump-strips"); })) {
    lab.section("dump", "Strips for NumPy", digit_reader::dump_strips);
    return lab.run(argc, argv);
  }
  lab.section("strips", "Q1.1: strips, and what a column sees", digit_reader::strips);
  lab.section("columns", "Q2.1, Q2.2: a state for every column", digit_reader::columns);
  lab.section("attend", "Q3.1: attention by hand", digit_reader::attend_checks);
  lab.section("readers", "Q3.2, Q3.3: two readers, part by part", digit_reader::two_readers);
  lab.section("ritual", "Q3.3: one batch by heart", digit_reader::ritual);
  lab.section("torch", "Q3.3: seed for seed with PyTorch", digit_reader::seed_for_seed);
  lab.section("train", "Q4.1, Q4.2: train both alike", digit_reader::train_both);
  lab.section("compare", "Q4.3: what the comparison says", digit_reader::compare);
  lab.section("maps", "Q5.1: where the weight falls", digit_reader::maps);
  lab.section("alignment", "Q5.2: does the weight lie on the digit?", digit_reader::alignment);
  lab.section("intervention", "Q5.3: replace a digit", digit_reader::intervention);
  lab.section("long", "Q6.1: strips longer than any in training", digit_reader::longer_strips);
  lab.section("long-maps", "Q6.2: attention on longer strips", digit_reader::longer_maps);
  lab.section("codes", "Section 7: position codes of the columns", digit_reader::position_codes);
  lab.section("records", "Section 8: what was run", digit_reader::run_records);
  return lab.run(argc, argv);
}
