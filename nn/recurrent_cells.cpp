#include "nn/recurrent_cells.h"

#include <fmt/format.h>

#include "engine/create.h"
#include "engine/ops.h"
#include "nn/init.h"

namespace labgrad::nn {

std::string name_of(GruForm form) {
  return form == GruForm::reset_after ? "reset_after" : "reset_before";
}

GateWeights::GateWeights(std::int64_t gates, std::int64_t inputs, std::int64_t hidden, bool bias,
                         Generator& g)
    : weight_ih(uniform_parameter({gates * hidden, inputs}, hidden, g)),
      weight_hh(uniform_parameter({gates * hidden, hidden}, hidden, g)) {
  if (!bias) return;
  bias_ih = uniform_parameter({gates * hidden}, hidden, g);
  bias_hh = uniform_parameter({gates * hidden}, hidden, g);
}

void GateWeights::members(Members& m, const std::string& suffix) {
  m("weight_ih" + suffix, weight_ih);
  m("weight_hh" + suffix, weight_hh);
  m("bias_ih" + suffix, bias_ih);
  m("bias_hh" + suffix, bias_hh);
}

Tensor GateWeights::input(const Tensor& x) const { return linear(x, weight_ih, bias_ih); }

Tensor rnn_step(const Tensor& xs, const Tensor& h, const GateWeights& w, RnnFunction f) {
  const Tensor a = xs + linear(h, w.weight_hh, w.bias_hh);
  return f == RnnFunction::tanh ? tanh(a) : relu(a);
}

LstmState lstm_step(const Tensor& xs, const LstmState& state, const GateWeights& w) {
  const Tensors gates = chunk(xs + linear(state.h, w.weight_hh, w.bias_hh), 4, -1);
  const Tensor i = sigmoid(gates[0]);
  const Tensor f = sigmoid(gates[1]);
  const Tensor g = tanh(gates[2]);
  const Tensor o = sigmoid(gates[3]);
  const Tensor c = f * state.c + i * g;
  return {o * tanh(c), c};
}

namespace {

// The rows of the gates r and z (part 0), and of n (part 1), of weights or biases of three gates.
Tensor gates_of(const Tensor& w, int part) {
  if (!w.defined()) return {};
  const std::int64_t H = w.size(0) / 3;
  return part == 0 ? narrow(w, 0, 0, 2 * H) : narrow(w, 0, 2 * H, H);
}

}  // namespace

Tensor gru_step(const Tensor& xs, const Tensor& h, const GateWeights& w, GruForm form) {
  // A sequence of one step: engine/ops/recurrent.cpp has the lines, and the kernels for them.
  if (form == GruForm::reset_after)
    return squeeze(gru_states(unsqueeze(xs, 0), h, w.weight_hh, w.bias_hh), 0);
  const Tensors x = chunk(xs, 3, -1);
  const Tensors u = chunk(linear(h, gates_of(w.weight_hh, 0), gates_of(w.bias_hh, 0)), 2, -1);
  const Tensor r = sigmoid(x[0] + u[0]);
  const Tensor z = sigmoid(x[1] + u[1]);
  const Tensor n = tanh(x[2] + linear(r * h, gates_of(w.weight_hh, 1), gates_of(w.bias_hh, 1)));
  return (1 - z) * n + z * h;
}

namespace {

std::string widths(const GateWeights& w) {
  return fmt::format("inputs={}, hidden={}, bias={}", w.weight_ih.size(1), w.weight_hh.size(1),
                     w.bias_ih.defined());
}

void check_widths(const char* cell, const GateWeights& w, const Tensor& x, const Tensor& h) {
  const std::int64_t inputs = w.weight_ih.size(1), hidden = w.weight_hh.size(1);
  if (x.rank() != 2 || x.size(1) != inputs)
    fail(fmt::format("{}: x has shape {}, expected (B, {})", cell, x.shape().str(), inputs));
  if (h.defined() && h.shape() != Shape{x.size(0), hidden})
    fail(fmt::format("{}: the state has shape {}, expected ({}, {})", cell, h.shape().str(),
                     x.size(0), hidden));
}

// The state, or zeros where none is given.
Tensor or_zeros(const Tensor& h, const Tensor& x, const GateWeights& w) {
  if (h.defined()) return h;
  return zeros({x.size(0), w.weight_hh.size(1)}, {.dtype = x.dtype(), .device = x.device()});
}

}  // namespace

RNNCell::RNNCell(std::int64_t inputs, std::int64_t hidden, RnnFunction f, bool bias, Generator& g)
    : w(1, inputs, hidden, bias, g), function(f) {}

Tensor RNNCell::forward(const Tensor& x, const Tensor& h) {
  check_widths("RNNCell", w, x, h);
  return rnn_step(w.input(x), or_zeros(h, x, w), w, function);
}

std::string RNNCell::details() const {
  return widths(w) + (function == RnnFunction::tanh ? ", tanh" : ", relu");
}

LSTMCell::LSTMCell(std::int64_t inputs, std::int64_t hidden, bool bias, Generator& g)
    : w(4, inputs, hidden, bias, g) {}

LstmState LSTMCell::forward(const Tensor& x, const LstmState& state) {
  check_widths("LSTMCell", w, x, state.h);
  check_widths("LSTMCell", w, x, state.c);
  return lstm_step(w.input(x), {or_zeros(state.h, x, w), or_zeros(state.c, x, w)}, w);
}

std::string LSTMCell::details() const { return widths(w); }

GRUCell::GRUCell(std::int64_t inputs, std::int64_t hidden, GruForm f, bool bias, Generator& g)
    : w(3, inputs, hidden, bias, g), form(f) {}

Tensor GRUCell::forward(const Tensor& x, const Tensor& h) {
  check_widths("GRUCell", w, x, h);
  return gru_step(w.input(x), or_zeros(h, x, w), w, form);
}

std::string GRUCell::details() const { return widths(w) + ", " + name_of(form); }

}  // namespace labgrad::nn
