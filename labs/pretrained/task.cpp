#include "labs/pretrained/task.h"

#include <memory>
#include <numeric>

#include "data/digits.h"
#include "data/mnist.h"
#include "engine/engine.h"
#include "labs/pretrained/small_net.h"

namespace labgrad::labs::pretrained {
namespace {

const std::vector<std::string> garments{"T-shirt/top", "trouser",   "pullover", "dress",
                                        "coat",        "sandal",    "shirt",    "sneaker",
                                        "bag",         "ankle boot"};
const std::vector<std::string> digits{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

}  // namespace

Tensor Pictures::rows() const { return flatten(pixels, 1); }

Pictures pictures(const data::LabelledImages& images, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(last - first));
  std::iota(rows.begin(), rows.end(), first);
  return {pixels_of(images, rows), {images.labels.begin() + first, images.labels.begin() + last}};
}

const Task& task(Lab& lab) {
  static std::unique_ptr<Task> made;
  if (made) return *made;
  const std::filesystem::path folder = lab.data_dir() / "fashion-mnist";
  const std::int64_t queries = lab.by_budget(protocol_queries, protocol_queries, 1000L);
  const std::int64_t database = lab.by_budget(protocol_database, protocol_database, 10000L);
  Task t;
  t.fashion = data::has_mnist(folder);
  if (t.fashion) {
    t.source = "Fashion-MNIST";
    t.classes = garments;
    t.train_images = data::load_mnist(folder, data::Split::train);
    t.test_images = data::load_mnist(folder, data::Split::test);
  } else {
    t.source = "generated digits";
    t.classes = digits;
    const auto seed = static_cast<std::uint64_t>(lab.seed());
    t.train_images =
        data::generated_digits(lab.by_budget(1000, 4000, 10000), data::Split::train, seed);
    t.test_images = data::generated_digits(database, data::Split::test, seed);
  }
  t.queries = pictures(t.train_images, 0, queries);
  t.database = pictures(t.test_images, 0, database);
  made = std::make_unique<Task>(std::move(t));
  return *made;
}

ImagePanel panel_of(const Pictures& pictures, std::int64_t i) {
  return {.width = static_cast<std::size_t>(pictures.pixels.size(3)),
          .height = static_cast<std::size_t>(pictures.pixels.size(2)),
          .brightness = select(pictures.pixels, 0, i).to_vector<float>()};
}

}  // namespace labgrad::labs::pretrained
