#include "data/mnist.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "data/idx.h"
#include "engine/error.h"
#include "engine/io/file.h"

namespace labgrad::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t side = 28, classes = 10;

struct Files {
  fs::path images, labels;
};

Files files(const fs::path& folder, Split split) {
  const std::string prefix = split == Split::train ? "train" : "t10k";
  return {folder / (prefix + "-images-idx3-ubyte"), folder / (prefix + "-labels-idx1-ubyte")};
}

Idx read(const fs::path& path, int rank) {
  if (fs::exists(path)) return read_idx(path, rank);
  const fs::path packed = path.string() + ".gz";
  throw MissingFile(path, fs::exists(packed)
                              ? "unpack it with: gzip -dk " + packed.string()
                              : "`make data` gets the real data sets into data/files");
}

}  // namespace

LabelledImages load_mnist(const fs::path& folder, Split split) {
  const auto [image_path, label_path] = files(folder, split);
  Idx images = read(image_path, 3);
  Idx labels = read(label_path, 1);
  if (images.sizes[1] != side || images.sizes[2] != side)
    fail(fmt::format("{}: pictures of {} x {}, expected {} x {}", image_path.string(),
                     images.sizes[1], images.sizes[2], side, side));
  if (images.sizes[0] != labels.sizes[0])
    fail(fmt::format("{} has {} pictures, but {} has {} labels; both must come from one set",
                     image_path.string(), images.sizes[0], label_path.string(), labels.sizes[0]));
  const auto wrong = std::find_if(labels.bytes.begin(), labels.bytes.end(),
                                  [](std::uint8_t label) { return label >= classes; });
  if (wrong != labels.bytes.end())
    fail(fmt::format("{}: byte {}: the label {}, expected 0 to {}", label_path.string(),
                     8 + (wrong - labels.bytes.begin()), *wrong, classes - 1));
  return {.height = side,
          .width = side,
          .pixels = std::move(images.bytes),
          .labels = std::move(labels.bytes)};
}

bool has_mnist(const fs::path& folder) {
  for (const Split split : {Split::train, Split::test}) {
    const auto [images, labels] = files(folder, split);
    if (!fs::exists(images) || !fs::exists(labels)) return false;
  }
  return true;
}

}  // namespace labgrad::data
