#pragma once
// Faults planted in the backward halves of ops, to see that the checks find them.

#include <functional>
#include <string>
#include <vector>

#include "engine/samples.h"

namespace labgrad::tests {

// The gradients of all inputs from the inputs, the (first) output and its gradient.
using Gradients = std::function<Tensors(const Tensors& x, const Tensor& y, const Tensor& dy)>;

// The same function with other gradients.
TensorFunction with_gradients(const TensorFunction& f, Gradients gradients);
// The gradients that f really has.
Gradients gradients_of(const TensorFunction& f);

struct Mutant {
  std::string label;  // of the row whose op has the fault
  std::string fault;
  Gradients wrong;
  std::vector<SampleCase> cases = {};  // in place of the row's, where shapes have to be square
};

// One fault each, in all families of ops; those of layer_norm, gelu and cross_entropy are the ones
// that looser checks let through.
std::vector<Mutant> mutants();

// The row as it would be with the fault.
OpSample mutated(const Mutant& mutant);

}  // namespace labgrad::tests
