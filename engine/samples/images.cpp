// Rows for engine/ops/conv.h, pool.h, batch_norm.h and resize.h.

#include "engine/create.h"
#include "engine/ops/batch_norm.h"
#include "engine/ops/conv.h"
#include "engine/ops/norm_relu_pool.h"
#include "engine/ops/pool.h"
#include "engine/ops/resize.h"
#include "engine/samples/rows.h"

namespace labgrad::samples {
namespace {

SampleCase operands(const std::vector<Shape>& list, bool large = false) {
  SampleCase c{{}, large};
  for (const Shape& shape : list) c.inputs.push_back({shape});
  return c;
}

OpSample conv_row(const std::string& arguments, const Conv2dOptions& options, const Cases& cases) {
  return {.op = "conv2d",
          .arguments = arguments,
          .f = [options](const Tensors& x) { return conv2d(x[0], x[1], {}, options); },
          .cases = cases,
          .linear = Linear::each,
          .f32_error = 2e-6,
          .rounds_by_layout = true};
}

Rows conv_rows() {
  const Conv2dOptions uneven{.stride = {2, 1}, .padding = {1, 0, 2, 1}};
  return {
      conv_row("", {},
               {operands({{1, 2, 5, 4}, {3, 2, 3, 2}}), operands({{3, 1, 3, 4}, {2, 1, 1, 1}}),
                operands({{1, 1, 5, 6}, {1, 1, 5, 5}}), operands({{1, 1, 1, 1}, {1, 1, 1, 1}}),
                operands({{0, 2, 4, 3}, {2, 2, 3, 3}}), operands({{1, 0, 3, 3}, {2, 0, 2, 2}}),
                operands({{3, 8, 11, 33}, {17, 8, 3, 3}}, true)}),
      conv_row("padding=1", {.padding = 1},
               {operands({{1, 2, 3, 5}, {2, 2, 3, 3}}), operands({{2, 1, 2, 3}, {1, 1, 3, 2}}),
                operands({{2, 32, 9, 21}, {35, 32, 3, 3}}, true),
                operands({{3, 1, 12, 40}, {16, 1, 3, 3}}, true)}),
      conv_row("stride=2, padding=1", {.stride = 2, .padding = 1},
               {operands({{1, 2, 4, 5}, {2, 2, 3, 2}}), operands({{1, 1, 1, 1}, {1, 1, 3, 3}}),
                operands({{3, 5, 13, 18}, {9, 5, 5, 3}}, true)}),
      conv_row("stride=(2, 1), padding=(1, 0, 2, 1)", uneven,
               {operands({{1, 2, 3, 4}, {2, 2, 3, 2}})}),
      conv_row(
          "dilation=(2, 1), padding=(2, 0)", {.padding = {2, 0}, .dilation = {2, 1}},
          {operands({{1, 2, 4, 3}, {2, 2, 3, 2}}), operands({{2, 3, 11, 17}, {8, 3, 3, 3}}, true)}),
      conv_row(
          "groups=2", {.padding = 1, .groups = 2},
          {operands({{1, 4, 3, 2}, {2, 2, 3, 2}}), operands({{2, 8, 7, 19}, {22, 4, 3, 3}}, true)}),
      conv_row("groups=3, depthwise", {.stride = {1, 2}, .padding = {0, 1}, .groups = 3},
               {operands({{1, 3, 3, 4}, {3, 1, 2, 3}}), operands({{1, 3, 3, 4}, {6, 1, 2, 3}})}),
      conv_row("groups=19, depthwise", {.padding = 1, .groups = 19},
               {operands({{1, 19, 1, 2}, {19, 1, 3, 3}}),
                operands({{2, 19, 7, 23}, {19, 1, 3, 3}}, true)}),
      {.op = "conv2d",
       .arguments = "bias, stride=(1, 2)",
       .f =
           [](const Tensors& x) {
             return conv2d(x[0], x[1], x[2], {.stride = {1, 2}});
           },
       .cases = {operands({{2, 1, 3, 4}, {2, 1, 2, 3}, {2}})},
       .rounds_by_layout = true},
      {.op = "conv2d_input_gradient",
       .arguments = "stride=(2, 1), padding=(1, 0, 2, 1)",
       .f =
           [uneven](const Tensors& x) {
             return conv2d_input_gradient({x[0].size(0), 2, 3, 4}, x[0], x[1], uneven);
           },
       .cases = {operands({{1, 3, 2, 4}, {3, 2, 3, 2}}), operands({{0, 1, 2, 4}, {1, 2, 3, 2}})},
       .linear = Linear::each,
       .rounds_by_layout = true},
      {.op = "conv2d_weight_gradient",
       .arguments = "stride=(2, 1), padding=(1, 0, 2, 1)",
       .f =
           [uneven](const Tensors& x) {
             return conv2d_weight_gradient(x[0], {x[1].size(1), 2, 3, 2}, x[1], uneven);
           },
       .cases = {operands({{2, 2, 3, 4}, {2, 3, 2, 4}}), operands({{0, 2, 3, 4}, {0, 1, 2, 4}})},
       .linear = Linear::each,
       .rounds_by_layout = true},
  };
}

OpSample max_row(const std::string& arguments, Plane kernel, const MaxPool2dOptions& options,
                 const Cases& cases) {
  return {.op = "max_pool2d",
          .arguments = arguments,
          .f = [=](const Tensors& x) { return max_pool2d(x[0], kernel, options); },
          .cases = cases};
}

OpSample avg_row(const std::string& arguments, Plane kernel, const AvgPool2dOptions& options,
                 const Cases& cases) {
  return {.op = "avg_pool2d",
          .arguments = arguments,
          .f = [=](const Tensors& x) { return avg_pool2d(x[0], kernel, options); },
          .cases = cases,
          .linear = Linear::jointly};
}

Rows pool_rows() {
  const AvgPool2dOptions edges{.stride = 2, .padding = 1, .ceil_mode = true};
  const Cases large{operands({{2, 33, 14, 20}}, true)};
  return {
      max_row("2", 2, {},
              shapes({{1, 2, 4, 6}, {2, 1, 3, 5}, {0, 2, 4, 4}, {1, 0, 2, 2}}, distinct) + large),
      max_row("1", 1, {}, shapes({{1, 1, 1, 1}, {1, 2, 1, 3}}, distinct)),
      max_row("3, stride=2, padding=1", 3, {.stride = 2, .padding = 1},
              shapes({{1, 2, 4, 5}, {1, 1, 1, 1}}, distinct) + large),
      max_row("(3, 2), stride=(1, 2), ceil_mode", {3, 2},
              {.stride = Plane{1, 2}, .padding = {1, 0}, .ceil_mode = true},
              shapes({{2, 1, 4, 5}}, distinct)),
      max_row("2, dilation=2", 2, {.stride = 1, .dilation = 2}, shapes({{1, 2, 4, 3}}, distinct)),
      {.op = "max_pool2d_with_indices",
       .arguments = "2",
       .f =
           [](const Tensors& x) {
             const Extremes y = max_pool2d_with_indices(x[0], 2);
             return Tensors{y.values, y.indices};
           },
       .cases = shapes({{1, 2, 4, 5}}, distinct)},
      avg_row("2", 2, {}, shapes({{1, 2, 4, 6}, {2, 1, 3, 5}, {0, 2, 4, 4}, {1, 0, 2, 2}}) + large),
      avg_row("1", 1, {}, shapes({{1, 1, 1, 1}})),
      avg_row("3, stride=2, padding=1, ceil_mode", 3, edges, shapes({{1, 2, 4, 5}}) + large),
      avg_row("(1, 2), padding not counted", {1, 2},
              {.stride = 1, .padding = {0, 1}, .count_include_pad = false}, shapes({{1, 2, 2, 3}})),
      {.op = "avg_pool2d_gradient",
       .arguments = "3, stride=2, padding=1, ceil_mode",
       .f =
           [edges](const Tensors& x) {
             return avg_pool2d_gradient({x[0].size(0), 2, 4, 5}, x[0], 3, edges);
           },
       .cases = shapes({{1, 2, 3, 3}, {0, 2, 3, 3}}),
       .linear = Linear::jointly},
      {.op = "adaptive_avg_pool2d",
       .arguments = "(2, 3)",
       .f =
           [](const Tensors& x) {
             return adaptive_avg_pool2d(x[0], {2, 3});
           },
       .cases = shapes({{1, 2, 3, 4}, {1, 1, 4, 6}, {2, 1, 1, 1}, {0, 1, 3, 4}}),
       .linear = Linear::jointly},
      {.op = "interpolate_bilinear",
       .arguments = "(3, 7)",
       .f =
           [](const Tensors& x) {
             return interpolate_bilinear(x[0], {3, 7});
           },
       .cases = shapes({{1, 2, 2, 5}, {1, 1, 5, 7}, {1, 1, 1, 1}, {0, 1, 4, 4}}),
       .linear = Linear::jointly},
  };
}

Rows batch_norm_rows() {
  const Domain small = between(-0.2, 0.2);  // so that eps counts
  const auto evaluated = [](const Tensors& x) {
    const TensorOptions like{.dtype = x[0].dtype(), .device = x[0].device()};
    const Shape channels{x[0].size(1)};
    return batch_norm(x[0], full(channels, 0.25, like), full(channels, 1.5, like), x[1], x[2]);
  };
  const Cases cases{{{{{2, 3, 2, 4}}, {{3}}, {{3}}}},
                    {{{{5, 3}}, {{3}}, {{3}}}},
                    {{{{2, 2, 3}, small}, {{2}}, {{2}}}},
                    {{{{4, 1, 1, 1}}, {{1}}, {{1}}}},
                    {{{{3, 35, 20, 33}}, {{35}}, {{35}}}, true}};
  return {
      {.op = "batch_norm",
       .arguments = "training",
       .f =
           [](const Tensors& x) {
             return batch_norm(x[0], {}, {}, x[1], x[2], {.training = true});
           },
       .cases = cases,
       .f32_error = 5e-6,
       .rounds_by_layout = true},
      {.op = "batch_norm",
       .arguments = "training, no weight, eps=1e-3",
       .f =
           [](const Tensors& x) {
             return batch_norm(x[0], {}, {}, {}, {}, {.training = true, .eps = 1e-3});
           },
       .cases = {{{{{2, 2, 2, 3}}}}, {{{{4, 2}, small}}}},
       .f32_error = 5e-6,
       .rounds_by_layout = true},
      {.op = "batch_norm",
       .f = evaluated,
       .cases = cases + Cases{{{{{0, 2, 3}}, {{2}}, {{2}}}}, {{{{1, 1}}, {{1}}, {{1}}}}},
       .f32_error = 5e-6,
       .rounds_by_layout = true},
  };
}

Rows norm_relu_pool_rows() {
  // Biases of both signs, so that of some windows all are below 0.
  const auto inputs = [](const Shape& x, bool large = false) {
    const Shape channels{x[1]};
    return SampleCase{{{x, distinct}, {channels, nonzero}, {channels, real}}, large};
  };
  const auto evaluated = [](const Tensors& x) {
    const TensorOptions like{.dtype = x[0].dtype(), .device = x[0].device()};
    const Shape channels{x[0].size(1)};
    return batch_norm_relu_max_pool2d(x[0], full(channels, 0.25, like), full(channels, 1.5, like),
                                      x[1], x[2], 2);
  };
  return {
      {.op = "batch_norm_relu_max_pool2d",
       .arguments = "2, training",
       .f =
           [](const Tensors& x) {
             return batch_norm_relu_max_pool2d(x[0], {}, {}, x[1], x[2], 2, {.training = true});
           },
       .cases = {inputs({2, 3, 3, 5}), inputs({3, 1, 2, 2}), inputs({2, 0, 2, 2}),
                 inputs({3, 35, 21, 33}, true)},
       .f32_error = 5e-6,
       .rounds_by_layout = true},
      {.op = "batch_norm_relu_max_pool2d",
       .arguments = "(1, 3), training, no weight, eps=1e-3",
       .f =
           [](const Tensors& x) {
             return batch_norm_relu_max_pool2d(x[0], {}, {}, {}, {}, {1, 3},
                                               {.training = true, .eps = 1e-3});
           },
       .cases = shapes({{2, 2, 3, 7}}, distinct),
       .f32_error = 5e-6,
       .rounds_by_layout = true},
      {.op = "batch_norm_relu_max_pool2d",
       .arguments = "2",
       .f = evaluated,
       .cases = {inputs({2, 3, 4, 3}), inputs({0, 2, 2, 2})},
       .f32_error = 5e-6,
       .rounds_by_layout = true},
  };
}

}  // namespace

Rows image_rows() { return conv_rows() + pool_rows() + batch_norm_rows() + norm_relu_pool_rows(); }

}  // namespace labgrad::samples
