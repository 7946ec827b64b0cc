#pragma once
// The fast kernels of the host: vector code (vec.h) on all cores (threads.h). What is not
// overridden here falls back to the specification.

#include "engine/naive/naive.h"

namespace labgrad {

class Cpu : public Naive {
 public:
};

}  // namespace labgrad
