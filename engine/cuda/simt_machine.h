#pragma once
// The inside of the emulator: what runs the blocks of a launch on one host thread. simt.cpp holds
// how threads take turns, simt_checks.cpp what is watched and reported.

#include <setjmp.h>
#include <ucontext.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/simt.h"

#if defined(__SANITIZE_ADDRESS__)
#define LABGRAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LABGRAD_SANITIZED 1
#endif
#endif

namespace labgrad::simt {

inline constexpr int warp_size = 32;
inline constexpr int max_block = 1024;

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

inline std::string str(dim3 d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

inline dim3 unravel(std::int64_t i, dim3 size) {
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
  int thread() const { return thread_; }
  [[noreturn]] void report(const std::string& what);

 private:
  void run_block();
  void run_fibers();
  void run_warp(int w);
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

  const char* kernel_ = "";
  Schedule schedule_ = Schedule::forward;
  Body body_ = nullptr;
  void* context_ = nullptr;
  int threads_ = 0;
  int thread_ = 0;         // the one that runs
  bool in_fiber_ = false;  // or else as a plain call
  std::string error_;      // of a fiber, to be thrown outside
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::array<Warp, max_block / warp_size> warps_;
#ifdef LABGRAD_SANITIZED
  ucontext_t scheduler_;
#else
  jmp_buf scheduler_;
#endif
};

// This host thread's.
Machine& machine();

}  // namespace labgrad::simt
