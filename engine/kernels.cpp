#include "engine/kernels.h"

#include "engine/accelerator.h"
#include "engine/cpu/cpu.h"
#include "engine/naive/naive.h"

namespace labgrad {

const Kernels& kernels(Device device) {
  static const Naive naive;
  static const Cpu cpu;
  if (device == Device::cpu) return cpu;
  if (device == Device::naive) return naive;
  return accelerator(device).kernels();
}

}  // namespace labgrad
