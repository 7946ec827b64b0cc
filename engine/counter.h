#pragma once
// Counters that several threads may change.

#include <atomic>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace labgrad {

// False as soon as the process has a second thread, as far as the C library tells.
inline bool only_thread() {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

// counter += n; the value before. An atomic addition costs some twenty cycles, and a graph of small
// tensors makes dozens of them for each node: where nobody can come between, a load and a store do.
template <class T>
T add_to(std::atomic<T>& counter, T n, std::memory_order order = std::memory_order_relaxed) {
  if (!only_thread()) return counter.fetch_add(n, order);
  const T before = counter.load(std::memory_order_relaxed);
  counter.store(static_cast<T>(before + n), std::memory_order_relaxed);
  return before;
}

}  // namespace labgrad
