#include "nn/module.h"

#include <doctest/doctest.h>

#include "engine/engine.h"
#include "nn/activation.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/encoder.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/optim.h"
#include "nn/recurrent.h"
#include "tests/check_close.h"

using namespace labgrad;
using namespace labgrad::tests;

namespace {

// An embedding whose table is the output layer's weight as well, and a counter that is not trained.
struct Tied : nn::Module {
  nn::Embedding embed{5, 3};
  nn::Linear out{3, 5};
  nn::Dropout drop{0.5};
  Tensor seen = zeros({2});

  Tied() { out.weight = embed.weight; }
  Tensor forward(const Tensor& ids) { return out(drop(embed(ids))); }
  void members(nn::Members& m) override {
    m("embed", embed);
    m("out", out);
    m("drop", drop);
    m.buffer("seen", seen);
  }
  std::string kind() const override { return "Tied"; }
};

std::vector<std::string> names(const std::vector<nn::NamedTensor>& list) {
  std::vector<std::string> all;
  for (const auto& [name, t] : list) all.push_back(name);
  return all;
}

}  // namespace

TEST_CASE("Module: names, in the order of members(); tied weights count once") {
  Tied model;
  CHECK(names(model.named_parameters()) == std::vector<std::string>{"embed.weight", "out.bias"});
  CHECK(names(model.named_buffers()) == std::vector<std::string>{"seen"});
  CHECK(names(model.state_dict()) ==
        std::vector<std::string>{"embed.weight", "out.weight", "out.bias", "seen"});
  CHECK(model.parameter_count() == 15 + 5);
  CHECK(model.parameter_count_by_part() ==
        std::vector<std::pair<std::string, std::int64_t>>{{"embed", 15}, {"out", 5}});
  CHECK(nn::Linear(2, 3, {.bias = false}).parameters().size() == 1);
}

TEST_CASE("Module: tied weights get the sum of both gradients and one step") {
  Tied model;
  model.eval();
  const Tensor ids = tensor({1, 2}), targets = tensor({2, 0});
  auto loss = [&] { return cross_entropy(model.forward(ids), targets); };
  optim::SGD sgd(model.parameters(), {.lr = 0.5});
  const Tensor before = clone(model.embed.weight.detach());
  loss().backward();
  const Tensor gradient = clone(model.embed.weight.grad());
  sgd.step();
  CHECK(difference(model.out.weight, before - gradient * 0.5, {.rtol = 1e-6, .atol = 1e-7}) == "");
  model.to(f64);
  CHECK(model.out.weight.ref() == model.embed.weight.ref());
  CHECK(model.out.weight.dtype() == f64);
  CHECK(sgd.parameters()[0].ref() == model.embed.weight.ref());
}

TEST_CASE("Module: state_dict goes round, and load_state_dict lists all that does not fit") {
  Tied a, b;
  CHECK(bit_difference(a.embed.weight, b.embed.weight) != "");
  b.load_state_dict(a.state_dict());
  CHECK(bit_difference(a.embed.weight, b.embed.weight) == "");
  CHECK(bit_difference(a.out.bias, b.out.bias) == "");
  CHECK(!a.embed.weight.shares_storage(b.embed.weight));

  auto state = a.state_dict();
  state[0].second = zeros({4, 3});
  state.erase(state.begin() + 2);
  state.emplace_back("head.weight", zeros({1}));
  const Tensor before = clone(b.out.bias.detach());
  try {
    b.load_state_dict(state);
    FAIL("no error");
  } catch (const Error& e) {
    const std::string text = e.what();
    CHECK(text.find("misfit: embed.weight is f32 (4, 3), expected f32 (5, 3)") !=
          std::string::npos);
    CHECK(text.find("missing: out.bias, f32 (5,)") != std::string::npos);
    CHECK(text.find("unexpected: head.weight, f32 (1,)") != std::string::npos);
  }
  CHECK(bit_difference(b.out.bias, before) == "");
}

TEST_CASE("Evaluating: each part is as before afterwards, also when left by an exception") {
  Tied model;
  model.drop.training = false;
  {
    const nn::Evaluating evaluating(model);
    CHECK(!model.training);
    CHECK(!model.embed.training);
  }
  CHECK(model.training);
  CHECK(model.embed.training);
  CHECK(!model.drop.training);
  model.train();
  try {
    const nn::Evaluating evaluating(model);
    throw std::runtime_error("stop");
  } catch (const std::runtime_error&) {}
  CHECK(model.drop.training);
  CHECK(model.drop.p == 0.5);
  const Tensor ids = tensor({0, 1, 2, 3});
  CHECK(bit_difference(model.forward(ids), model.forward(ids)) != "");  // dropout is back
}

TEST_CASE("Module: printed as a tree") {
  nn::EncoderBlock block(8, 2, 16);
  const std::string text = block.str();
  CHECK(text.find("EncoderBlock()  600 parameters\n") == 0);
  CHECK(text.find("\n  attn: MultiHeadAttention(d_model=8, heads=2)") != std::string::npos);
  CHECK(text.find("\n    q: Linear(in=8, out=8, bias=true)  72 parameters") != std::string::npos);
  CHECK(text.find("\n    0: Linear(in=8, out=16, bias=true)") != std::string::npos);
}

TEST_CASE("Module: zero_grad, devices and dtypes") {
  nn::Sequential model{nn::Linear(3, 4), nn::Tanh(), nn::LayerNorm(4), nn::Linear(4, 1)};
  const Tensor x = randn({5, 3});
  sum(model(x)).backward();
  CHECK(model.parameters()[0].grad().defined());
  model.zero_grad();
  for (const Tensor& p : model.parameters()) CHECK(!p.grad().defined());

  const Tensor fast = model(x);
  model.to(Device::naive);
  CHECK(difference(to(model(to(x, Device::naive)), Device::cpu), fast,
                   {.rtol = 1e-5, .atol = 1e-6}) == "");
  model.to(f64);
  CHECK(model(to(to(x, Device::naive), f64)).dtype() == f64);
  CHECK_THROWS_AS(model.to(i64), Error);
  CHECK_THROWS_AS(model[4], Error);
  CHECK_THROWS_AS(nn::Embedding(3, 2, {.padding_idx = 3}), Error);
}

TEST_CASE("Dropout: survivors are scaled by 1/(1-p), in training alone") {
  nn::Dropout drop(0.1);
  const Tensor ones_in = ones({1000, 1000}, {.requires_grad = true});
  const Tensor y = drop(ones_in);
  for (const float v : {max(y).item<float>()}) CHECK(v == doctest::Approx(1 / 0.9).epsilon(1e-6));
  CHECK(mean(y).item() == doctest::Approx(1).epsilon(0.002));
  sum(y).backward();
  CHECK(bit_difference(ones_in.grad(), y.detach()) == "");  // the same mask
  drop.eval();
  CHECK(bit_difference(drop(ones_in), ones_in) == "");
  drop.train();
  drop.p = 1;
  CHECK(max(abs(drop(ones_in))).item() == 0);
  drop.p = 0;
  CHECK(bit_difference(drop(ones_in), ones_in) == "");
}

// Each step left something behind: a node that owned its own output, or a loss kept with its graph.
TEST_CASE("Module: a training keeps neither nodes nor bytes") {
  manual_seed(1);
  nn::EncoderBlock block(4, 2, 8);
  nn::GRU gru(4, 3, {.layers = 2, .bidirectional = true, .dropout = 0.5, .batch_first = true});
  Tensors parameters = block.parameters();
  for (const Tensor& p : gru.parameters()) parameters.push_back(p);
  optim::Adam adam(parameters);
  const Tensor x = randn({2, 3, 4});
  double total = 0;
  auto step = [&] {
    adam.zero_grad();
    const Tensor loss = mean(square(gru.forward(block.forward(x).out).out));
    loss.backward();
    adam.step();
    total += loss.item();
  };
  step();
  const std::int64_t nodes = live_nodes();
  const std::size_t bytes = memory_stats().live;
  for (int i = 0; i < 10; ++i) {
    step();
    CHECK(live_nodes() == nodes);
    CHECK(memory_stats().live == bytes);
  }
  CHECK(total > 0);
}
