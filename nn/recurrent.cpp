#include "nn/recurrent.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/create.h"
#include "engine/ops.h"

namespace labgrad::nn {

Recurrent::Recurrent(std::int64_t gates, std::int64_t inputs, std::int64_t hidden,
                     RecurrentOptions o, Generator& g)
    : options(o), inputs_(inputs), hidden_(hidden), generator_(&g) {
  if (options.layers < 1)
    fail(fmt::format("recurrent: {} layers, at least 1 is needed", options.layers));
  for (std::int64_t layer = 0; layer < options.layers; ++layer)
    for (std::int64_t d = 0; d < directions(); ++d)
      weights.emplace_back(gates, layer == 0 ? inputs : hidden * directions(), hidden, options.bias,
                           g);
}

void Recurrent::members(Members& m) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto D = static_cast<std::size_t>(directions());
    weights[i].members(m, fmt::format("_l{}{}", i / D, i % D == 1 ? "_reverse" : ""));
  }
}

std::string Recurrent::details() const {
  return fmt::format("inputs={}, hidden={}, layers={}, bidirectional={}", inputs_, hidden_,
                     options.layers, options.bidirectional);
}

// One layer in one direction, x (T, B, ·).
Recurrent::Run Recurrent::run(const Tensor& x, const LstmState& first, const GateWeights& w,
                              bool reverse, const Tensor& real) {
  const Tensor shares = w.input(x);  // one product for all steps
  const std::int64_t T = x.size(0);
  auto shown = [&](const Tensor& h) {
    return real.defined() ? where(unsqueeze(real, 2), h, 0) : h;
  };
  if (const Tensor h = states(shares, first.h, w, {real, reverse}); h.defined())
    return {shown(h), {select(h, 0, reverse ? 0 : T - 1), {}}};
  const Tensors xs = unbind(shares, 0);
  Tensors hs(xs.size());
  LstmState state = first;
  for (std::int64_t i = 0; i < T; ++i) {
    const std::int64_t t = reverse ? T - 1 - i : i;
    const auto at = static_cast<std::size_t>(t);
    LstmState next = step(xs[at], state, w);
    if (real.defined()) {
      const Tensor counts = unsqueeze(select(real, 0, t), 1);
      next.h = where(counts, next.h, state.h);
      if (has_cell()) next.c = where(counts, next.c, state.c);
    }
    hs[at] = next.h;
    state = next;
  }
  return {shown(stack(hs, 0)), state};
}

SequenceOutput Recurrent::forward(const Tensor& x, const SequenceInput& input) {
  const std::string name = kind();
  if (x.rank() != 3 || x.size(2) != inputs_)
    fail(fmt::format("{}: x has shape {}, expected ({}, {})", name, x.shape().str(),
                     options.batch_first ? "B, T" : "T, B", inputs_));
  Tensor h = options.batch_first ? transpose(x, 0, 1) : x;  // (T, B, I)
  const std::int64_t T = h.size(0), B = h.size(1);
  const std::int64_t D = directions();
  if (T == 0)
    fail(fmt::format("{}: the sequence has no steps, x has shape {}", name, x.shape().str()));
  const Shape states{options.layers * D, B, hidden_};
  auto first_states = [&](const Tensor& given, const char* which) {
    if (!given.defined()) return zeros(states, {.dtype = x.dtype(), .device = x.device()});
    if (given.shape() != states)
      fail(fmt::format("{}: {} has shape {}, expected {}", name, which, given.shape().str(),
                       states.str()));
    return given;
  };
  const Tensors h0 = unbind(first_states(input.h0, "h0"), 0);
  const Tensors c0 = has_cell() ? unbind(first_states(input.c0, "c0"), 0) : Tensors();

  Tensor real;
  if (input.lengths.defined()) {
    const std::vector<std::int64_t> lengths = input.lengths.to_vector<std::int64_t>();
    if (input.lengths.shape() != Shape{B} ||
        std::any_of(lengths.begin(), lengths.end(), [&](auto n) { return n < 1 || n > T; }))
      fail(fmt::format("{}: lengths must be {} numbers from 1 to {}, got {}", name, B, T,
                       input.lengths.str()));
    real = unsqueeze(arange(0, T, {.device = x.device()}), 1) < input.lengths;
  }

  Tensors last_h, last_c;
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    Tensors sides;
    for (std::int64_t d = 0; d < D; ++d) {
      const auto i = static_cast<std::size_t>(layer * D + d);
      const Run r = run(h, {h0[i], has_cell() ? c0[i] : Tensor()}, weights[i], d == 1, real);
      sides.push_back(r.outputs);
      last_h.push_back(r.last.h);
      if (has_cell()) last_c.push_back(r.last.c);
    }
    h = D == 1 ? sides[0] : cat(sides, -1);
    if (layer + 1 < options.layers) h = dropout(h, options.dropout, training, *generator_);
  }
  return {options.batch_first ? transpose(h, 0, 1) : h, stack(last_h, 0),
          has_cell() ? stack(last_c, 0) : Tensor()};
}

}  // namespace labgrad::nn
