#include "engine/cuda/simt_traffic.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engine/cpu/threads.h"
#include "engine/cuda/simt.h"

namespace labgrad::simt {
namespace {

constexpr std::uintptr_t sector = 32;

struct Load {
  std::uintptr_t first, last;  // sectors
};

// Of the block that runs: the loads of each thread, in order. Only one host thread counts.
struct Counter {
  Traffic traffic;
  dim3 block{0};
  std::vector<std::vector<Load>> of_thread;

  void end_block();
};
Counter counter;

void Counter::end_block() {
  std::vector<std::uintptr_t> touched;
  for (std::size_t warp = 0; warp < of_thread.size(); warp += warpSize)
    for (std::size_t n = 0, more = 1; more > 0; ++n) {
      more = 0;
      touched.clear();
      for (std::size_t t = warp; t < std::min(warp + warpSize, of_thread.size()); ++t) {
        if (n >= of_thread[t].size()) continue;
        for (std::uintptr_t s = of_thread[t][n].first; s <= of_thread[t][n].last; ++s)
          touched.push_back(s);
        ++more;
      }
      std::sort(touched.begin(), touched.end());
      traffic.sectors += std::unique(touched.begin(), touched.end()) - touched.begin();
    }
  for (auto& loads : of_thread) loads.clear();
}

}  // namespace

void count_load(const void* first, std::size_t bytes) {
  if (counter.block.x != blockIdx.x || counter.block.y != blockIdx.y ||
      counter.block.z != blockIdx.z)
    counter.end_block();
  counter.block = blockIdx;
  const std::size_t thread =
      threadIdx.x + blockDim.x * (threadIdx.y + std::size_t{blockDim.y} * threadIdx.z);
  if (thread >= counter.of_thread.size()) counter.of_thread.resize(thread + 1);
  const auto at = reinterpret_cast<std::uintptr_t>(first);
  counter.of_thread[thread].push_back({at / sector, (at + bytes - 1) / sector});
  ++counter.traffic.loads;
}

void count_shared_read() { ++counter.traffic.shared_reads; }

Traffic count_traffic(const std::function<void()>& f) {
  const int threads = num_threads();
  set_num_threads(1);
  counter = {};
  counting = true;
  try {
    f();
  } catch (...) {
    counting = false;
    set_num_threads(threads);
    throw;
  }
  counting = false;
  set_num_threads(threads);
  counter.end_block();
  return counter.traffic;
}

}  // namespace labgrad::simt
