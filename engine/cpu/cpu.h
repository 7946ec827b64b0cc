#pragma once
// The fast kernels of the host: vector code (vec.h) on all cores (threads.h). What is not
// overridden here falls back to the specification.

#include "engine/naive/naive.h"

namespace labgrad {

class Cpu : public Naive {
 public:
  // gemm.cpp
  void gemm(const Array& c, const Array& a, const Array& b, bool accumulate) const override;
};

}  // namespace labgrad
