#include "labs/pretrained/networks.h"

#include <array>
#include <sstream>

#include "data/image.h"
#include "engine/engine.h"
#include "engine/io/file.h"

namespace labgrad::labs::pretrained {
namespace {

namespace fs = std::filesystem;

// How many of the 17 blocks each row of the paper's table 2 has, after the stem and before the
// head.
constexpr std::array<std::size_t, 7> blocks_in_stage{1, 2, 3, 4, 3, 3, 1};
// A picture of 28 x 28 becomes one of this side: three times its size and what a stride of 32
// needs.
constexpr std::int64_t side = 96;

std::int64_t count(nn::Module& module) { return module.parameter_count(); }

}  // namespace

std::vector<std::string> read_class_names(const fs::path& path) {
  std::vector<std::string> names;
  std::istringstream lines(read_file(path, 1 << 20));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty() && line.front() != '#') names.push_back(line);
  }
  if (names.size() != 1000)
    fail(fmt::format("{}: {} names; it must have the 1000 classes of ImageNet, one a line",
                     path.string(), names.size()));
  return names;
}

Published::Published(fs::path file, std::optional<nn::PaddingRule> padding,
                     std::vector<std::string> names)
    : Network(std::move(file)),
      padding_(padding),
      names_(std::move(names)),
      model_(nn::load_mobilenet_v2(Network::file(), padding)) {}

std::unique_ptr<Network> Published::again() const {
  return std::make_unique<Published>(file(), padding_, names_);
}

std::vector<Stage> Published::stages() {
  nn::MobileNetV2& net = model_.network;
  std::vector<Stage> out{{"stem", "3 x 3, stride 2", count(net.stem)}};
  auto block = net.blocks.begin();
  for (std::size_t s = 0; s < blocks_in_stage.size(); ++s) {
    Stage stage{
        fmt::format("stage {}", s + 1),
        fmt::format("{} block{}, stride {}", blocks_in_stage[s], blocks_in_stage[s] == 1 ? "" : "s",
                    block->depthwise.conv.options.stride.h),
        0};
    for (std::size_t i = 0; i < blocks_in_stage[s]; ++i) stage.parameters += count(*block++);
    out.push_back(stage);
  }
  out.push_back({"head", "1 x 1", count(net.head)});
  return out;
}

Stage Published::classifier() {
  nn::Linear& linear = model_.network.classifier;
  return {"classifier", fmt::format("{} classes", linear.weight.size(0)), count(linear)};
}

Tensor Published::input(const Tensor& pixels) const {
  return data::normalise(data::three_channels(data::resize(pixels, side)), model_.mean, model_.std);
}

std::string Published::input_text() const {
  return fmt::format("3 x {0} x {0}, {1}", side,
                     model_.mean[0] == 0.5 ? "pixels -1 to 1" : "ImageNet's mean and deviation");
}

Tensors Published::maps(const Tensor& x) {
  nn::MobileNetV2& net = model_.network;
  Tensors out{net.stem(x)};
  auto block = net.blocks.begin();
  for (const std::size_t n : blocks_in_stage) {
    Tensor h = out.back();
    for (std::size_t i = 0; i < n; ++i) h = (*block++)(h);
    out.push_back(h);
  }
  out.push_back(net.head(out.back()));
  return out;
}

std::string Published::class_name(std::int64_t i) const {
  const std::int64_t c = i - model_.first_class;
  if (c < 0) return "background";
  if (names_.empty()) return fmt::format("class {}", c);
  return names_.at(static_cast<std::size_t>(c));
}

Tensor Published::photograph(const Tensor& image, std::int64_t to) const {
  const Tensor small = data::resize(data::three_channels(image), to);
  return unsqueeze(data::normalise(small, model_.mean, model_.std), 0);
}

bool Published::is_golden() const {
  return model_.source.find("mobilenet_v2_1.0_224_quant") != std::string::npos &&
         model_.network.stem.padding == nn::PaddingRule::tensorflow;
}

Small::Small(fs::path file) : Network(std::move(file)), model_(load_small_net(Network::file())) {}

std::vector<Stage> Small::stages() {
  SmallNet& n = model_.network;
  const std::string made_of = "3 x 3, 2 x 2 max-pool";
  return {{"stage 1", made_of, count(n.conv1) + count(n.norm1)},
          {"stage 2", made_of, count(n.conv2) + count(n.norm2)},
          {"stage 3", made_of, count(n.conv3) + count(n.norm3)}};
}

Stage Small::classifier() { return {"classifier", "10 classes", count(model_.network.classifier)}; }

Tensors Small::maps(const Tensor& x) {
  const auto maps = model_.network.maps(x);
  return {maps.begin(), maps.end()};
}

fs::path published_weights(Lab& lab) {
  if (lab.options().given("weights")) {
    const fs::path named = lab.options().text("weights");
    if (!fs::exists(named)) throw MissingFile(named, "it was named with --weights");
    return named;
  }
  const fs::path folder = lab.data_dir() / "mobilenet_v2";
  for (const char* name : {"mobilenet_v2.safetensors", "model.safetensors"})
    if (fs::exists(folder / name)) return folder / name;
  return {};
}

std::unique_ptr<Published> load_published(Lab& lab) {
  const fs::path file = published_weights(lab);
  if (file.empty())
    throw MissingFile(lab.data_dir() / "mobilenet_v2" / "mobilenet_v2.safetensors",
                      "`make data` says where the published weights can be had; name a file that "
                      "lies elsewhere with --weights FILE");
  std::optional<nn::PaddingRule> padding;
  const std::string rule = lab.options().text("padding");
  if (rule == "tensorflow") padding = nn::PaddingRule::tensorflow;
  if (rule == "torchvision") padding = nn::PaddingRule::torchvision;
  fs::path labels = lab.options().text_or("labels", "");
  if (labels.empty()) labels = lab_file("imagenet_classes.txt");
  return std::make_unique<Published>(
      file, padding, labels.empty() ? std::vector<std::string>{} : read_class_names(labels));
}

namespace {

std::unique_ptr<Small> load_small(Lab& lab) {
  fs::path file = lab.options().text_or("small", "");
  if (file.empty()) file = lab_file(small_weights);
  if (file.empty())
    throw MissingFile(fs::path("labs/pretrained") / small_weights,
                      "run the lab from the repository's root, or name the file with --small FILE");
  return std::make_unique<Small>(file);
}

struct Loaded {
  std::unique_ptr<Published> published;
  std::unique_ptr<Small> small;
  std::vector<Network*> all;
};

const Loaded& loaded(Lab& lab) {
  static Loaded kept;
  if (!kept.all.empty()) return kept;
  const std::string wanted = lab.options().text("network");
  if (wanted == "published" || (wanted == "both" && !published_weights(lab).empty()))
    kept.published = load_published(lab);
  if (wanted != "published") kept.small = load_small(lab);
  if (kept.published) kept.all.push_back(kept.published.get());
  if (kept.small) kept.all.push_back(kept.small.get());
  return kept;
}

}  // namespace

const std::vector<Network*>& networks(Lab& lab) { return loaded(lab).all; }
Network& subject(Lab& lab) { return *loaded(lab).all.front(); }
Published* published(Lab& lab) { return loaded(lab).published.get(); }
Small* small(Lab& lab) { return loaded(lab).small.get(); }

}  // namespace labgrad::labs::pretrained
