// Rows for engine/ops/softmax.h, norm.h, loss.h and dropout.h.

#include "engine/create.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/dropout.h"
#include "engine/ops/loss.h"
#include "engine/ops/norm.h"
#include "engine/ops/softmax.h"
#include "engine/samples/rows.h"

namespace labgrad::samples {
namespace {

// Numbers that stand beside x: class weights, for example, which have no gradient.
Tensor beside(const Tensor& x, const std::vector<double>& values) {
  const Tensor c = from_values(values, {static_cast<std::int64_t>(values.size())});
  return to(to(c, x.dtype()), x.device());
}

// x with positive entries made a distribution along the last dimension.
Tensor normalised(const Tensor& x) { return softmax(x, -1); }

Rows softmax_rows() {
  // dy - Σ dy y cancels where one y is close to 1.
  constexpr double cancelling = 1e-5;
  return {
      {.op = "softmax",
       .arguments = "-1",
       .f = [](const Tensors& x) { return softmax(x[0], -1); },
       .cases = rows_of(),
       .f32_error = cancelling},
      {.op = "softmax",
       .arguments = "0",
       .f = [](const Tensors& x) { return softmax(x[0], 0); },
       .cases = rows_of(),
       .f32_error = cancelling},
      {.op = "log_softmax",
       .arguments = "-1",
       .f = [](const Tensors& x) { return log_softmax(x[0], -1); },
       .cases = rows_of(),
       .f32_error = cancelling},
      {.op = "log_softmax",
       .arguments = "0",
       .f = [](const Tensors& x) { return log_softmax(x[0], 0); },
       .cases = rows_of(),
       .f32_error = cancelling},
      {.op = "masked_softmax",
       .arguments = "-1",
       .f = [](const Tensors& x) { return masked_softmax(x[0], x[1], -1); },
       .cases = {{{{{2, 4}}, {{2, 4}, mask}}},
                 {{{{2, 3, 5}}, {{5}, mask}}},
                 {{{{2, 3, 5}}, {{2, 1, 5}, mask}}},
                 {{{{3, 1}}, {{3, 1}, mask}}},  // rows of nothing
                 {{{{0, 3}}, {{3}, mask}}}},
       .f32_error = cancelling},
      {.op = "masked_softmax",
       .arguments = "0",
       .f = [](const Tensors& x) { return masked_softmax(x[0], x[1], 0); },
       .cases = {{{{{4, 3}}, {{4, 3}, mask}}}, {{{{5}}, {{5}, mask}}}},
       .f32_error = cancelling},
      {.op = "dropout",
       .arguments = "0.3",
       .f =
           [](const Tensors& x) {
             Generator generator(5);
             return dropout(x[0], 0.3, true, generator);
           },
       .cases = elementwise(),
       .linear = Linear::jointly},
      {.op = "dropout",
       .arguments = "0.3, evaluating",
       .f = [](const Tensors& x) { return dropout(x[0], 0.3, false); },
       .cases = shapes({{5}, {2, 3}}),
       .linear = Linear::jointly},
  };
}

Rows layer_norm_rows() {
  // Small values, so that eps counts.
  const Domain small = between(-0.2, 0.2);
  return {
      {.op = "layer_norm",
       .f = [](const Tensors& x) { return layer_norm(x[0], x[1].shape(), x[1], x[2]); },
       .cases = {{{{{2, 5}}, {{5}}, {{5}}}},
                 {{{{2, 3, 4}}, {{4}}, {{4}}}},
                 {{{{2, 3, 4}}, {{3, 4}}, {{3, 4}}}},
                 {{{{7}}, {{7}}, {{7}}}},
                 {{{{0, 3}}, {{3}}, {{3}}}},
                 {{{{2, 5}, small}, {{5}}, {{5}}}},
                 {{{{300, 131}}, {{131}}, {{131}}}, true}},
       .f32_error = 3e-6},
      {.op = "layer_norm",
       .arguments = "no weight, eps=1e-3",
       .f = [](const Tensors& x) { return layer_norm(x[0], {x[0].size(-1)}, {}, {}, 1e-3); },
       .cases = {{{{{2, 5}}}}, {{{{2, 3, 4}, small}}}, {{{{1, 256}}}}, {{{{300, 131}}}, true}},
       .f32_error = 3e-6},
      {.op = "layer_norm",
       .arguments = "no bias",
       .f = [](const Tensors& x) { return layer_norm(x[0], x[1].shape(), x[1]); },
       .cases = {{{{{2, 5}}, {{5}}}}, {{{{2, 3, 4}}, {{3, 4}}}}},
       .f32_error = 3e-6},
  };
}

TensorFunction cross_entropy_with(CrossEntropyOptions options,
                                  const std::vector<double>& weight = {}) {
  return [=](const Tensors& x) {
    CrossEntropyOptions o = options;
    if (!weight.empty()) o.weight = beside(x[0], weight);
    return cross_entropy(x[0], x[1], o);
  };
}

Rows loss_rows() {
  const std::vector<double> weight{0.5, 2, 1, 0.25, 1.5};
  const Cases classes{{{{{4, 5}}, {{4}, index(5)}}},
                      {{{{5}}, {{}, index(5)}}},
                      {{{{2, 5, 3}}, {{2, 3}, index(5)}}},
                      {{{{1, 5}}, {{1}, index(5)}}}};
  const Cases many = classes + Cases{{{{{300, 131}}, {{300}, index(131)}}, true}};
  const Cases distributions{{{{{3, 5}}, {{3, 5}}}}, {{{{5}}, {{5}}}}};
  return {
      {.op = "cross_entropy", .f = cross_entropy_with({}), .cases = many},
      {.op = "cross_entropy",
       .arguments = "sum",
       .f = cross_entropy_with({.reduction = Reduce::sum}),
       .cases = classes},
      {.op = "cross_entropy",
       .arguments = "none, smoothing 0.1",
       .f = cross_entropy_with({.label_smoothing = 0.1, .reduction = Reduce::none}),
       .cases = many},
      {.op = "cross_entropy",
       .arguments = "ignore 2",
       .f = cross_entropy_with({.ignore_index = 2}),
       .cases = classes},
      {.op = "cross_entropy",
       .arguments = "weights, ignore 2, smoothing 0.01",
       .f = cross_entropy_with({.ignore_index = 2, .label_smoothing = 0.01}, weight),
       .cases = classes},
      {.op = "cross_entropy",
       .arguments = "distributions",
       .f = [](const Tensors& x) { return cross_entropy(x[0], normalised(x[1])); },
       .cases = distributions},
      {.op = "nll_loss",
       .f = [](const Tensors& x) { return nll_loss(log_softmax(x[0], -1), x[1]); },
       .cases = {{{{{4, 5}}, {{4}, index(5)}}}, {{{{5}}, {{}, index(5)}}}}},
      {.op = "nll_loss",
       .arguments = "weights, ignore 1, sum",
       .f =
           [weight](const Tensors& x) {
             return nll_loss(
                 x[0], x[1],
                 {.ignore_index = 1, .weight = beside(x[0], weight), .reduction = Reduce::sum});
           },
       .cases = {{{{{4, 5}}, {{4}, index(5)}}}, {{{{2, 5, 3}}, {{2, 3}, index(5)}}}},
       .linear = Linear::jointly},
      {.op = "mse_loss",
       .f = [](const Tensors& x) { return mse_loss(x[0], x[1]); },
       .cases = {{{{{5}}, {{5}}}},
                 {{{{2, 3}}, {{2, 3}}}},
                 {{{{}}, {{}}}},
                 {{{{257, 129}}, {{257, 129}}}, true}}},
      {.op = "mse_loss",
       .arguments = "none",
       .f = [](const Tensors& x) { return mse_loss(x[0], x[1], Reduce::none); },
       .cases = {{{{{5}}, {{5}}}}, {{{{2, 0}}, {{2, 0}}}}}},
  };
}

}  // namespace

Rows normalising_rows() { return softmax_rows() + layer_norm_rows() + loss_rows(); }

}  // namespace labgrad::samples
