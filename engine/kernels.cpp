#include "engine/kernels.h"

#include "engine/naive/naive.h"

namespace labgrad {

const Kernels& kernels(Device) {
  static const Naive naive;
  return naive;
}

}  // namespace labgrad
