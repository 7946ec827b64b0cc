#include "engine/cpu/threads.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "engine/error.h"

using namespace labgrad;

namespace {

// Restores the number of threads at the end of a test.
struct Threads {
  int before = num_threads();
  explicit Threads(int n) { set_num_threads(n); }
  ~Threads() { set_num_threads(before); }
};

std::vector<int> visits(std::int64_t n, std::int64_t grain) {
  std::vector<int> seen(static_cast<std::size_t>(n), 0);
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  return seen;
}

}  // namespace

TEST_CASE("[threads] a parallel loop visits every index once") {
  for (int threads : {1, 2, 3, 7}) {
    Threads scope(threads);
    for (std::int64_t n : {0, 1, 2, 63, 64, 65, 1000})
      for (std::int64_t grain : {1, 7, 64, 5000}) {
        CAPTURE(threads);
        CAPTURE(n);
        CAPTURE(grain);
        CHECK(visits(n, grain) == std::vector<int>(static_cast<std::size_t>(n), 1));
      }
  }
}

TEST_CASE("[threads] chunks depend on the size alone") {
  using Chunks = std::set<std::pair<std::int64_t, std::int64_t>>;
  const Chunks expected = {{0, 4}, {4, 8}, {8, 10}};
  for (int threads : {1, 2, 3}) {
    Threads scope(threads);
    Chunks chunks;
    std::mutex mutex;
    parallel_for(10, 4, [&](std::int64_t begin, std::int64_t end) {
      std::lock_guard lock(mutex);
      chunks.insert({begin, end});
    });
    CHECK(chunks == expected);
  }
}

TEST_CASE("[threads] several threads take part") {
  Threads scope(3);
  std::set<std::thread::id> ids;
  std::mutex mutex;
  // Three chunks that wait for each other can only end if three threads hold one each.
  std::atomic<int> arrived{0};
  parallel_for(3, 1, [&](std::int64_t, std::int64_t) {
    ++arrived;
    while (arrived.load() < 3) std::this_thread::yield();
    std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  CHECK(ids.size() == 3);
}

TEST_CASE("[threads] a loop inside a loop runs on its own thread") {
  Threads scope(2);
  std::atomic<int> wrong{0}, total{0};
  parallel_for(8, 1, [&](std::int64_t, std::int64_t) {
    const auto outer = std::this_thread::get_id();
    parallel_for(8, 1, [&](std::int64_t, std::int64_t) {
      if (std::this_thread::get_id() != outer) ++wrong;
      ++total;
    });
  });
  CHECK(wrong == 0);
  CHECK(total == 64);
}

TEST_CASE("[threads] an exception reaches the caller and the pool goes on") {
  for (int threads : {1, 2, 3}) {
    Threads scope(threads);
    for (int round = 0; round < 50; ++round) {
      CHECK_THROWS_WITH_AS(parallel_for(16, 1,
                                        [&](std::int64_t begin, std::int64_t) {
                                          if (begin == 5) throw std::runtime_error("chunk 5");
                                        }),
                           "chunk 5", std::runtime_error);
      CHECK(visits(100, 3) == std::vector<int>(100, 1));
    }
  }
}

TEST_CASE("[threads] several user threads at once") {
  Threads scope(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> users;
  for (int u = 0; u < 3; ++u)
    users.emplace_back([&] {
      for (int round = 0; round < 300; ++round)
        if (visits(64, 4) != std::vector<int>(64, 1)) ++wrong;
    });
  for (int round = 0; round < 20; ++round) set_num_threads(1 + round % 4);
  for (std::thread& user : users) user.join();
  CHECK(wrong == 0);
}

TEST_CASE("[threads] loops after a pause, when the workers sleep") {
  Threads scope(2);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(visits(1000, 10) == std::vector<int>(1000, 1));
  }
}

TEST_CASE("[threads] a wrong number of threads is an error") {
  CHECK_THROWS_AS(set_num_threads(0), Error);
  CHECK_THROWS_AS(set_num_threads(-1), Error);
  CHECK_THROWS_AS(set_num_threads(5000), Error);
  Threads scope(2);
  CHECK_THROWS_WITH_AS(parallel_for(2, 1, [](std::int64_t, std::int64_t) { set_num_threads(3); }),
                       "set_num_threads: called from inside a parallel loop", Error);
  CHECK(num_threads() == 2);
}
