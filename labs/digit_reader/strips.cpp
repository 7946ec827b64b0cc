// Q1.1: the strips with their boxes, the feature map's columns, and what a column can see.

#include <algorithm>

#include "engine/cpu/winograd.h"
#include "engine/engine.h"
#include "engine/io/sha256.h"
#include "labs/digit_reader/readers.h"
#include "labs/digit_reader/sections.h"
#include "labs/digit_reader/task.h"

namespace labgrad::labs::digit_reader {
namespace {

ImageGrid grid_of(const std::string& title, const data::StripDataset& strips, std::int64_t count) {
  ImageGrid grid{.title = title};
  for (std::int64_t i = 0; i < count; ++i) {
    ImagePanel panel = panel_of(strips, i);
    panel.caption = fmt::format("strip {}: {}", i, text_of(strips.digits(i)));
    grid.panels.push_back(std::move(panel));
  }
  return grid;
}

// The checksum of some numbers as little-endian 32-bit integers, as the notebook's arrays have it.
class Checksum {
 public:
  void add(std::int64_t value) {
    for (int byte = 0; byte < 4; ++byte)
      bytes_ += static_cast<char>(static_cast<std::uint8_t>(value >> (8 * byte)));
  }
  std::string hex() const { return sha256(bytes_); }

 private:
  std::string bytes_;
};

void check_strips(Lab& lab, const char* name, const data::StripDataset& strips,
                  const std::string& lengths_want, const std::string& xs_want) {
  Checksum lengths, xs;
  for (std::int64_t i = 0; i < strips.size(); ++i) {
    lengths.add(strips.length(i));
    for (const std::int64_t x : strips.xs(i)) xs.add(x);
  }
  lab.check_true(fmt::format("{}: the lengths are those that NumPy draws", name),
                 lengths.hex() == lengths_want);
  lab.check_true(fmt::format("{}: so are the boxes", name), xs.hex() == xs_want);
}

void show_data(Lab& lab, const Task& data) {
  lab.say(
      "A strip is {} x {} pixels: digits in boxes of {} x {} that start at a random place and "
      "overlap their neighbours by 0 to {} pixels. Two sets are fixed: {} strips of 1 to 8 digits "
      "to test, and {} of 9 to 12 that are longer than anything in training.",
      data::box_side, data::strip_width, data::box_side, data::box_side, data::max_overlap,
      data.test.size(), data.longer.size());
  lab.picture("strips_test", "Six strips of the test set with the boxes of their digits.",
              draw_images(grid_of("Test strips", data.test, 6)));
  lab.picture("strips_long", "Four strips of 9 to 12 digits.",
              draw_images(grid_of("Longer strips", data.longer, 4)));
  check_strips(lab, "test set", data.test,
               "338ac8c1a1fbc785d4557211dada2f68e08cd4f26e8e7b197d49de5af19d6b2b",
               "9914adcfa1fa0c960d182106cc29aa6680470e2fa825d313ad824da8adb0c3db");
  check_strips(lab, "longer set", data.longer,
               "18e8a8326ff56e85155a0b07526d486622458c076c90d79ba8147107a9c9d345",
               "e7494ab569cd3701953df95b028a524d903997f0f05bf38056502cd6a5fa72cd");
}

// How far the window of one output reaches after each layer, by hand.
struct Field {
  std::int64_t jump = 1;  // input pixels from one output to the next
  std::int64_t size = 1;  // pixels that one output depends on
  std::int64_t left = 0;  // of them, those before the first one that it stands for
};

Field field_by_hand(Lab& lab) {
  Table table({{"layer"}, {"jump", "d"}, {"window", "d"}});
  Field field;
  for (int block = 1; block <= 4; ++block) {
    field.size += 2 * field.jump;  // a filter of 3: one neighbour on each side
    field.left += field.jump;
    table.row(fmt::format("block {}: convolution 3", block), field.jump, field.size);
    field.size += field.jump;  // a pool of 2: one more
    field.jump *= 2;
    table.row(fmt::format("block {}: max-pool 2", block), field.jump, field.size);
  }
  lab.table(table);
  return field;
}

// The pixel columns on which column c of F depends, as the gradient tells: those in which some
// pixel has a gradient that isn't 0.
std::vector<std::int64_t> field_by_gradient(nn::Sequential& cnn, Tensor image, std::int64_t c) {
  const UseWinograd never(false);  // it leaves a rounding error where the sum has 0
  image.requires_grad_();
  sum(select(cnn(image), 3, c)).backward();
  std::vector<std::int64_t> columns;
  const std::vector<double> largest = amax(abs(image.grad()), {0, 1, 2}).to_vector();
  for (std::size_t x = 0; x < largest.size(); ++x)
    if (largest[x] != 0) columns.push_back(static_cast<std::int64_t>(x));
  return columns;
}

void show_field(Lab& lab) {
  nn::Sequential cnn = make_cnn();
  const nn::Evaluating evaluating(cnn);
  const std::int64_t W = data::strip_width;
  lab.say(
      "Work out before reading on: the shape of the feature map F of one strip, the distance in "
      "pixels between the places that neighbouring columns of F stand for, and how many columns a "
      "box of {} pixels spans.",
      data::box_side);
  const Shape F = cnn(rand({1, 1, data::box_side, W})).shape();
  const Field field = field_by_hand(lab);
  lab.say(
      "Four poolings halve {} four times: F has the shape {}, its columns are {} pixels apart, and "
      "a box spans {} / {} = {:.2f} of them.",
      W, F.str(), field.jump, data::box_side, field.jump,
      static_cast<double>(data::box_side) / static_cast<double>(field.jump));
  lab.check_true("F of one strip has the shape (1, 128, 1, 21)", F == Shape{1, 128, 1, 21});
  lab.check_equal("columns are as far apart as the width says", W / F[3], field.jump);

  lab.say(
      "Column c stands for the pixels {} c to {} c + {} and sees {} more on each side: {} in all. "
      "The gradient tells the same without any knowledge of the layers: take an untrained network "
      "in evaluation mode, go back from one column of F to a random picture, and list the pixel "
      "columns that get a gradient.",
      field.jump, field.jump, field.jump - 1, field.left, field.size);
  Table table({{"column of F", "d"},
               {"first pixel, by hand", "d"},
               {"last", "d"},
               {"first pixel, by gradient", "d"},
               {"last", "d"},
               {"pixels", "d"}});
  for (const std::int64_t c : {std::int64_t{0}, std::int64_t{10}, F[3] - 1}) {
    const std::vector<std::int64_t> seen =
        field_by_gradient(cnn, rand({1, 1, data::box_side, W}), c);
    const std::int64_t first = std::max(std::int64_t{0}, field.jump * c - field.left);
    const std::int64_t last = std::min(W, field.jump * c - field.left + field.size) - 1;
    const auto n = static_cast<std::int64_t>(seen.size());
    if (n == 0) fail("the gradient does not reach the picture");
    table.row(c, first, last, seen.front(), seen.back(), n);
    lab.check_true(fmt::format("column {}: the gradient reaches the pixels {} to {} and no others",
                               c, first, last),
                   seen.front() == first && seen.back() == last && n == last - first + 1);
  }
  lab.table(table);

  const auto blank = field_by_gradient(cnn, zeros({1, 1, data::box_side, W}), 10);
  lab.check_equal("on a blank picture the gradient reaches no pixel column",
                  static_cast<std::int64_t>(blank.size()), 0);
  lab.say(
      "Why not a blank picture? The convolutions have no bias and batch norm in evaluation mode "
      "shifts nothing yet, so every number in the network is 0, and the derivative of ReLU at 0 is "
      "0: nothing comes back. Even if it did, max-pool would choose the first of four equal "
      "numbers in every window, and the picture would seem to be seen through a comb.");
  // Boxes at x overlap a window of n pixels if they start within n + 27 places; they start at
  // least 28 - 6 apart.
  const std::int64_t places = field.size + data::box_side - 1;
  const std::int64_t apart = data::box_side - data::max_overlap;
  lab.say(
      "A box overlaps the window if its left edge is one of {} + {} - 1 = {} places, and left "
      "edges "
      "are at least {} - {} = {} pixels apart: at most {} boxes. So a column sees its digit and "
      "its neighbours, and nothing of the rest of the strip.",
      field.size, data::box_side, places, data::box_side, data::max_overlap, apart,
      (places - 1) / apart + 1);
}

}  // namespace

void strips(Lab& lab) {
  show_data(lab, task(lab));
  show_field(lab);
}

}  // namespace labgrad::labs::digit_reader
