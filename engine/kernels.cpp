#include "engine/kernels.h"

#include "engine/cpu/cpu.h"
#include "engine/naive/naive.h"

namespace labgrad {

const Kernels& kernels(Device device) {
  static const Naive naive;
  static const Cpu cpu;
  return device == Device::naive ? naive : cpu;
}

}  // namespace labgrad
