// Embedding 16 pictures of 96 x 96 by MobileNetV2, and the layers on its way: depthwise 3 x 3 and
// 1 x 1 convolutions. A row's time by 16 is the time of a picture.

#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "engine/engine.h"
#include "nn/mobilenet_v2.h"
#include "tests/bench/bench.h"

namespace labgrad::bench {

namespace {

constexpr std::int64_t batch = 16;

Tensor images(std::int64_t channels, std::int64_t side) {
  return permute(noise({batch, side, side, channels}), {0, 3, 1, 2});
}

// Of all convolutions for one picture of that side: a multiplication and an addition each.
double flops(nn::MobileNetV2& net, std::int64_t side) {
  double sum = 0;
  const auto count = [&](const nn::ConvNorm& layer) {
    const std::int64_t stride = layer.conv.options.stride.h;
    side = (side + stride - 1) / stride;
    sum += 2.0 * double(layer.conv.weight.numel() * side * side);
  };
  count(net.stem);
  for (const nn::InvertedResidual& block : net.blocks) {
    if (block.expand) count(*block.expand);
    count(block.depthwise);
    count(block.project);
  }
  count(net.head);
  return sum;
}

void network(Bench& bench) {
  const std::string name = fmt::format("mobilenet_v2 {} x 96x96", batch);
  if (!bench.wants(name + " normalised") && !bench.wants(name + " folded")) return;
  nn::MobileNetV2 net;
  const nn::Evaluating evaluating(net);
  const NoGrad guard;
  const Tensor x = images(3, 96);
  const Work work{double(batch) * flops(net, 96), 0};
  bench.row(name + " normalised", work, [&] { net.embedding(x); });
  net.fold_batch_norm();
  bench.row(name + " folded", work, [&] { net.embedding(x); });
}

struct Map {
  std::int64_t channels, side;
};
constexpr std::array<Map, 3> maps{Map{96, 48}, Map{192, 12}, Map{960, 3}};

void layers(Bench& bench, const Map& m) {
  const std::int64_t c = m.channels, narrow = c / 6;
  const std::string size = fmt::format("{}x{}x{}", m.side, m.side, c);
  const NoGrad guard;
  const double in = 4.0 * double(batch * c * m.side * m.side), out = in / 6;
  const double pixels = double(batch * m.side * m.side);
  if (bench.wants("depthwise " + size)) {
    const Tensor x = images(c, m.side), w = noise({c, 1, 3, 3});
    bench.row("depthwise " + size, {2.0 * 9 * pixels * double(c), 2 * in},
              [&] { conv2d(x, w, {}, {.padding = 1, .groups = c}); });
  }
  if (bench.wants("conv1x1 project " + size)) {
    const Tensor x = images(c, m.side), w = noise({narrow, c, 1, 1});
    bench.row("conv1x1 project " + size, {2.0 * pixels * double(c * narrow), in + out},
              [&] { conv2d(x, w); });
  }
  if (bench.wants("conv1x1 expand " + size)) {
    const Tensor x = images(narrow, m.side), w = noise({c, narrow, 1, 1});
    bench.row("conv1x1 expand " + size, {2.0 * pixels * double(c * narrow), in + out},
              [&] { conv2d(x, w); });
  }
}

}  // namespace

void bench_mobilenet(Bench& bench) {
  network(bench);
  for (const Map& m : maps) layers(bench, m);
}

}  // namespace labgrad::bench
