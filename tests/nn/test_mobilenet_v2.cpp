// MobileNetV2 against torchvision's: names, draws, values and gradients. The numbers are from
// PyTorch 1.13, of the network as torchvision 0.14 defines it, in double precision.

#include "nn/mobilenet_v2.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/create.h"
#include "engine/ops.h"
#include "tests/check_close.h"

using namespace labgrad;
using tests::bit_difference;
using tests::difference;

namespace {

// sin(0.37 i) for element i: no random numbers, and the same everywhere.
Tensor waves(const Shape& shape, DType dtype = f64) {
  return reshape(sin(arange(0, shape.numel(), 1, {.dtype = dtype}) * 0.37), shape);
}

Tensor first(const Tensor& x, std::int64_t n) { return slice(reshape(x, {-1}), 0, 0, n); }

Tensor values(const std::vector<double>& v) {
  return from_values(v, {static_cast<std::int64_t>(v.size())}, {.dtype = f64});
}

// Statistics and weights that are neither 0 nor 1, as training would leave them.
void disturb(nn::MobileNetV2& net, Generator& g) {
  NoGrad no_grad;
  for (auto& [name, t] : net.state_dict()) {
    if (name.ends_with("running_var") || (name.ends_with(".weight") && t.rank() == 1))
      uniform_(t, 0.5, 2, g);
    if (name.ends_with("running_mean") || name.ends_with(".bias")) uniform_(t, -0.3, 0.3, g);
  }
}

}  // namespace

TEST_CASE("MobileNetV2: names, shapes and counts are torchvision's") {
  nn::MobileNetV2 net;
  CHECK(net.parameter_count() == 3504872);
  const auto state = net.state_dict();
  CHECK(state.size() == 262);  // torchvision has 52 num_batches_tracked besides
  CHECK(state.front().first == "features.0.0.weight");
  CHECK(state[5].first == "features.1.conv.0.0.weight");
  CHECK(state[10].first == "features.1.conv.1.weight");
  CHECK(state[11].first == "features.1.conv.2.weight");
  CHECK(state[258].first == "features.18.1.running_mean");
  CHECK(state[260].first == "classifier.1.weight");
  CHECK(state[260].second.shape() == Shape{1000, 1280});
  nn::MobileNetV2 small({.classes = 10, .width_mult = 0.35});
  CHECK(small.parameter_count() == 408938);
  CHECK(nn::MobileNetV2({.classes = 2, .width_mult = 1.4}).classifier.weight.size(1) == 1792);
  CHECK_THROWS_WITH_AS(nn::MobileNetV2({.classes = 0}), doctest::Contains("at least 1 class"),
                       Error);
  CHECK_THROWS_WITH_AS(nn::MobileNetV2({.width_mult = std::nan("")}),
                       doctest::Contains("width_mult above 0"), Error);
}

TEST_CASE("MobileNetV2: one seed draws torchvision's weights") {
  Generator g(0);
  nn::MobileNetV2 net({}, g);
  const auto same = [](const Tensor& w, const std::vector<double>& want) {
    CHECK(difference(first(w, 4), values(want), {.rtol = 2e-7, .atol = 0}) == "");
  };
  same(net.stem.conv.weight,
       {0.004847908392548561, 0.1733432412147522, -0.009097518399357796, -0.07076115906238556});
  same(net.blocks[0].depthwise.conv.weight,
       {-0.09340562671422958, 0.10180020332336426, 0.031068583950400352, 0.09528891742229462});
  same(net.blocks[1].project.conv.weight,
       {-0.19682766497135162, 0.08759497851133347, 0.03376182168722153, 0.10718438774347305});
  same(net.head.conv.weight,
       {-0.01049809716641903, 0.03884916380047798, 0.014160048216581345, 0.010442882776260376});
  same(net.classifier.weight,
       {0.011795287020504475, -0.0027530856896191835, 0.0015467964112758636, 0.01576569862663746});
  CHECK(net.classifier.bias.to_vector() == std::vector<double>(1000, 0.0));
}

TEST_CASE("MobileNetV2: embeddings, gradients and running statistics are PyTorch's") {
  Generator g(0);
  nn::MobileNetV2 net({.classes = 10, .width_mult = 0.35}, g);
  net.to(f64);
  const Tensor x = waves({2, 3, 40, 33});
  const Tensor e = net.embedding(x);
  CHECK(e.shape() == Shape{2, 1280});
  const tests::Tolerance near{.rtol = 1e-8};
  CHECK(difference(first(e, 4),
                   values({0.5375279996565607, 0.2406951444491047, 0.11421706462147022,
                           0.47182438889889083}),
                   near) == "");
  CHECK(sum(e).item() == doctest::Approx(1050.1150883839173).epsilon(1e-9));
  const Tensor upstream = cos(reshape(arange(0, 2560, 1, {.dtype = f64}), {2, 1280}));
  sum(e * upstream).backward();
  CHECK(difference(first(net.stem.conv.weight.grad(), 3),
                   values({4075.661386181196, 1901.1821143578377, -579.7741159754688}),
                   near) == "");
  CHECK(difference(first(net.blocks[3].depthwise.conv.weight.grad(), 3),
                   values({-134.0912621351203, -119.36613182359567, -492.96610864448496}),
                   near) == "");
  CHECK(difference(first(net.head.norm.bias.grad(), 3),
                   values({0.6511523110980725, 0.6736115972666659, 0.035331928731454576}),
                   near) == "");
  CHECK(difference(first(net.blocks[2].project.norm.running_var, 3),
                   values({1.3062709272165982, 1.243904108397226, 1.3353910572802965}),
                   near) == "");
  nn::Evaluating evaluating(net);
  CHECK(difference(first(net(x), 3),
                   values({-0.010556243116891958, 0.0072769643945720984, 0.009206679776620557}),
                   near) == "");
}

TEST_CASE("MobileNetV2: TensorFlow pads what the size asks for, torchvision the same always") {
  using nn::PaddingRule;
  const auto sides = [](PaddingRule rule, Plane image, Plane kernel, Plane stride) {
    const Padding p = nn::padding_of(rule, image, kernel, stride);
    return std::vector<std::int64_t>{p.top, p.left, p.bottom, p.right};
  };
  using Sides = std::vector<std::int64_t>;
  CHECK(sides(PaddingRule::tensorflow, 96, 3, 2) == Sides{0, 0, 1, 1});
  CHECK(sides(PaddingRule::tensorflow, {7, 8}, 3, 2) == Sides{1, 0, 1, 1});
  CHECK(sides(PaddingRule::tensorflow, 5, 3, 1) == Sides{1, 1, 1, 1});
  CHECK(sides(PaddingRule::tensorflow, 5, 1, 2) == Sides{0, 0, 0, 0});
  CHECK(sides(PaddingRule::tensorflow, 6, {5, 2}, {1, 3}) == Sides{2, 0, 2, 0});
  CHECK(sides(PaddingRule::torchvision, 96, 3, 2) == Sides{1, 1, 1, 1});
  CHECK(sides(PaddingRule::torchvision, 96, {1, 5}, 2) == Sides{0, 2, 0, 2});

  // Stride 2 on 4 x 4: the first filter lies on rows 0 to 2, or on -1 to 1.
  const Tensor x = reshape(arange(0, 16, 1, {.dtype = f32}), {1, 1, 4, 4});
  const auto corner = [&](PaddingRule rule) {
    nn::ConvNorm layer(1, 1, 3, {.stride = 2, .relu6 = false, .padding = rule});
    layer.conv.weight.detach().fill_(1);
    layer.eval();
    layer.fold();
    return layer(x).to_vector()[0];
  };
  CHECK(corner(PaddingRule::tensorflow) == doctest::Approx(9 * 5.0));
  CHECK(corner(PaddingRule::torchvision) == doctest::Approx(0 + 1 + 4 + 5));
  for (const PaddingRule rule : {PaddingRule::tensorflow, PaddingRule::torchvision}) {
    nn::MobileNetV2 net({.classes = 2, .width_mult = 0.1, .padding = rule});
    net.eval();
    CHECK(net.features(waves({1, 3, 33, 64}, f32)).shape() == Shape{1, 1280, 2, 2});
  }
}

TEST_CASE("MobileNetV2: folded normalisation changes nothing beyond rounding") {
  Generator g(3);
  nn::MobileNetV2 net({.classes = 7, .width_mult = 0.35}, g);
  disturb(net, g);
  const nn::Evaluating evaluating(net);
  NoGrad no_grad;
  const Tensor x = waves({2, 3, 48, 40}, f32), before = net(x);
  nn::MobileNetV2 folded = net;
  folded.fold_batch_norm();
  CHECK(folded.state_dict().size() == 2 * 52 + 2);
  CHECK(folded.state_dict()[1].first == "features.0.0.bias");
  const Tensor after = folded(x);
  CHECK(difference(after, before, {.rtol = 1e-4, .atol = 1e-6}) == "");
  CHECK(bit_difference(after, before) != "");  // it did compute something else
  folded.fold_batch_norm();
  CHECK(bit_difference(folded(x), after) == "");
  // What it was copied from is as it was.
  CHECK(bit_difference(net(x), before) == "");
  CHECK(net.state_dict().size() == 262);

  net.to(f64);
  const Tensor exact = net(to(x, f64));
  net.fold_batch_norm();
  CHECK(difference(net(to(x, f64)), exact, {.rtol = 1e-11, .atol = 1e-13}) == "");
}

TEST_CASE("fold_batch_norm: a bias, no affine part, and what does not fit") {
  Generator g(4);
  nn::Conv2d conv(2, 3, 3, {}, g);
  nn::BatchNorm2d norm(3, {.affine = false});
  NoGrad no_grad;
  uniform_(norm.running_mean, -1, 1, g);
  uniform_(norm.running_var, 0.5, 2, g);
  norm.eval();
  const Tensor x = waves({2, 2, 5, 6}, f32), want = norm(conv(x));
  nn::fold_batch_norm(conv, norm);
  CHECK(difference(conv(x), want, {.rtol = 1e-5, .atol = 1e-6}) == "");
  nn::BatchNorm2d other(4);
  CHECK_THROWS_WITH_AS(nn::fold_batch_norm(conv, other), doctest::Contains("3 filters"), Error);
}

TEST_CASE("MobileNetV2: inference keeps no graph, training does") {
  nn::MobileNetV2 net({.classes = 3, .width_mult = 0.1});
  const nn::Evaluating evaluating(net);
  const Tensor x = waves({1, 3, 32, 32}, f32);
  CHECK(net(x).requires_grad());
  NoGrad no_grad;
  CHECK_FALSE(net(x).requires_grad());
  CHECK_FALSE(net.embedding(x).requires_grad());
}
