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

// One layer in one direction. x (T, B, ·); real[t] (B, 1) tells whose step t counts, or is empty.
Recurrent::Run Recurrent::run(const Tensor& x, LstmState state, const GateWeights& w, bool reverse,
                              const Tensors& real) {
  const Tensors xs = unbind(w.input(x), 0);  // one product for all steps
  const std::size_t T = xs.size();
  Run result;
  result.outputs.resize(T);
  for (std::size_t i = 0; i < T; ++i) {
    const std::size_t t = reverse ? T - 1 - i : i;
    LstmState next = step(xs[t], state, w);
    if (real.empty()) {
      result.outputs[t] = next.h;
    } else {
      result.outputs[t] = where(real[t], next.h, 0);
      next.h = where(real[t], next.h, state.h);
      if (has_cell()) next.c = where(real[t], next.c, state.c);
    }
    state = next;
  }
  result.last = state;
  return result;
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

  Tensors real;
  if (input.lengths.defined()) {
    const std::vector<std::int64_t> lengths = input.lengths.to_vector<std::int64_t>();
    if (input.lengths.shape() != Shape{B} ||
        std::any_of(lengths.begin(), lengths.end(), [&](auto n) { return n < 1 || n > T; }))
      fail(fmt::format("{}: lengths must be {} numbers from 1 to {}, got {}", name, B, T,
                       input.lengths.str()));
    const Tensor n = unsqueeze(input.lengths, 1);
    for (std::int64_t t = 0; t < T; ++t) real.push_back(n > t);
  }

  Tensors last_h, last_c;
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    Tensors sides;
    for (std::int64_t d = 0; d < D; ++d) {
      const auto i = static_cast<std::size_t>(layer * D + d);
      const Run r = run(h, {h0[i], has_cell() ? c0[i] : Tensor()}, weights[i], d == 1, real);
      sides.push_back(stack(r.outputs, 0));
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
