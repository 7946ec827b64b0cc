#include "labs/pretrained/small_net.h"

#include <numeric>

#include "engine/engine.h"
#include "nn/conv_norm.h"

namespace labgrad::labs::pretrained {
namespace {

constexpr nn::Conv2dOptions same_size{.padding = 1, .bias = false};

}  // namespace

SmallNet::SmallNet(Generator& g)
    : conv1(1, 16, 3, same_size, g),
      norm1(16, 2),
      conv2(16, 32, 3, same_size, g),
      norm2(32, 2),
      conv3(32, 64, 3, same_size, g),
      norm3(64, 2),
      classifier(64, 10, {}, g) {}

std::array<Tensor, 3> SmallNet::maps(const Tensor& x) {
  const auto stage = [this](nn::Conv2d& conv, nn::BatchNormReLUMaxPool2d& norm, const Tensor& h) {
    // relu keeps the order of numbers, so that it may come after max_pool, where fewer are left.
    return folded_ ? relu(max_pool2d(conv(h), norm.window)) : norm(conv(h));
  };
  const Tensor h1 = stage(conv1, norm1, x);
  const Tensor h2 = stage(conv2, norm2, h1);
  const Tensor h3 = stage(conv3, norm3, h2);
  return {h1, h2, h3};
}

Tensor SmallNet::embedding(const Tensor& x) { return mean(maps(x)[2], {2, 3}); }

void SmallNet::fold_batch_norm() {
  if (folded_) return;
  nn::fold_batch_norm(conv1, norm1);
  nn::fold_batch_norm(conv2, norm2);
  nn::fold_batch_norm(conv3, norm3);
  folded_ = true;
}

void SmallNet::members(nn::Members& m) {
  m("conv1", conv1);
  if (!folded_) m("norm1", norm1);
  m("conv2", conv2);
  if (!folded_) m("norm2", norm2);
  m("conv3", conv3);
  if (!folded_) m("norm3", norm3);
  m("classifier", classifier);
}

Tensor pixels_of(const data::LabelledImages& images, std::span<const std::int64_t> rows) {
  std::vector<float> values;
  values.reserve(rows.size() * static_cast<std::size_t>(images.height * images.width));
  for (const std::int64_t i : rows)
    for (const std::uint8_t pixel : images.image(i))
      values.push_back(static_cast<float>(pixel) / 255.0F);
  return from_values(values, {std::ssize(rows), 1, images.height, images.width});
}

Tensor pixels_of(const data::LabelledImages& images) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(images.size()));
  std::iota(all.begin(), all.end(), 0);
  return pixels_of(images, all);
}

std::int64_t right_answers(SmallNet& network, const data::LabelledImages& images) {
  const nn::Evaluating evaluating(network);
  const NoGrad no_grad;
  constexpr std::int64_t batch = 500;
  std::int64_t right = 0;
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < images.size(); ++i) {
    rows.push_back(i);
    if (std::ssize(rows) < batch && i + 1 < images.size()) continue;
    const auto answers = argmax(network(pixels_of(images, rows)), 1).to_vector<std::int64_t>();
    for (std::size_t k = 0; k < rows.size(); ++k)
      right += answers[k] == images.labels[static_cast<std::size_t>(rows[k])] ? 1 : 0;
    rows.clear();
  }
  return right;
}

std::filesystem::path lab_file(const std::filesystem::path& name) {
  namespace fs = std::filesystem;
  const fs::path in_tree = fs::path("labs") / "pretrained" / name;
  std::error_code code;
  if (fs::exists(in_tree, code)) return in_tree;
  // build/bin/pretrained, or deeper for another compiler's build; PREFIX/bin/labgrad-pretrained.
  fs::path folder = fs::read_symlink("/proc/self/exe", code).parent_path();
  for (int up = 0; up < 4 && folder.has_relative_path(); ++up, folder = folder.parent_path())
    for (const fs::path& file : {folder / in_tree, folder / "share" / "labgrad" / name})
      if (fs::exists(file, code)) return file;
  return {};
}

PretrainedSmallNet load_small_net(const std::filesystem::path& path) {
  const SafetensorsReader file(path);
  Generator unused(0);  // the draws are overwritten at once
  PretrainedSmallNet out{SmallNet(unused), file.metadata()};
  NamedTensors state;
  for (const auto& entry : file.entries()) state.emplace_back(entry.name, file.read(entry));
  try {
    out.network.load_state_dict(state);
  } catch (const Error& error) {
    fail(path.string() + ": not the weights of the small network: " + error.what());
  }
  out.network.eval();
  return out;
}

}  // namespace labgrad::labs::pretrained
