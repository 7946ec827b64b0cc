#pragma once
// Runs the cases of tests/golden/ops.json: values and gradients as PyTorch computes them.

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "engine/backward.h"
#include "engine/create.h"
#include "tests/check_close.h"
#include "tests/golden.h"

namespace labgrad::tests {

// A tensor of the file: f64, or what its "dtype" says. Floating ones require a gradient.
inline Tensor golden_tensor(const Json& json) {
  const std::vector<std::int64_t> sizes = golden::integers(json.at("shape"));
  const Shape shape{std::span<const std::int64_t>(sizes)};
  const Json* dtype = json.find("dtype");
  if (!dtype) return from_values(golden::doubles(json.at("data")), shape, {.requires_grad = true});
  std::vector<std::int64_t> values;
  for (const Json& v : json.at("data").as_array())
    values.push_back(v == Json(true) ? 1 : v.is_bool() ? 0 : v.as_int());
  return from_values(values, shape, {.dtype = dtype->as_string() == "bool" ? boolean : i64});
}

using Named = std::map<std::string, Tensor>;

// Calls f(attrs, inputs) for each case of `op` and compares the one result and all gradients.
// Returns the number of cases, so that a test can see that it ran.
template <class F>
int check_golden(const std::string& op, F f) {
  const Json& file = golden::file("ops.json");
  const Tolerance tolerance{.rtol = file.at("rtol").as_double(),
                            .atol = file.at("atol").as_double(),
                            .vacuous = true,
                            .equal_nan = true};
  int cases = 0;
  for (const Json& c : file.at("cases").as_array()) {
    if (c.at("op").as_string() != op) continue;
    ++cases;
    CAPTURE(c.at("name").as_string());
    Named inputs;
    for (const auto& [name, value] : c.at("inputs").as_object())
      inputs[name] = golden_tensor(value);
    const Tensor y = f(c.at("attrs"), inputs);
    CHECK(difference(y, golden_tensor(c.at("outputs").at("out")), tolerance) == "");
    const Json* grads = c.find("grads");
    if (!grads || grads->size() == 0) continue;
    y.backward(golden_tensor(c.at("upstream").at("out")).detach());
    for (const JsonMember& grad : grads->as_object()) {
      CAPTURE(grad.key);
      CHECK(difference(inputs[grad.key].grad(), golden_tensor(grad.value), tolerance) == "");
    }
  }
  return cases;
}

}  // namespace labgrad::tests
