#pragma once
// For tests of engine/cuda: the device that this build has, and the schedules of the emulator.

#include <optional>

#include "engine/accelerator.h"
#include "engine/cuda/simt.h"

namespace labgrad::tests {

// The device whose kernels are tested: the GPU or the emulator. A plain build has neither, and the
// tests of kernels return at once; those of the emulator itself always run.
inline std::optional<Device> accelerator_device() {
  for (Device d : {Device::cuda, Device::simt})
    if (is_built_in(d)) return d;
  return std::nullopt;
}

// Calls f() once for each schedule of the emulator.
template <class F>
void each_schedule(F f) {
  for (simt::Schedule s :
       {simt::Schedule::forward, simt::Schedule::reversed, simt::Schedule::warp_by_warp}) {
    simt::set_schedule(s);
    f();
  }
  simt::rotate_schedules();
}

}  // namespace labgrad::tests
