// Published weights: the names of every form, and, where `make data` has got them, the figures that
// PyTorch finds with them (tests/golden/mobilenet_v2.json).

#include "nn/mobilenet_v2_weights.h"

#include <doctest/doctest.h>

#include <set>

#include "data/mnist.h"
#include "data/retrieval.h"
#include "engine/create.h"
#include "engine/ops.h"
#include "tests/check_close.h"
#include "tests/engine/io/files.h"
#include "tests/golden.h"

using namespace labgrad;
using files::has;
using nn::torchvision_name;

namespace {

const char* const weights = "data/files/mobilenet_v2/mobilenet_v2.safetensors";
const char* const pictures = "data/files/fashion-mnist";

// The first pictures of a split: pixels 0 .. 1 in rows of 784, and labels.
struct Pictures {
  Tensor pixels;
  std::vector<std::int64_t> labels;
};

Pictures first_pictures(data::Split split, std::int64_t count) {
  const data::LabelledImages set = data::load_mnist(pictures, split);
  std::vector<float> values(set.pixels.begin(), set.pixels.begin() + count * 784);
  return {from_values(values, {count, 784}) / 255.0,
          {set.labels.begin(), set.labels.begin() + count}};
}

Tensor embeddings(nn::PretrainedMobileNetV2& model, const Tensor& pixels) {
  NoGrad no_grad;
  Tensors parts;
  constexpr std::int64_t batch = 20;
  for (std::int64_t i = 0; i < pixels.size(0); i += batch) {
    const Tensor images = reshape(slice(pixels, 0, i, i + batch), {-1, 1, 28, 28});
    const Tensor x = interpolate_bilinear(images, 96) * 2.0 - 1.0;
    parts.push_back(model.network.embedding(expand(x, {x.size(0), 3, 96, 96})));
  }
  return cat(parts);
}

}  // namespace

TEST_CASE("published weights: every form's names become torchvision's") {
  CHECK(torchvision_name("features.3.conv.1.0.weight") == "features.3.conv.1.0.weight");
  CHECK(torchvision_name("classifier.1.bias") == "classifier.1.bias");
  CHECK(torchvision_name("classifier.bias") == "classifier.1.bias");
  const std::string tf = "mobilenet_v2.";
  CHECK(torchvision_name(tf + "conv_stem.first_conv.convolution.weight") == "features.0.0.weight");
  CHECK(torchvision_name(tf + "conv_stem.conv_3x3.normalization.bias") ==
        "features.1.conv.0.1.bias");
  CHECK(torchvision_name(tf + "conv_stem.reduce_1x1.convolution.weight") ==
        "features.1.conv.1.weight");
  CHECK(torchvision_name(tf + "layer.0.expand_1x1.convolution.weight") ==
        "features.2.conv.0.0.weight");
  CHECK(torchvision_name(tf + "layer.15.reduce_1x1.normalization.running_var") ==
        "features.17.conv.3.running_var");
  CHECK(torchvision_name(tf + "conv_1x1.normalization.weight") == "features.18.1.weight");
  CHECK(torchvision_name("conv_stem.weight") == "features.0.0.weight");
  CHECK(torchvision_name("bn1.running_mean") == "features.0.1.running_mean");
  CHECK(torchvision_name("blocks.0.0.conv_pw.weight") == "features.1.conv.1.weight");
  CHECK(torchvision_name("blocks.1.1.bn2.bias") == "features.3.conv.1.1.bias");
  CHECK(torchvision_name("blocks.3.3.conv_dw.weight") == "features.10.conv.1.0.weight");
  CHECK(torchvision_name("blocks.6.0.conv_pwl.weight") == "features.17.conv.2.weight");
  CHECK(torchvision_name("conv_head.weight") == "features.18.0.weight");
  CHECK(torchvision_name("bn2.weight") == "features.18.1.weight");
}

TEST_CASE("published weights: files in three forms load alike, each with its rules") {
  Generator g(5);
  nn::MobileNetV2 net({.classes = 3}, g);
  const files::Scratch scratch("mobilenet");
  const auto file = scratch.file("w.safetensors");
  const NamedTensors state = net.state_dict();

  save_safetensors(file, state);
  nn::PretrainedMobileNetV2 ours = nn::load_mobilenet_v2(file);
  CHECK(ours.network.stem.padding == nn::PaddingRule::torchvision);
  CHECK(ours.mean[0] == 0.485);
  CHECK(ours.first_class == 0);
  CHECK_FALSE(ours.network.training);
  CHECK(tests::bit_difference(ours.network.head.conv.weight, net.head.conv.weight) == "");
  CHECK(nn::load_mobilenet_v2(file, nn::PaddingRule::tensorflow).network.stem.padding ==
        nn::PaddingRule::tensorflow);

  // The names of Transformers, made by turning the map around.
  std::vector<std::string> layers{"conv_stem.first_conv", "conv_stem.conv_3x3",
                                  "conv_stem.reduce_1x1", "conv_1x1"};
  for (int i = 0; i < 16; ++i)
    for (const char* part : {"expand_1x1", "conv_3x3", "reduce_1x1"})
      layers.push_back("layer." + std::to_string(i) + "." + part);
  std::unordered_map<std::string, std::string> theirs{{"classifier.1.weight", "classifier.weight"},
                                                      {"classifier.1.bias", "classifier.bias"}};
  for (const std::string& layer : layers)
    for (const char* end : {".convolution.weight", ".normalization.weight", ".normalization.bias",
                            ".normalization.running_mean", ".normalization.running_var"}) {
      const std::string name = "mobilenet_v2." + layer + end;
      theirs[torchvision_name(name)] = name;
    }
  CHECK(theirs.size() == 262);
  NamedTensors renamed;
  for (const auto& [name, t] : state) renamed.emplace_back(theirs.at(name), t);
  renamed.emplace_back("mobilenet_v2.conv_1x1.normalization.num_batches_tracked", zeros({1}));
  save_safetensors(file, renamed);
  nn::PretrainedMobileNetV2 google = nn::load_mobilenet_v2(file);
  CHECK(google.network.stem.padding == nn::PaddingRule::tensorflow);
  CHECK(google.network.stem.norm.options.eps == 1e-3);
  CHECK(google.mean[1] == 0.5);
  CHECK(google.std[2] == 0.5);
  CHECK(tests::bit_difference(google.network.blocks[16].project.conv.weight,
                              net.blocks[16].project.conv.weight) == "");

  NamedTensors lacking(state.begin() + 1, state.end());
  lacking.emplace_back("more", zeros({2}));
  save_safetensors(file, lacking);
  const std::string text = files::problem([&] { nn::load_mobilenet_v2(file); });
  CHECK(has(text, "w.safetensors"));
  CHECK(has(text, "missing: features.0.0.weight"));
  CHECK(has(text, "unexpected: more"));
}

TEST_CASE("published weights: embeddings and retrieval of Fashion-MNIST are the golden ones") {
  if (!std::filesystem::exists(weights) || !data::has_mnist(pictures)) {
    MESSAGE("skipped: needs " << std::string(weights) << " and " << std::string(pictures)
                              << "; `make data` gets them or says what to put where");
    return;
  }
  nn::PretrainedMobileNetV2 model = nn::load_mobilenet_v2(weights);
  CHECK(model.network.stem.padding == nn::PaddingRule::tensorflow);
  CHECK(model.mean == std::vector<double>{0.5, 0.5, 0.5});
  CHECK(model.first_class == 1);
  CHECK(has(model.source, "mobilenet_v2_1.0_224_quant"));
  const Json& want = golden::file("mobilenet_v2.json");
  const Pictures queries = first_pictures(data::Split::train, 200);
  const Pictures database = first_pictures(data::Split::test, 1000);

  const Tensor e = embeddings(model, queries.pixels);
  const Tensor unit = e / norm(e, 2, {1}, true);
  const Json& rows = want.at("query_embeddings_first3_first16");
  for (std::size_t q = 0; q < 3; ++q) {
    const Tensor row = slice(select(unit, 0, static_cast<std::int64_t>(q)), 0, 0, 16);
    const std::vector<double> numbers = golden::doubles(rows.at(q));
    CHECK(tests::difference(row, from_values(numbers, {16}, {.dtype = f64}),
                            {.rtol = 1e-4, .atol = 1e-6}) == "");
  }

  model.network.fold_batch_norm();
  CHECK(tests::difference(embeddings(model, queries.pixels), e, {.rtol = 1e-4, .atol = 1e-4}) ==
        "");
  const Tensor cosine = to(data::cosines(e, embeddings(model, database.pixels)), Device::cpu);
  const auto neighbours = golden::integers(want.at("query_neighbours_first3"));
  const auto nearness = golden::doubles(want.at("query_neighbour_cosines_first3"));
  for (std::size_t q = 0; q < 3; ++q) {
    const auto row = cosine.span<float>().subspan(q * 1000, 1000);
    CHECK(data::nearest(row, 1)[0] == neighbours[q]);
    CHECK(row[static_cast<std::size_t>(neighbours[q])] ==
          doctest::Approx(nearness[q]).epsilon(1e-5));
  }
  const auto by_embedding = data::score_retrieval(cosine, queries.labels, database.labels);
  CHECK(by_embedding.hits == golden::integer(want.at("hits_embedding")));
  CHECK(by_embedding.top1 == doctest::Approx(want.at("accuracy_embedding").as_double()));
  const auto by_pixels = data::score_retrieval(data::cosines(queries.pixels, database.pixels),
                                               queries.labels, database.labels);
  CHECK(by_pixels.hits == golden::integer(want.at("hits_raw_pixels")));
  CHECK(by_pixels.chance == doctest::Approx(want.at("chance").as_double()).epsilon(1e-4));
  CHECK(by_pixels.mean_average_precision > by_pixels.chance);
  MESSAGE("top-1, top-5, mean average precision: embedding "
          << by_embedding.top1 << ", " << by_embedding.top5 << ", "
          << by_embedding.mean_average_precision << "; pixels " << by_pixels.top1 << ", "
          << by_pixels.top5 << ", " << by_pixels.mean_average_precision);
}
