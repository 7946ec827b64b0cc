#include "nn/mobilenet_v2_weights.h"

#include <unordered_map>

namespace labgrad::nn {
namespace {

using Names = std::unordered_map<std::string, std::string>;

// Where a layer's convolution and its normalisation are in each form.
struct Pair {
  std::string conv, norm;
};

Pair nested(const std::string& layer) { return {layer + ".0", layer + ".1"}; }
Pair in_transformers(const std::string& layer) {
  return {"mobilenet_v2." + layer + ".convolution", "mobilenet_v2." + layer + ".normalization"};
}

void add(Names& names, const Pair& theirs, const Pair& ours) {
  names[theirs.conv] = ours.conv;
  names[theirs.norm] = ours.norm;
}

// From "stage.index" of timm to one running number.
std::string timm_block(int block) {
  int stage = 0;
  for (const int n : {1, 2, 3, 4, 3, 3, 1}) {
    if (block < n) break;
    block -= n;
    ++stage;
  }
  return "blocks." + std::to_string(stage) + "." + std::to_string(block) + ".";
}

Names make_names() {
  Names names;
  add(names, in_transformers("conv_stem.first_conv"), nested("features.0"));
  add(names, {"conv_stem", "bn1"}, nested("features.0"));
  for (int block = 0; block < 17; ++block) {
    const std::string ours = "features." + std::to_string(block + 1) + ".conv.";
    const std::string timm = timm_block(block);
    // The first block expands nothing, and Transformers counts it to the stem.
    const std::string layer = block == 0 ? "conv_stem" : "layer." + std::to_string(block - 1);
    if (block == 0) {
      add(names, in_transformers(layer + ".conv_3x3"), nested(ours + "0"));
      add(names, in_transformers(layer + ".reduce_1x1"), {ours + "1", ours + "2"});
      add(names, {timm + "conv_dw", timm + "bn1"}, nested(ours + "0"));
      add(names, {timm + "conv_pw", timm + "bn2"}, {ours + "1", ours + "2"});
    } else {
      add(names, in_transformers(layer + ".expand_1x1"), nested(ours + "0"));
      add(names, in_transformers(layer + ".conv_3x3"), nested(ours + "1"));
      add(names, in_transformers(layer + ".reduce_1x1"), {ours + "2", ours + "3"});
      add(names, {timm + "conv_pw", timm + "bn1"}, nested(ours + "0"));
      add(names, {timm + "conv_dw", timm + "bn2"}, nested(ours + "1"));
      add(names, {timm + "conv_pwl", timm + "bn3"}, {ours + "2", ours + "3"});
    }
  }
  add(names, in_transformers("conv_1x1"), nested("features.18"));
  add(names, {"conv_head", "bn2"}, nested("features.18"));
  names["classifier"] = "classifier.1";
  return names;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string metadata(const SafetensorsReader& file, const std::string& key) {
  for (const auto& [name, value] : file.metadata())
    if (name == key) return value;
  return {};
}

std::int64_t classes_in(const SafetensorsReader& file) {
  for (const auto& entry : file.entries())
    if (torchvision_name(entry.name) == "classifier.1.bias" && entry.shape.rank() == 1 &&
        entry.shape[0] > 0)
      return entry.shape[0];
  return 1000;  // load_state_dict says what is missing or misshapen
}

}  // namespace

std::string torchvision_name(const std::string& name) {
  static const Names names = make_names();
  const auto dot = name.rfind('.');
  if (dot == name.npos) return name;
  const auto found = names.find(name.substr(0, dot));
  return found == names.end() ? name : found->second + name.substr(dot);
}

PretrainedMobileNetV2 load_mobilenet_v2(const std::filesystem::path& path,
                                        std::optional<PaddingRule> padding) {
  const SafetensorsReader file(path);
  const bool transformers = file.contains("mobilenet_v2.conv_stem.first_conv.convolution.weight");
  const bool tensorflow =
      transformers || metadata(file, "padding").find("TensorFlow") != std::string::npos;
  const std::int64_t classes = classes_in(file);
  // The draws of a network that is overwritten at once must not move the default generator on.
  Generator unused(0);
  MobileNetV2 network(
      {.classes = classes,
       .padding = padding.value_or(tensorflow ? PaddingRule::tensorflow : PaddingRule::torchvision),
       .eps = transformers ? 1e-3 : 1e-5,
       .dropout = 0},
      unused);
  std::vector<NamedTensor> state;
  for (const auto& entry : file.entries())
    if (!ends_with(entry.name, "num_batches_tracked"))
      state.emplace_back(torchvision_name(entry.name), file.read(entry));
  try {
    network.load_state_dict(state);
  } catch (const Error& error) {
    fail(path.string() + ": not the weights of MobileNetV2 1.0: " + error.what());
  }
  network.eval();
  const std::vector<double> half(3, 0.5);
  return {.network = std::move(network),
          .mean = tensorflow ? half : std::vector{0.485, 0.456, 0.406},
          .std = tensorflow ? half : std::vector{0.229, 0.224, 0.225},
          .first_class = classes == 1001 ? 1 : 0,
          .source = metadata(file, "source")};
}

}  // namespace labgrad::nn
