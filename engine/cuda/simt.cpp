// The emulator behind simt.h: blocks, fibers and barriers.

#include "engine/cuda/simt_machine.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "engine/counter.h"
#include "engine/cpu/threads.h"
#include "engine/error.h"

namespace labgrad::simt {
namespace {

constexpr std::size_t stack_bytes = std::size_t{128} << 10;

std::atomic<int> fixed_schedule{-1};
std::atomic<unsigned> launches{0};

}  // namespace

Machine& machine() {
  static thread_local Machine m;
  return m;
}

void Machine::run_blocks(const char* kernel, Schedule schedule, Body body, void* context,
                         std::int64_t begin, std::int64_t end) {
  kernel_ = kernel;
  schedule_ = schedule;
  body_ = body;
  context_ = context;
  threads_ = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
  for (std::int64_t b = begin; b < end; ++b) {
    blockIdx = unravel(b, gridDim);
    now.block_start = ++now.clock;
    run_block();
  }
}

void Machine::run_block() {
  while (static_cast<int>(fibers_.size()) < threads_) fibers_.push_back(std::make_unique<Fiber>());
  for (int t = 0; t < threads_; ++t) {
    fiber(t).state = State::ready;
    fiber(t).shuffles = 0;
  }
  for (int w = 0; w < threads_ / warp_size; ++w) warp(w).fresh = true;
  run_fibers();
}

void Machine::run_fibers() {
  const int warps = threads_ / warp_size;
  for (;;) {
    bool alive = false;
    for (int i = 0; i < warps; ++i) {
      const int w = nth(i, warps);
      bool again = true;
      while (again) {
        run_warp(w);
        again = advance_warp(w) && schedule_ == Schedule::warp_by_warp;
      }
    }
    for (int t = 0; t < threads_; ++t) alive = alive || fiber(t).state != State::finished;
    if (!alive) return;
    if (pass_block_barrier()) continue;
    bool ready = false;
    for (int t = 0; t < threads_; ++t) ready = ready || fiber(t).state == State::ready;
    if (!ready) report_stuck();
  }
}

// Resumes the warp's threads that are ready, each to its next barrier. The first one tells whether
// the warp meets any: if it returns without, no other may meet one, and they are plain calls.
void Machine::run_warp(int w) {
  if (std::exchange(warp(w).fresh, false)) {
    const int first = first_of_warp(w);
    resume(first);
    if (fiber(first).state == State::finished) return run_plainly(w);
  }
  for (int i = 0; i < warp_size; ++i) {
    const int t = w * warp_size + nth(i, warp_size);
    if (fiber(t).state == State::ready) resume(t);
  }
}

void Machine::run_plainly(int w) {
  for (int i = 1; i < warp_size; ++i) {
    const int t = w * warp_size + nth(i, warp_size);
    enter(t);
    body_(context_);
    fiber(t).state = State::finished;
  }
}

// If all of the warp's threads are at the same warp barrier, they may go on.
bool Machine::advance_warp(int w) {
  const int line = fiber(w * warp_size).line;
  for (int t = w * warp_size; t < (w + 1) * warp_size; ++t)
    if (fiber(t).state != State::at_warp || fiber(t).line != line) return false;
  for (int t = w * warp_size; t < (w + 1) * warp_size; ++t) fiber(t).state = State::ready;
  ++warp(w).epoch;
  return true;
}

bool Machine::pass_block_barrier() {
  for (int t = 0; t < threads_; ++t)
    if (fiber(t).state != State::at_block || fiber(t).line != fiber(0).line) return false;
  for (int t = 0; t < threads_; ++t) fiber(t).state = State::ready;
  ++now.clock;
  return true;
}

void Machine::enter(int thread) {
  thread_ = thread;
  now.thread = static_cast<std::uint16_t>(thread);
  now.epoch = warp(thread / warp_size).epoch;
  threadIdx = unravel(thread, blockDim);
}

// ---- switching ----
//
// The first time a fiber is entered by its ucontext. From then on _setjmp and _longjmp do, which
// unlike swapcontext call no kernel; AddressSanitizer follows swapcontext alone.

#ifdef LABGRAD_SANITIZED
void Machine::leave() {
  in_fiber_ = false;
  swapcontext(&fiber(thread_).context, &scheduler_);
}
#else
void Machine::leave() {
  in_fiber_ = false;
  if (_setjmp(fiber(thread_).resume) == 0) _longjmp(scheduler_, 1);
}
#endif

void Machine::fiber_main() {
  for (;;) {
    Machine& m = machine();
    m.body_(m.context_);
    m.fiber(m.thread_).state = State::finished;
    m.leave();
  }
}

void Machine::resume(int thread) {
  enter(thread);
  in_fiber_ = true;
  Fiber& f = fiber(thread);
  if (!f.started) {
    if (!f.stack) f.stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = stack_bytes;
    f.context.uc_link = nullptr;
    makecontext(&f.context, &Machine::fiber_main, 0);
  }
  const bool first = !std::exchange(f.started, true);
#ifdef LABGRAD_SANITIZED
  (void)first;
  swapcontext(&scheduler_, &f.context);
#else
  if (_setjmp(scheduler_) == 0) {
    if (first) setcontext(&f.context);
    _longjmp(f.resume, 1);
  }
#endif
  if (error_.empty()) return;
  abandon();
  fail(std::exchange(error_, {}));
}

// After an error the fibers are left where they are, and begin anew in the next block.
void Machine::abandon() {
  for (auto& f : fibers_) f->started = false;
}

void Machine::park(State state, int line) {
  if (!in_fiber_)
    report("a barrier at line " + std::to_string(line) + " is reached, but thread " +
           str(unravel(first_of_warp(thread_ / warp_size), blockDim)) +
           " has returned without meeting one");
  fiber(thread_).state = state;
  fiber(thread_).line = line;
  leave();
}

std::uint64_t Machine::exchange(std::uint64_t value, int lane, int line) {
  // Nobody can be two exchanges ahead of a lane that has not yet read, so two rows of slots do.
  const int w = thread_ / warp_size;
  const auto parity = static_cast<std::size_t>(fiber(thread_).shuffles++ % 2);
  warp(w).slots[parity][static_cast<std::size_t>(thread_ % warp_size)] = value;
  park(State::at_warp, line);
  if (lane < 0 || lane >= warp_size)
    report("a shuffle asks for lane " + std::to_string(lane) + " of 32");
  return warp(w).slots[parity][static_cast<std::size_t>(lane)];
}

// ---- what simt.h declares ----

void set_schedule(Schedule schedule) { fixed_schedule = static_cast<int>(schedule); }
void rotate_schedules() { fixed_schedule = -1; }

int lane() { return machine().thread() % warp_size; }

std::uint64_t exchange(unsigned mask, std::uint64_t value, int lane, int line) {
  if (mask != 0xffffffffu) machine().report("a shuffle's mask must name all 32 lanes");
  return machine().exchange(value, lane, line);
}

void run(const char* kernel, dim3 grid, dim3 block, Body body, void* context) {
  const std::int64_t threads = std::int64_t{block.x} * block.y * block.z;
  const std::int64_t blocks = std::int64_t{grid.x} * grid.y * grid.z;
  if (threads == 0 || threads > max_block || threads % warp_size != 0)
    fail(std::string("simt: kernel ") + kernel + ": a block of " + str(block) + " has " +
         std::to_string(threads) + " threads; expected full warps of 32, at most 1024");
  if (grid.y > 65535 || grid.z > 65535)
    fail(std::string("simt: kernel ") + kernel + ": a grid of " + str(grid) +
         " is too large: y and z end at 65535");
  const int fixed = fixed_schedule;
  const auto schedule =
      static_cast<Schedule>(fixed >= 0 ? static_cast<unsigned>(fixed) : add_to(launches, 1u) % 3);
  // Few blocks at a time, so that the host threads share them evenly.
  parallel_for(blocks, threads * blocks > 4096 ? divide_up(blocks, 16) : blocks,
               [&](std::int64_t begin, std::int64_t end) {
                 gridDim = grid;
                 blockDim = block;
                 machine().run_blocks(kernel, schedule, body, context, begin, end);
               });
}

}  // namespace labgrad::simt

namespace labgrad {

void __syncthreads(int line) { simt::machine().park(simt::State::at_block, line); }
void __syncwarp(unsigned mask, int line) {
  if (mask != 0xffffffffu) simt::machine().report("__syncwarp: the mask must name all 32 lanes");
  simt::machine().park(simt::State::at_warp, line);
}

}  // namespace labgrad
