#pragma once
// Modules against tests/golden/ops.json: the file's weights go in by name, the outputs and the
// gradients of everything come out.

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

}  // namespace labgrad::tests
