#pragma once
// The sweep: from outputs back to leaves, each node once, in descending order of creation.

#include "engine/tensor.h"

namespace labgrad {

struct GradOptions {
  bool retain_graph = false;
  bool create_graph = false;
  bool allow_unused =
      false;  // an input that the outputs do not depend on gives an undefined Tensor
};

// Adds d(Σ seedᵢ·outputᵢ)/d(leaf) to the grad of every leaf. seeds[i] may be left undefined (or
// seeds be empty) where the output is a single number: it is then 1.
// Errors: an output that no graph leads to; a missing or misshapen seed; a graph already freed.
void backward(const Tensors& outputs, const Tensors& seeds = {}, BackwardOptions options = {});

// The gradients by the inputs (leaves or not); every .grad stays as it is. They may share elements:
// clone() before a change in place. Error: an input that does not matter, unless allow_unused.
Tensors grad(const Tensors& outputs, const Tensors& inputs, const Tensors& seeds = {},
             GradOptions options = {});
Tensor grad(const Tensor& output, const Tensor& input, const Tensor& seed = {},
            GradOptions options = {});

}  // namespace labgrad
