#pragma once
// Runs the cases of tests/golden/ops.json: values and gradients as PyTorch computes them.

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <string>

#include "engine/backward.h"
#include "engine/create.h"
#include "engine/ops.h"
#include "tests/check_close.h"
#include "tests/golden.h"

namespace labgrad::tests {

inline Shape golden_shape(const Json& json) {
  const std::vector<std::int64_t> sizes = golden::integers(json.at("shape"));
  return Shape{std::span<const std::int64_t>(sizes)};
}

// A tensor of the file: f64, or what its "dtype" says. Floating ones require a gradient.
inline Tensor golden_tensor(const Json& json) {
  const Shape shape = golden_shape(json);
  const Json* dtype = json.find("dtype");
  if (!dtype) return from_values(golden::doubles(json.at("data")), shape, {.requires_grad = true});
  std::vector<std::int64_t> values;
  for (const Json& v : json.at("data").as_array())
    values.push_back(v == Json(true) ? 1 : v.is_bool() ? 0 : v.as_int());
  return from_values(values, shape, {.dtype = dtype->as_string() == "bool" ? boolean : i64});
}

// Two numbers, of rows and of columns.
inline Plane golden_plane(const Json& pair) {
  const std::vector<std::int64_t> sizes = golden::integers(pair);
  return {sizes[0], sizes[1]};
}

using Named = std::map<std::string, Tensor>;

// A large output is recorded by a sample of its elements and by two sums.
inline void check_output(const Tensor& got, const Json& want, const Tolerance& tolerance) {
  if (want.find("data")) {
    CHECK(difference(got, golden_tensor(want), tolerance) == "");
    return;
  }
  CHECK(got.numel() == golden_shape(want).numel());
  const std::vector<std::int64_t> at = golden::integers(want.at("sample_index"));
  const std::vector<double> sample = golden::doubles(want.at("sample"));
  const Shape shape{static_cast<std::int64_t>(at.size())};
  const Tensor row = reshape(got, {got.numel()});
  CHECK(difference(index_select(row, 0, from_values(at, shape)), from_values(sample, shape),
                   tolerance) == "");
  const std::vector<double> sums{sum(row).item(), sum(row * row).item()};
  const std::vector<double> recorded{want.at("sum").as_double(),
                                     want.at("sum_of_squares").as_double()};
  CHECK(difference(from_values(sums, {2}), from_values(recorded, {2}), tolerance) == "");
}

// Runs each case of `op`: f(attrs, inputs) returns the outputs by name, which are compared, and
// then the gradients of all inputs. f may put another leaf in an input's place (a module's
// parameter). Returns the number of cases, so that a test can see that it ran.
inline int check_golden_outputs(const std::string& op,
                                const std::function<Named(const Json&, Named&)>& f) {
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
    const Named outputs = f(c.at("attrs"), inputs);
    for (const JsonMember& want : c.at("outputs").as_object()) {
      CAPTURE(want.key);
      REQUIRE(outputs.contains(want.key));
      check_output(outputs.at(want.key), want.value, tolerance);
    }
    const Json* grads = c.find("grads");
    if (!grads || grads->size() == 0) continue;
    Tensors ys, dys;
    for (const JsonMember& dy : c.at("upstream").as_object()) {
      ys.push_back(outputs.at(dy.key));
      dys.push_back(golden_tensor(dy.value).detach());
    }
    backward(ys, dys);
    for (const JsonMember& grad : grads->as_object()) {
      CAPTURE(grad.key);
      CHECK(difference(inputs[grad.key].grad(), golden_tensor(grad.value), tolerance) == "");
    }
  }
  return cases;
}

// The same for ops with one result: f(attrs, inputs) returns it.
template <class F>
int check_golden(const std::string& op, F f) {
  return check_golden_outputs(op, [&f](const Json& attrs, Named& inputs) {
    return Named{{"out", f(attrs, inputs)}};
  });
}

}  // namespace labgrad::tests
