// Golden values of the ops whose own tests have none, and who reads the rest of the file.

#include <doctest/doctest.h>

#include <set>

#include "engine/ops.h"
#include "tests/engine/ops/golden_ops.h"

using namespace labgrad;
using tests::check_golden;
using tests::Named;

TEST_CASE("arithmetic: golden values and gradients, with broadcasting") {
  const auto run = [](Tensor (*op)(const Tensor&, const Tensor&, Caller)) {
    return [op](const Json&, Named& in) { return op(in["a"], in["b"], Caller::here()); };
  };
  CHECK(check_golden("add", run(add)) == 3);
  CHECK(check_golden("sub", run(sub)) == 1);
  CHECK(check_golden("mul", run(mul)) == 2);
  CHECK(check_golden("div", run(div)) == 2);
}

TEST_CASE("matmul and linear: golden values and gradients") {
  CHECK(check_golden("matmul", [](const Json&, Named& in) { return matmul(in["a"], in["b"]); }) ==
        5);
  CHECK(check_golden("linear", [](const Json&, Named& in) {
          return linear(in["x"], in["weight"], in["bias"]);
        }) == 1);
}

TEST_CASE("embedding and cat: golden values and gradients") {
  CHECK(check_golden("embedding", [](const Json& attrs, Named& in) {
          const Json& padding = attrs.at("padding_idx");
          return embedding(in["weight"], in["index"],
                           padding.is_null() ? std::nullopt : std::optional(padding.as_int()));
        }) == 2);
  CHECK(check_golden("cat", [](const Json& attrs, Named& in) {
          return cat({in["a"], in["b"]}, attrs.at("dim").as_int());
        }) == 1);
}

TEST_CASE("golden ops: every case has its reader") {
  const std::set<std::string> engine{"add",        "sub",         "mul",
                                     "div",        "matmul",      "linear",
                                     "softmax",    "log_softmax", "masked_softmax",
                                     "relu",       "tanh",        "sigmoid",
                                     "sum",        "mean",        "cross_entropy",
                                     "layer_norm", "embedding",   "masked_fill",
                                     "cat"};
  const std::set<std::string> nn{
      "gru", "lstm", "rnn",   "grucell",        "lstmcell",        "attention",
      "sgd", "adam", "adamw", "clip_grad_norm", "cosine_annealing"};
  const std::set<std::string> images{"conv2d", "max_pool2d", "avg_pool2d", "batch_norm",
                                     "interpolate_bilinear"};
  std::set<std::string> seen;
  for (const Json& c : golden::file("ops.json").at("cases").as_array()) {
    const std::string op = c.at("op").as_string();
    INFO(op);
    CHECK(engine.count(op) + nn.count(op) + images.count(op) == 1);
    seen.insert(op);
  }
  CHECK(seen.size() == engine.size() + nn.size() + images.size());
}
