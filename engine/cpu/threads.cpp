#include "engine/cpu/threads.h"

#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/error.h"

namespace labgrad {
namespace {

constexpr int max_threads = 1024;

// Set while this thread runs chunks: a loop inside a loop stays on its thread.
thread_local bool inside_loop = false;

// A thread that waits first spins for some ten microseconds, since a loop often follows a loop,
// and then sleeps: with more threads than processors, spinning longer would hold up those who work.
constexpr int spins_before_sleep = 2000;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

struct Job {
  std::int64_t n = 0, grain = 1, chunks = 0;
  detail::ChunkFunction f = nullptr;
  void* context = nullptr;
};

void run_chunk(const Job& job, std::int64_t chunk) {
  const std::int64_t begin = chunk * job.grain;
  job.f(job.context, begin, std::min(begin + job.grain, job.n));
}

// One job at a time. Workers come and go: the job is open to whoever is awake, and its owner takes
// chunks like everyone else, so a worker that wakes late costs nothing. The owner closes the job
// when no chunk is left and waits only for those inside. Each pair of flags below is written by one
// side and then read by the other in sequentially consistent order, so one of the two always sees
// the other's write: (open_, inside_), (turn_, sleepers_), (owner_sleeps_, inside_).
class Pool {
 public:
  // False: another thread owns the pool, nothing was done.
  bool try_run(const Job& job, int threads) {
    std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner) return false;
    start(threads - 1);
    job_ = job;
    next_.store(0, std::memory_order_relaxed);
    open_.store(true);
    turn_.fetch_add(1);
    wake(job.chunks - 1);
    take_chunks();
    open_.store(false);
    wait_until_empty();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return true;
  }

  // Ends all workers; the next job starts as many as it needs.
  void stop() {
    std::lock_guard owner(owner_);
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      turn_.fetch_add(1);
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    stopping_ = false;
  }

 private:
  void start(int count) {
    try {
      while (static_cast<int>(workers_.size()) < count)
        workers_.emplace_back([this, seen = turn_.load()] { work(seen); });
    } catch (const std::system_error&) {
      // The system gives no more threads; those at hand do the work.
    }
  }

  void wake(std::int64_t wanted) {
    const std::int64_t sleeping = sleepers_.load();
    if (sleeping == 0) return;
    { std::lock_guard lock(mutex_); }  // whoever counted himself is now waiting, or has seen turn_
    for (std::int64_t i = 0; i < std::min(sleeping, wanted); ++i) wake_.notify_one();
  }

  void work(std::uint64_t seen) {
    inside_loop = true;
    for (;;) {
      wait_for_turn(seen);
      seen = turn_.load();
      if (stopping_.load()) return;
      inside_.fetch_add(1);
      if (open_.load()) take_chunks();
      if (inside_.fetch_sub(1) == 1 && owner_sleeps_.load()) {
        { std::lock_guard lock(mutex_); }
        done_.notify_one();
      }
    }
  }

  void wait_for_turn(std::uint64_t seen) {
    for (int i = 0; i < spins_before_sleep; ++i) {
      if (turn_.load() != seen) return;
      pause_briefly();
    }
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    wake_.wait(lock, [&] { return turn_.load() != seen; });
    sleepers_.fetch_sub(1);
  }

  void wait_until_empty() {
    for (int i = 0; i < spins_before_sleep; ++i) {
      if (inside_.load() == 0) return;
      pause_briefly();
    }
    std::unique_lock lock(mutex_);
    owner_sleeps_.store(true);
    done_.wait(lock, [&] { return inside_.load() == 0; });
    owner_sleeps_.store(false);
  }

  void take_chunks() {
    try {
      for (;;) {
        const std::int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= job_.chunks) return;
        run_chunk(job_, chunk);
      }
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      next_.store(job_.chunks, std::memory_order_relaxed);
    }
  }

  std::mutex owner_;
  std::vector<std::thread> workers_;
  Job job_;
  std::exception_ptr error_;

  // Apart from each other, for they are written by different threads at different times.
  alignas(64) std::atomic<std::int64_t> next_{0};
  alignas(64) std::atomic<std::uint64_t> turn_{0};
  std::atomic<bool> open_{false}, stopping_{false};
  alignas(64) std::atomic<int> inside_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> owner_sleeps_{false};
  std::mutex mutex_;
  std::condition_variable wake_, done_;
};

// Never destroyed: workers may still sleep in it while the process ends.
Pool& pool() {
  static Pool& p = *new Pool;
  return p;
}

int checked_count(std::int64_t n, const std::string& given) {
  if (n < 1 || n > max_threads)
    fail(given + ": the number of threads must be a whole number from 1 to " +
         std::to_string(max_threads));
  return static_cast<int>(n);
}

int initial_count() {
  if (const char* text = std::getenv("LABGRAD_THREADS")) {
    const std::string_view view = text;
    int n = 0;
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), n);
    if (error != std::errc{} || end != view.data() + view.size()) n = 0;
    return checked_count(n, "LABGRAD_THREADS=" + std::string(view));
  }
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(processors, 1, max_threads);
}

std::atomic<int> count{0};  // 0: not asked for yet

}  // namespace

int num_threads() {
  int n = count.load(std::memory_order_relaxed);
  if (n == 0) {
    const int first = initial_count();
    // Another thread may have set it meanwhile; then that holds.
    if (count.compare_exchange_strong(n, first)) n = first;
  }
  return n;
}

void set_num_threads(int n) {
  checked_count(n, "set_num_threads(" + std::to_string(n) + ")");
  if (inside_loop) fail("set_num_threads: called from inside a parallel loop");
  pool().stop();
  count.store(n);
}

void detail::run_chunks(std::int64_t n, std::int64_t grain, ChunkFunction f, void* context) {
  const Job job{n, grain, (n + grain - 1) / grain, f, context};
  const int threads = num_threads();
  if (threads > 1 && !inside_loop) {
    struct Inside {
      Inside() { inside_loop = true; }
      ~Inside() { inside_loop = false; }
    } guard;
    if (pool().try_run(job, threads)) return;
  }
  for (std::int64_t chunk = 0; chunk < job.chunks; ++chunk) run_chunk(job, chunk);
}

}  // namespace labgrad
