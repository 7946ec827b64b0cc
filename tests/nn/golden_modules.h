#pragma once
// Modules against tests/golden/ops.json: the file's weights go in by name, the outputs and the
// gradients of everything come out.

#include <functional>

#include "nn/module.h"
#include "tests/engine/ops/golden_ops.h"

namespace labgrad::tests {

// Puts the inputs that have the name of a parameter into the module, as f64 leaves.
inline void load_by_name(nn::Module& module, Named& inputs) {
  module.to(f64);
  for (auto& [name, parameter] : module.named_parameters()) {
    REQUIRE(inputs.contains(name));
    NoGrad no_grad;
    parameter.copy_(inputs[name]);
    inputs[name] = parameter;  // its gradient is compared under this name
  }
}

// Runs each case of `op`: run(attrs, inputs) returns the outputs by name.
inline int check_golden_outputs(const std::string& op,
                                const std::function<Named(const Json&, Named&)>& run) {
  const Json& file = golden::file("ops.json");
  const Tolerance tolerance{
      .rtol = file.at("rtol").as_double(), .atol = file.at("atol").as_double(), .vacuous = true};
  int cases = 0;
  for (const Json& c : file.at("cases").as_array()) {
    if (c.at("op").as_string() != op) continue;
    ++cases;
    CAPTURE(c.at("name").as_string());
    Named inputs;
    for (const auto& [name, value] : c.at("inputs").as_object())
      inputs[name] = golden_tensor(value);
    const Named outputs = run(c.at("attrs"), inputs);
    for (const auto& [name, want] : c.at("outputs").as_object()) {
      CAPTURE(name);
      REQUIRE(outputs.contains(name));
      CHECK(difference(outputs.at(name), golden_tensor(want), tolerance) == "");
    }
    Tensors ys, dys;
    for (const auto& [name, dy] : c.at("upstream").as_object()) {
      ys.push_back(outputs.at(name));
      dys.push_back(golden_tensor(dy).detach());
    }
    backward(ys, dys);
    for (const auto& [name, want] : c.at("grads").as_object()) {
      CAPTURE(name);
      CHECK(difference(inputs[name].grad(), golden_tensor(want), tolerance) == "");
    }
  }
  return cases;
}

}  // namespace labgrad::tests
