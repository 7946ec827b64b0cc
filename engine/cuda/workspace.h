#pragma once
// Memory of the device for what one kernel leaves to the next, dense and not initialised.

#include "engine/kernels.h"

namespace labgrad {

class Workspace {
 public:
  // Error: out of memory.
  Workspace(const Shape& shape, DType dtype);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  const Array& array() const { return array_; }

 private:
  std::size_t bytes_;
  Array array_;
};

}  // namespace labgrad
