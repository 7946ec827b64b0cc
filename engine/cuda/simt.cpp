// The emulator behind simt.h: fibers, barriers, and the bookkeeping of shared elements.

#include "engine/cuda/simt.h"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/counter.h"
#include "engine/cpu/threads.h"
#include "engine/cuda/simt_memory.h"
#include "engine/error.h"

#if defined(__SANITIZE_ADDRESS__)
#define LABGRAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LABGRAD_SANITIZED 1
#endif
#endif

namespace labgrad::simt {
namespace {

constexpr std::size_t stack_bytes = std::size_t{128} << 10;
constexpr int warp_size = 32;
constexpr int max_block = 1024;

enum class State : std::uint8_t { ready, at_block, at_warp, finished };

struct Fiber {
  std::unique_ptr<std::byte[]> stack;
  ucontext_t context;  // where it begins; in sanitised builds, where it goes on
  jmp_buf resume;      // where it goes on
  bool started = false;
  State state = State::finished;
  int line = 0;  // of the barrier at which it waits
  int shuffles = 0;
};

struct Warp {
  bool fresh = false;                                         // not yet run in this block
  std::uint32_t epoch = 0;                                    // counts its barriers
  std::array<std::array<std::uint64_t, warp_size>, 2> slots;  // the even and the odd exchanges
};

std::atomic<int> fixed_schedule{-1};
std::atomic<unsigned> launches{0};

std::string str(dim3 d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

dim3 unravel(std::int64_t i, dim3 size) {
  const auto u = static_cast<unsigned>(i);
  return {u % size.x, u / size.x % size.y, u / size.x / size.y};
}

// Runs blocks, one after another, on this host thread.
class Machine {
 public:
  void run_blocks(const char* kernel, Schedule schedule, Body body, void* context,
                  std::int64_t begin, std::int64_t end);

  void park(State state, int line);
  std::uint64_t exchange(std::uint64_t value, int lane, int line);
  void check_read(Mark& mark, const char* variable, std::int64_t i);
  void check_write(Mark& mark, const char* variable, std::int64_t i);
  int thread() const { return thread_; }
  [[noreturn]] void report(const std::string& what);

 private:
  void run_block();
  void run_fibers();
  bool run_warp(int w);
  void run_plainly(int w);
  bool advance_warp(int w);
  bool pass_block_barrier();
  [[noreturn]] void report_stuck();
  void enter(int thread);
  void resume(int thread);
  void leave();
  void abandon();
  static void fiber_main();

  Fiber& fiber(int thread) { return *fibers_[static_cast<std::size_t>(thread)]; }
  Warp& warp(int w) { return warps_[static_cast<std::size_t>(w)]; }
  // The i-th in the order of the schedule.
  int nth(int i, int n) const { return schedule_ == Schedule::reversed ? n - 1 - i : i; }
  int first_of_warp(int w) const { return w * warp_size + nth(0, warp_size); }
  bool ordered(std::uint32_t clock, std::uint32_t warp_epoch, int other) const;

  const char* kernel_ = "";
  Schedule schedule_ = Schedule::forward;
  Body body_ = nullptr;
  void* context_ = nullptr;
  int threads_ = 0;
  int thread_ = 0;         // the one that runs
  bool in_fiber_ = false;  // or else as a plain call
  std::uint32_t clock_ = 0, block_start_ = 0;
  std::string error_;  // of a fiber, to be thrown outside
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::array<Warp, max_block / warp_size> warps_;
#ifdef LABGRAD_SANITIZED
  ucontext_t scheduler_;
#else
  jmp_buf scheduler_;
#endif
};

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
    block_start_ = ++clock_;
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
    bool moved = false, alive = false;
    for (int i = 0; i < warps; ++i) {
      const int w = nth(i, warps);
      bool again = true;
      while (again) {
        const bool ran = run_warp(w);
        moved = moved || ran;
        again = advance_warp(w) && schedule_ == Schedule::warp_by_warp;
        moved = moved || again;
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
bool Machine::run_warp(int w) {
  bool ran = false;
  if (std::exchange(warp(w).fresh, false)) {
    const int first = first_of_warp(w);
    resume(first);
    if (fiber(first).state == State::finished) {
      run_plainly(w);
      return true;
    }
    ran = true;
  }
  for (int i = 0; i < warp_size; ++i) {
    const int t = w * warp_size + nth(i, warp_size);
    if (fiber(t).state != State::ready) continue;
    resume(t);
    ran = true;
  }
  return ran;
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
  ++clock_;
  return true;
}

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

void Machine::enter(int thread) {
  thread_ = thread;
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

// ---- shared elements ----

// Was what thread `other` did then, a barrier ago for the running thread?
bool Machine::ordered(std::uint32_t clock, std::uint32_t warp_epoch, int other) const {
  if (other == thread_ || clock != clock_) return true;
  const int w = thread_ / warp_size;
  return other / warp_size == w && warps_[static_cast<std::size_t>(w)].epoch != warp_epoch;
}

std::string race(const char* variable, std::int64_t i, const char* did, int other,
                 const char* does) {
  return std::string(variable) + "[" + std::to_string(i) + "] was " + did + " by thread " +
         str(unravel(other, blockDim)) + " and is " + does +
         " by this one without a barrier between";
}

void Machine::check_read(Mark& mark, const char* variable, std::int64_t i) {
  if (mark.written < block_start_)
    report(
        std::string(variable) + "[" + std::to_string(i) +
        "] is read before anyone in the block has written it: is a barrier missing, or a value?");
  if (!ordered(mark.written, mark.written_warp, mark.writer))
    report(race(variable, i, "written", mark.writer, "read"));
  const int w = thread_ / warp_size;
  const std::uint32_t epoch = warp(w).epoch;
  if (mark.read == clock_ && mark.reader / warp_size != w) {
    mark.read_elsewhere = clock_;
    mark.reader_elsewhere = mark.reader;
  }
  mark.read_by_several = mark.read == clock_ && mark.reader / warp_size == w &&
                         mark.read_warp == epoch &&
                         (mark.read_by_several || mark.reader != thread_);
  mark.read = clock_;
  mark.read_warp = epoch;
  mark.reader = static_cast<std::uint16_t>(thread_);
}

void Machine::check_write(Mark& mark, const char* variable, std::int64_t i) {
  if (!ordered(mark.written, mark.written_warp, mark.writer))
    report(race(variable, i, "written", mark.writer, "written"));
  const int w = thread_ / warp_size;
  if (!ordered(mark.read, mark.read_warp, mark.reader))
    report(race(variable, i, "read", mark.reader, "written"));
  if (mark.read_by_several && mark.read == clock_ && mark.read_warp == warp(w).epoch)
    report(race(variable, i, "read", mark.reader, "written"));
  if (mark.read_elsewhere == clock_ && mark.reader_elsewhere / warp_size != w)
    report(race(variable, i, "read", mark.reader_elsewhere, "written"));
  mark.written = clock_;
  mark.written_warp = warp(w).epoch;
  mark.writer = static_cast<std::uint16_t>(thread_);
}

}  // namespace

// ---- what simt.h declares ----

void set_schedule(Schedule schedule) { fixed_schedule = static_cast<int>(schedule); }
void rotate_schedules() { fixed_schedule = -1; }

void report(const char* variable, const char* what) {
  machine().report(std::string(variable) + " " + what);
}

void out_of_bounds(const char* variable, std::int64_t i, std::int64_t low, std::int64_t high) {
  machine().report(std::string(variable) + "[" + std::to_string(i) +
                   "] is out of bounds: permitted are " + std::to_string(low) + " .. " +
                   std::to_string(high - 1));
}

int lane() { return machine().thread() % warp_size; }

std::uint64_t exchange(unsigned mask, std::uint64_t value, int lane, int line) {
  if (mask != 0xffffffffu) machine().report("a shuffle's mask must name all 32 lanes");
  return machine().exchange(value, lane, line);
}

void check_read(Mark& mark, const char* variable, std::int64_t i) {
  machine().check_read(mark, variable, i);
}
void check_write(Mark& mark, const char* variable, std::int64_t i) {
  machine().check_write(mark, variable, i);
}

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
