#pragma once
// The order of elements along a dimension, kept on the device.

#include "engine/cuda/workspace.h"

namespace labgrad {

// Sorts each line of x along dim, stably; NaN counts as the largest. x must not be empty.
class Sorted {
 public:
  Sorted(const Array& x, int dim, bool descending);

  // i64, dense: for each line, in row-major order of the other dimensions, the old positions.
  Array order;

 private:
  Workspace first_, second_;
};

}  // namespace labgrad
