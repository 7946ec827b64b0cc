#include "labs/autograd/stopwatch.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace labgrad::labs::autograd {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double nanoseconds_each(const std::function<void()>& work, double round) {
  const auto run = [&](std::int64_t calls) {
    return seconds([&] {
      for (std::int64_t i = 0; i < calls; ++i) work();
    });
  };
  std::int64_t calls = 1;
  while (run(calls) < round / 4 && calls < (std::int64_t{1} << 30)) calls *= 2;
  double best = run(calls);
  for (int i = 0; i < 4; ++i) best = std::min(best, run(calls));
  return 1e9 * best / static_cast<double>(calls);
}

std::optional<double> stack_limit_bytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace labgrad::labs::autograd
