#pragma once
// The two sides of a gradient check: a function of tensors seen as one function of numbers, its
// values without a graph, and what backward makes of it. engine/gradcheck.h compares them.

#include <string>
#include <vector>

#include "engine/gradcheck.h"

namespace labgrad::detail {

using Numbers = std::vector<double>;

// The central difference, and the slopes to the left and to the right.
struct Slope {
  double central, left, right;
};

// f at given inputs. Its variables are the elements of the f64 inputs, input after input, its
// results those of the floating outputs.
class FlatFunction {
 public:
  // `call`, the check that is made, and `op` begin each message. Error: an f32 input, no f64 input,
  // no floating output.
  FlatFunction(std::string call, const TensorFunction& f, const Tensors& inputs);

  std::int64_t variables() const { return n_in_; }
  std::int64_t results() const { return static_cast<std::int64_t>(at_.size()); }
  const std::vector<std::size_t>& wanted() const { return wanted_; }  // which inputs are f64
  const Tensors& inputs() const { return inputs_; }
  const Tensors& outputs() const { return ys_; }

  // The results, with the graph that analytic() goes through.
  const Numbers& at() const { return at_; }
  // The results at the same inputs again, without a graph.
  Numbers again() const { return values(inputs_); }
  // The results where variable j is moved by h, or every variable j by h * v[j].
  Numbers moved(std::size_t j, double h) const;
  Numbers moved(const Numbers& v, double h) const;

  // The gradients by the wanted inputs, 0 where no output depends on them. Cotangents may be
  // undefined: 0.
  Tensors analytic(const Tensors& cotangents) const;
  // The same for one input as the only leaf, by way of backward() and .grad.
  Tensor analytic_alone(std::size_t input, const Tensors& cotangents) const;

  // "input 1, element (0, 2)" for a variable; the same for a result.
  std::string variable(std::size_t j) const;
  std::string result(std::size_t i) const;
  std::vector<std::string> input_names, output_names;

 private:
  Tensors leaves(const std::size_t* only) const;
  Tensors floating_outputs(const Tensors& xs) const;
  Numbers values(const Tensors& xs) const;

  std::string call_;
  const TensorFunction& f_;
  Tensors inputs_;
  std::vector<std::size_t> wanted_;
  std::int64_t n_in_ = 0;
  Tensors xs_, ys_;
  Numbers at_;
};

// The elements of several tensors, one after the other.
Numbers flat(const Tensors& xs);

}  // namespace labgrad::detail
