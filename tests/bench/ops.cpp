// Ops with their graph nodes, forward alone and forward with backward; and the layers of the labs.

#include <cstdint>
#include <functional>

#include "engine/engine.h"
#include "nn/recurrent.h"
#include "tests/bench/bench.h"

namespace labgrad::bench {

namespace {

// One row without a graph, one with it and its backward pass. f gives the result; the backward
// pass starts from a gradient of ones, as PyTorch's figures do that these are compared with.
void both(Bench& bench, const std::string& name, Tensors parameters,
          const std::function<Tensor()>& f) {
  bench.row(name + " fwd", {}, [&] {
    const NoGrad guard;
    f();
  });
  if (!bench.wants(name + " fwd+bwd")) return;
  for (Tensor& p : parameters) p.requires_grad_();
  const Tensor dy = ones_like(f());
  bench.row(name + " fwd+bwd", {}, [&] {
    f().backward(dy);
    for (Tensor& p : parameters) p.zero_grad();
  });
}

Tensor whole_numbers(const Shape& shape, std::int64_t high) {
  Generator random(3);
  Tensor x = zeros(shape, {.dtype = i64});
  random.random_ints(x.writable_span<std::int64_t>(), 0, high);
  return x;
}

// The cost of a node: (a*b + c).sum() of tensors so small that the arithmetic hardly counts.
void overhead(Bench& bench) {
  Tensor a = noise({8, 8}), b = noise({8, 8}), c = noise({8, 8});
  auto small = [&] { return sum(a * b + c); };
  bench.row("op.small fwd", {}, [&] {
    const NoGrad guard;
    small();
  });
  for (Tensor* t : {&a, &b, &c}) t->requires_grad_();
  bench.row("op.small graph", {}, [&] { small(); });
  bench.row("op.small fwd+bwd", {}, [&] {
    small().backward();
    for (Tensor* t : {&a, &b, &c}) t->zero_grad();
  });
}

void layers(Bench& bench) {
  const Tensor scores = noise({128, 21}), heads = noise({64, 4, 20, 20}), x = noise({64, 20, 32});
  both(bench, "softmax.128x21", {scores}, [&] { return softmax(scores, -1); });
  both(bench, "softmax.64x4x20x20", {heads}, [&] { return softmax(heads, -1); });
  const Tensor w = ones({32}), b = zeros({32});
  both(bench, "layer_norm.64x20x32", {x, w, b}, [&] { return layer_norm(x, {32}, w, b); });

  const Tensor few = noise({13, 32}), many = noise({7855, 64});
  const Tensor at_few = whole_numbers({128, 9}, 13), at_many = whole_numbers({15, 128}, 7855);
  both(bench, "embedding.13x32.of.128x9", {few}, [&] { return embedding(few, at_few); });
  both(bench, "embedding.7855x64.of.15x128", {many}, [&] { return embedding(many, at_many); });

  const Tensor small = noise({1152, 13}), large = noise({1792, 5893});
  const Tensor to_small = whole_numbers({1152}, 13), to_large = whole_numbers({1792}, 5893);
  both(bench, "cross_entropy.1152x13", {small}, [&] { return cross_entropy(small, to_small); });
  both(bench, "cross_entropy.1792x5893", {large}, [&] { return cross_entropy(large, to_large); });

  // The gates of a reader's decoder, and the hidden layer of the classifier.
  const Tensor gates = noise({128, 192}), hidden = noise({128, 256});
  for (const auto& [label, input] : {std::pair{"128x192", gates}, std::pair{"128x256", hidden}}) {
    const Tensor value = input;
    const std::string at = std::string(".") + label;
    both(bench, "exp" + at, {value}, [=] { return exp(value); });
    both(bench, "tanh" + at, {value}, [=] { return tanh(value); });
    both(bench, "sigmoid" + at, {value}, [=] { return sigmoid(value); });
    both(bench, "dropout" + at, {value}, [=] { return dropout(value, 0.1, true); });
  }

  const Tensor in = noise({1280, 64}), weight = noise({192, 64}), bias = noise({192});
  both(bench, "linear.1280x64-192", {in, weight, bias}, [&] { return linear(in, weight, bias); });
}

void recurrent(Bench& bench) {
  struct Case {
    const char* name;
    std::int64_t inputs, hidden, batch, steps;
    nn::RecurrentOptions options;
  };
  for (const Case& c : {Case{"gru.32-64.T9.b128", 32, 64, 128, 9, {}},
                        Case{"gru.bi.128-64.T21.b128", 128, 64, 128, 21, {.bidirectional = true}},
                        Case{"gru.3x.64-128.T15.b128", 64, 128, 128, 15, {.layers = 3}}}) {
    if (!bench.wants(std::string(c.name) + " fwd") &&
        !bench.wants(std::string(c.name) + " fwd+bwd"))
      continue;
    Generator random(5);
    nn::GRU gru(c.inputs, c.hidden, c.options, nn::GruForm::reset_after, random);
    Tensors parameters{noise({c.steps, c.batch, c.inputs})};
    for (const Tensor& p : gru.parameters()) parameters.push_back(p);
    both(bench, c.name, parameters, [&] { return gru.forward(parameters[0]).out; });
  }
}

void cell(Bench& bench) {
  if (!bench.wants("gru_cell.160-64.b128 fwd") && !bench.wants("gru_cell.160-64.b128 fwd+bwd"))
    return;
  manual_seed(5);
  nn::GRUCell gru(160, 64);
  const Tensor x = noise({128, 160}), h = noise({128, 64});
  Tensors parameters{x, h};
  for (const Tensor& p : gru.parameters()) parameters.push_back(p);
  both(bench, "gru_cell.160-64.b128", parameters, [&] { return gru.forward(x, h); });
}

}  // namespace

void bench_ops(Bench& bench) {
  overhead(bench);
  layers(bench);
  recurrent(bench);
  cell(bench);
}

}  // namespace labgrad::bench
