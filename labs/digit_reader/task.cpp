#include "labs/digit_reader/task.h"

#include <memory>
#include <numeric>

#include "data/digits.h"
#include "data/mnist.h"

namespace labgrad::labs::digit_reader {

Task::Task(bool is_mnist, std::string from, data::LabelledImages train,
           data::LabelledImages test_split)
    : mnist(is_mnist),
      source(std::move(from)),
      train_images(std::move(train)),
      test_images(std::move(test_split)),
      test(test_images, 8000, train_lengths, 1234),
      longer(test_images, 4000, {9, 12}, 4321) {}

const Task& task(Lab& lab) {
  static std::unique_ptr<Task> made;
  if (made) return *made;
  const std::filesystem::path folder = lab.data_dir() / "mnist";
  if (data::has_mnist(folder)) {
    made = std::make_unique<Task>(true, "MNIST", data::load_mnist(folder, data::Split::train),
                                  data::load_mnist(folder, data::Split::test));
  } else {
    // As many to test as MNIST has: then the lengths and boxes of the test strips are the
    // same as with MNIST.
    made = std::make_unique<Task>(
        false, "generated digits",
        data::generated_digits(lab.by_budget(6000, 60000, 60000), data::Split::train),
        data::generated_digits(10000, data::Split::test));
  }
  return *made;
}

data::StripBatch ritual_batch(const Task& data) {
  const data::StripDataset strips(data.train_images, ritual_strips, train_lengths, 999);
  std::vector<std::int64_t> all(ritual_strips);
  std::iota(all.begin(), all.end(), 0);
  return data::collate(strips, all);
}

std::int64_t strips_per_epoch(const Lab& lab) {
  return lab.options().integer_or("strips", lab.by_budget(48, 2400, 60000));
}

std::int64_t training_epochs(const Lab& lab) { return lab.epochs(1, 5, 12); }

std::int64_t training_batch(const Lab& lab) { return lab.batch(16, 16, 128); }

std::int64_t test_count(const Lab& lab) { return lab.by_budget(40, 800, 8000); }

std::int64_t long_count(const Lab& lab) { return lab.by_budget(24, 400, 4000); }

std::string text_of(std::span<const std::int64_t> digits) {
  std::string text;
  for (const std::int64_t d : digits) text += std::to_string(d);
  return text;
}

ImagePanel panel_of(const data::StripDataset& strips, std::int64_t i) {
  ImagePanel panel{.width = static_cast<std::size_t>(strips.width()),
                   .height = static_cast<std::size_t>(data::box_side)};
  for (const std::uint8_t pixel : strips.picture(i))
    panel.brightness.push_back(static_cast<float>(pixel) / 255.0f);
  const auto digits = strips.digits(i);
  const auto xs = strips.xs(i);
  constexpr auto side = static_cast<double>(data::box_side);
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const auto x = static_cast<double>(xs[k]);
    panel.boxes.push_back({x, 0.5, x + side, side - 0.5, std::to_string(digits[k])});
  }
  return panel;
}

}  // namespace labgrad::labs::digit_reader
