#pragma once
// Parallel loops on a pool of our own threads.
//
// The pool starts with the first loop that pays and lives as long as the process. A loop is cut
// into chunks whose borders depend on its size alone, so that a result is the same bits for every
// number of threads; which thread takes which chunk is left to chance.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace labgrad {

// How many threads parallel loops may use, the calling one included. At first LABGRAD_THREADS from
// the environment, or one for each processor. Error: LABGRAD_THREADS is not a number in 1 .. 1024.
int num_threads();

// Changes it; waits for loops under way. Error: n outside 1 .. 1024; called inside a parallel loop.
void set_num_threads(int n);

namespace detail {
using ChunkFunction = void (*)(void* context, std::int64_t begin, std::int64_t end);
void run_chunks(std::int64_t n, std::int64_t grain, ChunkFunction f, void* context);
}  // namespace detail

// Calls f(begin, end) for the chunks [0, grain), [grain, 2 grain), ... of [0, n), on several
// threads if there are several chunks. f must not depend on the order. A loop inside a loop, and
// one that finds the pool busy with another thread's loop, runs on the calling thread alone. The
// first exception of f ends the loop and reaches the caller. Allocates nothing.
template <class F>
void parallel_for(std::int64_t n, std::int64_t grain, F&& f) {
  if (n <= 0) return;
  if (n <= grain) {
    f(std::int64_t{0}, n);
    return;
  }
  using Body = std::remove_reference_t<F>;
  auto call = [](void* context, std::int64_t begin, std::int64_t end) {
    (*static_cast<Body*>(context))(begin, end);
  };
  detail::run_chunks(n, std::max<std::int64_t>(grain, 1), call,
                     const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

// How many pieces of size `by` cover n.
constexpr std::int64_t divide_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

}  // namespace labgrad
