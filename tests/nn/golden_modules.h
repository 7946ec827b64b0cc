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

// A parameter against tests/golden/torch_rng.json, bit for bit: its data, or their head and
// checksum.
inline void check_golden_parameter(const Tensor& got, const Json& want) {
  const std::vector<std::int64_t> sizes = golden::integers(want.at("shape"));
  CHECK(got.shape() == Shape{std::span<const std::int64_t>(sizes)});
  if (got.dtype() == f64) {
    CHECK(got.to_vector() == golden::doubles(want.at("data")));
    return;
  }
  const std::vector<float> values = got.to_vector<float>();
  if (const Json* data = want.find("data")) {
    CHECK(values == golden::floats(*data));
  } else {
    const std::vector<float> head = golden::floats(want.at("head"));
    CHECK(std::equal(head.begin(), head.end(), values.begin()));
    CHECK(golden::sha256(std::span<const float>(values)) == want.at("sha256_f32le").as_string());
  }
}

// All parameters of a module, by name and in order, against the list "params" of that file.
inline void check_golden_parameters(nn::Module& module, const Json& params) {
  const std::vector<nn::NamedTensor> own = module.named_parameters();
  REQUIRE(own.size() == params.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Json& want = params.as_array()[i];
    CAPTURE(own[i].first);
    CHECK(own[i].first == want.at("name").as_string());
    check_golden_parameter(own[i].second, want);
  }
}

}  // namespace labgrad::tests
