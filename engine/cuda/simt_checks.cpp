// What the emulator watches: accesses, shared elements, arguments, and threads that wait in vain.

#include "engine/cuda/simt_machine.h"
#include "engine/cuda/simt_memory.h"
#include "engine/error.h"

namespace labgrad::simt {

// ---- reports ----

void Machine::report(const std::string& what) {
  const std::string message = std::string("simt: kernel ") + kernel_ + ", block " + str(blockIdx) +
                              ", thread " + str(threadIdx) + ": " + what;
  if (!in_fiber_) {
    abandon();
    fail(message);
  }
  error_ = message;  // an exception cannot leave a fiber
  leave();
  __builtin_unreachable();
}

void report(const char* variable, const char* what) {
  machine().report(std::string(variable) + " " + what);
}

void out_of_bounds(const char* variable, std::int64_t i, std::int64_t low, std::int64_t high) {
  machine().report(std::string(variable) + "[" + std::to_string(i) +
                   "] is out of bounds: permitted are " + std::to_string(low) + " .. " +
                   std::to_string(high - 1));
}

// ---- barriers ----

// Nobody can go on: says who waits where, and for whom.
void Machine::report_stuck() {
  int waiting = 0;
  while (fiber(waiting).state == State::finished) ++waiting;
  const Fiber& at = fiber(waiting);
  const bool warp_only = at.state == State::at_warp;
  const int begin = warp_only ? waiting / warp_size * warp_size : 0;
  const int end = warp_only ? begin + warp_size : threads_;
  int arrived = 0, missing = -1;
  for (int t = begin; t < end; ++t) {
    if (fiber(t).state == at.state && fiber(t).line == at.line)
      ++arrived;
    else if (missing < 0)
      missing = t;
  }
  std::string what = std::string(warp_only ? "a barrier of the warp" : "__syncthreads") +
                     " at line " + std::to_string(at.line) + " is reached by " +
                     std::to_string(arrived) + " of " + std::to_string(end - begin) + " threads";
  if (missing >= 0) {
    what += "; thread " + str(unravel(missing, blockDim));
    what += fiber(missing).state == State::finished
                ? " has returned"
                : " waits at line " + std::to_string(fiber(missing).line);
  }
  enter(waiting);
  report(what);
}

// ---- shared elements ----

void never_written(const char* variable, std::int64_t i) {
  machine().report(
      std::string(variable) + "[" + std::to_string(i) +
      "] is read before anyone in the block has written it: is a barrier missing, or a value?");
}

void race(const char* variable, std::int64_t i, const char* did, std::uint16_t other,
          const char* does) {
  machine().report(std::string(variable) + "[" + std::to_string(i) + "] was " + did +
                   " by thread " + str(unravel(other, blockDim)) + " and is " + does +
                   " by this one without a barrier between");
}

// ---- arguments ----

Extent extent(const Array& a) {
  Extent e{0, 1};
  for (int d = 0; d < a.shape.rank(); ++d) {
    if (a.shape[d] == 0) return {0, 0};
    const std::int64_t reach = (a.shape[d] - 1) * a.strides[d];
    (reach < 0 ? e.low : e.high) += reach;
  }
  return e;
}

void check_argument(const Array& a, DType dtype, const char* name) {
  if (a.dtype != dtype)
    fail(std::string("simt: the argument ") + name + " is " + name_of(a.dtype) +
         ", and the kernel takes " + name_of(dtype));
  const Extent e = extent(a);
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  if (e.low < e.high &&
      !owns(a.data + e.low * size, static_cast<std::size_t>((e.high - e.low) * size)))
    fail(std::string("simt: the argument ") + name + " of shape " + a.shape.str() +
         " does not lie in the device's memory");
}

}  // namespace labgrad::simt
