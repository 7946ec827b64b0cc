#include "nn/mobilenet_v2.h"

#include <cmath>

#include "engine/ops/arithmetic.h"
#include "engine/ops/reduce.h"

namespace labgrad::nn {
namespace {

// Table 2 of the paper: expansion t, channels c, how often n, stride s of the first.
struct Stage {
  std::int64_t t, c, n, s;
};
constexpr Stage stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                            {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

// The multiple of 8 next to c, or the one above where that would take more than a tenth away.
std::int64_t rounded(double c) {
  const auto near = std::max<std::int64_t>(8, static_cast<std::int64_t>(c + 4) / 8 * 8);
  return static_cast<double>(near) < 0.9 * c ? near + 8 : near;
}

std::int64_t wide(std::int64_t channels, double width_mult) {
  return rounded(static_cast<double>(channels) * width_mult);
}

const MobileNetV2Options& checked(const MobileNetV2Options& o) {
  if (o.classes < 1 || !(o.width_mult > 0) || !(o.width_mult <= 64))
    fail("MobileNetV2: needs at least 1 class and a width_mult above 0 and at most 64, got " +
         std::to_string(o.classes) + " and " + std::to_string(o.width_mult));
  return o;
}

std::int64_t embedding_width(const MobileNetV2Options& o) {
  return wide(1280, std::max(1.0, o.width_mult));
}

std::vector<InvertedResidual> make_blocks(const MobileNetV2Options& o, Generator& g) {
  std::vector<InvertedResidual> blocks;
  std::int64_t in = wide(32, o.width_mult);
  for (const auto& [t, c, n, s] : stages) {
    const std::int64_t out = wide(c, o.width_mult);
    for (std::int64_t i = 0; i < n; ++i, in = out)
      blocks.emplace_back(
          in, out,
          InvertedResidualOptions{
              .stride = i == 0 ? s : 1, .expansion = t, .padding = o.padding, .eps = o.eps},
          g);
  }
  return blocks;
}

}  // namespace

InvertedResidual::InvertedResidual(std::int64_t in, std::int64_t out,
                                   const InvertedResidualOptions& o, Generator& g)
    : expand(o.expansion == 1
                 ? std::nullopt
                 : std::optional<ConvNorm>(std::in_place, in, o.expansion * in, 1,
                                           ConvNormOptions{.padding = o.padding, .eps = o.eps}, g)),
      depthwise(
          o.expansion * in, o.expansion * in, 3,
          {.stride = o.stride, .groups = o.expansion * in, .padding = o.padding, .eps = o.eps}, g),
      project(o.expansion * in, out, 1, {.relu6 = false, .padding = o.padding, .eps = o.eps}, g),
      joins(o.stride == 1 && in == out) {}

Tensor InvertedResidual::forward(const Tensor& x) {
  const Tensor e = expand ? expand->forward(x) : x;
  const Tensor d = depthwise(e);
  const Tensor p = project(d);
  return joins ? x + p : p;
}

// torchvision numbers the two parts of the projection along with the layers before it.
void InvertedResidual::members(Members& m) {
  int i = 0;
  const auto next = [&i] { return "conv." + std::to_string(i++); };
  if (expand) m(next(), *expand);
  m(next(), depthwise);
  m(next(), project.conv);
  if (!project.folded()) m(next(), project.norm);
}

std::string InvertedResidual::details() const {
  const Tensor& last = project.conv.weight;
  return "middle=" + std::to_string(last.size(1)) + ", out=" + std::to_string(last.size(0)) +
         ", stride=" + std::to_string(depthwise.conv.options.stride.h) +
         (joins ? ", joins its input" : "");
}

MobileNetV2::MobileNetV2(const MobileNetV2Options& o, Generator& g)
    : stem(3, wide(32, checked(o).width_mult), 3, {.stride = 2, .padding = o.padding, .eps = o.eps},
           g),
      blocks(make_blocks(o, g)),
      head(wide(320, o.width_mult), embedding_width(o), 1, {.padding = o.padding, .eps = o.eps}, g),
      dropout(o.dropout, g),
      classifier(embedding_width(o), o.classes, {}, g) {
  for (ConvNorm* c : convolutions()) kaiming_normal_(c->conv.weight, Fan::out, g);
  NoGrad no_grad;
  normal_(classifier.weight, 0, 0.01, g);
  classifier.bias.fill_(0);
}

Tensor MobileNetV2::features(const Tensor& x) {
  Tensor h = stem(x);
  for (InvertedResidual& block : blocks) h = block(h);
  return head(h);
}

Tensor MobileNetV2::embedding(const Tensor& x) { return mean(features(x), {2, 3}); }

Tensor MobileNetV2::forward(const Tensor& x) {
  const Tensor h = embedding(x);
  return classifier(dropout(h));
}

void MobileNetV2::fold_batch_norm() {
  for (ConvNorm* c : convolutions()) c->fold();
}

void MobileNetV2::members(Members& m) {
  m("features.0", stem);
  for (std::size_t i = 0; i < blocks.size(); ++i) m("features." + std::to_string(i + 1), blocks[i]);
  m("features." + std::to_string(blocks.size() + 1), head);
  m("classifier.0", dropout);
  m("classifier.1", classifier);
}

std::vector<ConvNorm*> MobileNetV2::convolutions() {
  std::vector<ConvNorm*> all{&stem};
  for (InvertedResidual& block : blocks) {
    if (block.expand) all.push_back(&*block.expand);
    all.push_back(&block.depthwise);
    all.push_back(&block.project);
  }
  all.push_back(&head);
  return all;
}

}  // namespace labgrad::nn
