#include "labs/common/interrupt.h"

#include <atomic>
#include <csignal>

namespace labgrad::labs {
namespace {

// A lock-free atomic may be written by a signal handler and read by any thread.
std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void labgrad_on_interrupt(int) { stop.store(true); }

}  // namespace

void install_stop_handler() {
  struct sigaction action = {};
  action.sa_handler = labgrad_on_interrupt;
  // Back to the default action after the first signal; an interrupted read or write is resumed.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

bool stop_requested() { return stop.load(std::memory_order_relaxed); }

void request_stop(bool value) { stop.store(value); }

}  // namespace labgrad::labs
