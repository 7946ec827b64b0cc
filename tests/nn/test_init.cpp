// The draws of modules against PyTorch's: tests/golden/torch_rng.json, "inits".

#include <memory>

#include "nn/batch_norm.h"
#include "nn/conv.h"
#include "nn/embedding.h"
#include "nn/init.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/recurrent.h"
#include "tests/nn/golden_modules.h"

using namespace labgrad;
using namespace labgrad::tests;

namespace {

std::int64_t int_or(const Json& args, const char* key, std::int64_t fallback) {
  const Json* v = args.find(key);
  return v && !v->is_null() ? v->as_int() : fallback;
}
bool bool_or(const Json& args, const char* key, bool fallback) {
  const Json* v = args.find(key);
  return v ? v->as_bool() : fallback;
}

// The module that the file describes; null for those that another page of the course builds.
std::unique_ptr<nn::Module> build(const std::string& kind, const Json& args) {
  const bool bias = bool_or(args, "bias", true);
  if (kind == "Linear")
    return std::make_unique<nn::Linear>(
        args.at("in_features").as_int(), args.at("out_features").as_int(),
        nn::LinearOptions{.bias = bias, .dtype = args.find("dtype") ? f64 : f32});
  if (kind == "Embedding") {
    nn::EmbeddingOptions o;
    if (const Json* p = args.find("padding_idx"); p && !p->is_null()) o.padding_idx = p->as_int();
    return std::make_unique<nn::Embedding>(args.at("num_embeddings").as_int(),
                                           args.at("embedding_dim").as_int(), o);
  }
  if (kind == "LayerNorm") return std::make_unique<nn::LayerNorm>(args.at("features").as_int());
  if (kind == "BatchNorm2d") return std::make_unique<nn::BatchNorm2d>(args.at("features").as_int());
  if (kind == "Conv2d") {
    const std::vector<std::int64_t> kernel = golden::integers(args.at("kernel_size"));
    return std::make_unique<nn::Conv2d>(
        args.at("in_channels").as_int(), args.at("out_channels").as_int(),
        Plane(kernel[0], kernel[1]),
        nn::Conv2dOptions{.groups = int_or(args, "groups", 1), .bias = bias});
  }
  const Json* input = args.find("input_size");
  if (!input) return nullptr;
  const std::int64_t I = input->as_int(), H = args.at("hidden_size").as_int();
  const nn::RecurrentOptions o{.layers = int_or(args, "num_layers", 1),
                               .bidirectional = bool_or(args, "bidirectional", false),
                               .bias = bias};
  if (kind == "GRU") return std::make_unique<nn::GRU>(I, H, o);
  if (kind == "LSTM") return std::make_unique<nn::LSTM>(I, H, o);
  if (kind == "RNN") return std::make_unique<nn::RNN>(I, H, o);
  if (kind == "GRUCell") return std::make_unique<nn::GRUCell>(I, H, nn::GruForm::reset_after, bias);
  if (kind == "LSTMCell") return std::make_unique<nn::LSTMCell>(I, H, bias);
  if (kind == "RNNCell") return std::make_unique<nn::RNNCell>(I, H, nn::RnnFunction::tanh, bias);
  return nullptr;
}

}  // namespace

TEST_CASE("initial weights: the same seed gives PyTorch's, bit for bit, and leaves its stream") {
  int modules = 0;
  for (const Json& init : golden::file("torch_rng.json").at("inits").as_array()) {
    CAPTURE(init.at("name").as_string());
    manual_seed(golden::unsigned_integer(init.at("seed")));
    bool all = true;
    for (const Json& module : init.at("modules").as_array()) {
      const auto built = build(module.at("kind").as_string(), module.at("args"));
      if (!built) {
        all = false;
        break;
      }
      ++modules;
      check_golden_parameters(*built, module.at("params"));
    }
    if (!all) continue;
    for (const Json& next : init.at("next32").as_array())
      CHECK(default_generator().u32() == golden::unsigned_integer(next));
  }
  CHECK(modules >= 15);
}

TEST_CASE("initialisers: bounds and spread") {
  Generator g(5);
  Tensor w = empty({200, 50}, f64, Device::cpu);
  nn::xavier_uniform_(w, 1, g);
  const double bound = std::sqrt(6.0 / 250);
  for (double x : w.to_vector()) CHECK(std::abs(x) <= bound);
  nn::xavier_normal_(w, 2, g);
  double squares = 0;
  for (double x : w.to_vector()) squares += x * x / 10000;
  CHECK(std::sqrt(squares) == doctest::Approx(2 * std::sqrt(2.0 / 250)).epsilon(0.03));
  nn::trunc_normal_(w, 1, 2, 0, 2, g);
  double total = 0;
  for (double x : w.to_vector()) {
    CHECK((x >= 0 && x <= 2));
    total += x / 10000;
  }
  CHECK(total == doctest::Approx(1).epsilon(0.03));
  Tensor row = empty({4}, f32, Device::cpu);
  CHECK_THROWS_AS(nn::kaiming_uniform_(row), Error);
}
