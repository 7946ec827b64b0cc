// Q2.1, Q2.2: the column encoder, its sizes, and how far a change of the strip travels in it.

#include "engine/engine.h"
#include "labs/digit_reader/readers.h"
#include "labs/digit_reader/sections.h"
#include "labs/digit_reader/task.h"

namespace labgrad::labs::digit_reader {
namespace {

void trace(Lab& lab, ColumnEncoder& encoder, const Task& data) {
  NoGrad no_grad;
  const nn::Evaluating evaluating(encoder);
  const std::int64_t four[] = {0, 1, 2, 3};
  const Tensor images = data::collate(data.test, four).images;
  const ColumnEncoder::Output o = encoder.forward(images);
  Table table({{"four strips"}, {"shape"}, {"what it is"}});
  table.row("images", images.shape().str(), "")
      .row("F", o.F.shape().str(), "128 numbers for each of 21 columns")
      .row("columns", o.columns.shape().str(), "F as a sequence")
      .row("memory", o.memory.shape().str(), "h_j: 64 numbers forward, 64 backward")
      .row("final states", o.finals.shape().str(), "forward after column 21, backward after 1")
      .row("s_0", o.s0.shape().str(), "where a decoder starts");
  lab.table(table);
  lab.check_true("the memory is (4, 21, 128) and s_0 (4, 64)",
                 o.memory.shape() == Shape{4, 21, 128} && o.s0.shape() == Shape{4, 64});
}

void count_parameters(Lab& lab, ColumnEncoder& encoder) {
  constexpr std::int64_t n = 128, u = 64, hidden = 64;
  const std::int64_t gru = 2 * 3 * (u * n + u * u + 2 * u);
  const std::int64_t init = hidden * 2 * u + hidden;
  lab.say(
      "A GRU of u units over n inputs has three gates, each with weights u x n and u x u and two "
      "biases of u: 3 (u n + u u + 2 u). With n = {}, u = {} and two directions these are {}; "
      "W_init and its bias have {} x {} + {} = {}.",
      n, u, gru, hidden, 2 * u, hidden, init);
  Table table({{"part"}, {"parameters", ",d"}});
  for (const auto& [part, count] : encoder.parameter_count_by_part()) table.row(part, count);
  table.row("all", encoder.parameter_count());
  lab.table(table);
  lab.check_equal("parameters of the bidirectional GRU", encoder.bigru.parameter_count(), gru);
  lab.check_equal("parameters of W_init and b_init", encoder.init.parameter_count(), init);
}

// The first and the last pixel column in which two pictures differ.
std::pair<std::int64_t, std::int64_t> difference_of(const std::vector<std::uint8_t>& a,
                                                    const std::vector<std::uint8_t>& b) {
  std::int64_t first = data::strip_width, last = -1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    const auto x = static_cast<std::int64_t>(i) % data::strip_width;
    first = std::min(first, x);
    last = std::max(last, x);
  }
  return {first, last};
}

void erase_last_digit(Lab& lab, ColumnEncoder& encoder, const Task& data) {
  std::int64_t i = 0;
  while (data.test.length(i) != 8) ++i;
  const data::Strip strip = data.test.strip(i);
  data::Strip erased = strip;
  erased.digits.pop_back();
  erased.src.pop_back();
  erased.xs.pop_back();
  erased.picture = data::draw_strip(data.test_images, erased.src, erased.xs);
  const auto [first, last] = difference_of(strip.picture, erased.picture);

  // Each on its own, so that equal columns are computed by the same operations in the same order.
  NoGrad no_grad;
  const nn::Evaluating evaluating(encoder);
  const Tensor before = encoder.forward(data::collate(std::span(&strip, 1)).images).memory;
  const Tensor after = encoder.forward(data::collate(std::span(&erased, 1)).images).memory;
  const std::int64_t N = before.size(1);
  const Tensor change = select(abs(before - after), 0, 0);                              // (N, 128)
  const std::vector<double> forward = amax(narrow(change, 1, 0, 64), 1).to_vector();    // (N)
  const std::vector<double> backward = amax(narrow(change, 1, 64, 64), 1).to_vector();  // (N)

  lab.say(
      "Test strip {} reads {}; a copy is drawn without its last digit, whose box begins at pixel "
      "{}. The two differ in the pixel columns {} to {}.",
      i, text_of(strip.digits), strip.xs.back(), first, last);
  const auto prediction =
      lab.predict("Which halves of the states of column 1 and of column 21 will change?",
                  {"both of column 21", "the forward one of 21 and the backward one of 1",
                   "both of 21 and the backward one of 1", "all four"});
  const std::size_t end = static_cast<std::size_t>(N) - 1;
  Table table({{"column"}, {"forward half", ".2e"}, {"backward half", ".2e"}},
              "Largest change of a number");
  table.row("1", forward[0], backward[0]).row(std::to_string(N), forward[end], backward[end]);
  lab.table(table);

  // Column j (from 0) sees 15 pixels to the left of its first one and 15 behind its last one.
  std::int64_t first_column = 0;
  while (16 * first_column + 30 < first) ++first_column;
  std::string changed;
  double before_window = 0;
  std::int64_t first_changed = N;
  for (std::int64_t j = N - 1; j >= 0; --j) {
    const double d = forward[static_cast<std::size_t>(j)];
    if (j < first_column) before_window = std::max(before_window, d);
    if (d == 0) continue;
    first_changed = j;
    changed = std::to_string(j + 1) + (changed.empty() ? "" : ", ") + changed;
  }
  lab.say("The forward half changes in these columns: {}.", changed);
  lab.check_close(
      fmt::format("the forward halves of the columns 1 to {} stay as they are", first_column),
      before_window, 0, 0);
  lab.check_equal("the first to change is the first whose window has a changed pixel",
                  first_changed + 1, first_column + 1);
  lab.check_greater("the backward half of column 1 changes", backward[0], 0);
  lab.check_greater("the forward half of column 21 changes", forward[end], 0);
  const bool sees = 16 * (N - 1) - 15 <= last;
  const std::size_t outcome = forward[0] > 0 ? 3 : backward[0] == 0 ? 0 : backward[end] > 0 ? 2 : 1;
  lab.reveal(prediction, outcome);
  lab.say(
      "The forward GRU comes from the left: up to the first column whose window touches the erased "
      "digit it has read the same numbers, and its states are the same to the last bit; from there "
      "on each differs. The backward GRU comes from the right and has passed the change when it "
      "arrives at column 1; what is left of it there is small, since an untrained GRU forgets. The "
      "backward half of column 21 has read column 21 alone, whose window {} the changed pixels. So "
      "a column's state does depend on the whole strip, on each side through another half.",
      sees ? "reaches" : "does not reach");
}

}  // namespace

void columns(Lab& lab) {
  lab.equation("reader.1", "h_j = [→h_j; ←h_j],  s_0 = tanh(W_init [→h_21; ←h_1] + b_init)");
  const Task& data = task(lab);
  ColumnEncoder encoder;
  trace(lab, encoder, data);
  count_parameters(lab, encoder);
  erase_last_digit(lab, encoder, data);
}

}  // namespace labgrad::labs::digit_reader
