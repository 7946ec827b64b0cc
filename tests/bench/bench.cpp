#include "tests/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <span>

#include "engine/cpu/scratch.h"
#include "engine/cpu/stream.h"
#include "engine/cpu/threads.h"
#include "engine/cpu/vec.h"
#include "engine/create.h"
#include "engine/io/json.h"
#include "engine/memory.h"

namespace labgrad::bench {

namespace {

using namespace cpu;

// Chains of fused steps that wait for nothing but each other: enough of them to keep two units of
// four cycles busy.
constexpr int chains = 12;
constexpr std::int64_t steps = 20000;

void fused_steps(float start) {
  Vec<float> sum[chains];
  for (int i = 0; i < chains; ++i) sum[i] = splat<Vec<float>>(start + static_cast<float>(i));
  const Vec<float> x = splat<Vec<float>>(0.999f), y = splat<Vec<float>>(0.001f);
  for (std::int64_t s = 0; s < steps; ++s) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) sum[i] = sum[i] * x + y;
  }
  // The compiler must believe that somebody looks at the sums.
  for (const Vec<float>& v : sum) asm volatile("" : : "m"(v) : "memory");
}

std::string amount(double value, const char* unit) {
  return value > 0 ? fmt::format("{:7.1f} {}", value, unit) : std::string();
}

std::string share(double value, double of, const char* what) {
  return value > 0 && of > 0 ? fmt::format("{:3.0f}% {}", 100 * value / of, what) : std::string();
}

// Microseconds with about four digits.
std::string duration(double seconds) {
  const double us = seconds * 1e6;
  return us < 10     ? fmt::format("{:.3f}", us)
         : us < 1000 ? fmt::format("{:.1f}", us)
                     : fmt::format("{:.0f}", us);
}

// Arrays of 160 MiB, as large as the first maps of the digit reader: smaller ones lie in the last
// cache of a large server. The stores go past the caches, for others would move a fourth array.
constexpr std::int64_t triad_size = std::int64_t{40} << 20;
constexpr double triad_bytes = 12.0 * double(triad_size);

Times time_triad(int samples) {
  const Scratch<float> a(triad_size), b(triad_size), c(triad_size);
  const auto in_parallel = [](auto f) {
    parallel_for(triad_size, 65536, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; i += lanes<float>) f(i);
      finish_streams();
    });
  };
  in_parallel([&](std::int64_t i) {
    store(a.get() + i, splat<Vec<float>>(0));
    store(b.get() + i, splat<Vec<float>>(1));
    store(c.get() + i, splat<Vec<float>>(2));
  });
  return Bench::time(
      [&] {
        in_parallel([&](std::int64_t i) {
          stream(a.get() + i, load(b.get() + i) + 0.5f * load(c.get() + i));
        });
      },
      samples);
}

}  // namespace

Tensor noise(const Shape& shape) {
  Tensor x = zeros(shape);
  const std::span<float> values = x.writable_span<float>();
  std::uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;  // Numerical Recipes' linear congruential generator
    value = static_cast<float>(state >> 8) * 0x1p-22f - 2;
  }
  return x;
}

Times Bench::summary(std::vector<double> taken) {
  std::sort(taken.begin(), taken.end());
  return {taken[taken.size() / 2], taken.front(), taken.back(), static_cast<int>(taken.size())};
}

void Bench::measure_limits() {
  const int threads = num_threads();
  const double fused = double(threads) * chains * steps * 2 * lanes<float>;
  const Times peak = time(
      [&] {
        parallel_for(threads, 1, [](std::int64_t begin, std::int64_t) {
          fused_steps(static_cast<float>(begin));
        });
      },
      options_.samples);
  // The limit is the best that was seen; the rows are medians.
  limits_.flops = fused / peak.low;

  const Times triad = time_triad(options_.samples);
  limits_.bytes = triad_bytes / triad.low;
  release_cached_memory();
  fmt::print(
      "\nthreads: {}; floats in a register: {}; microseconds a call: median (quickest - slowest) "
      "of "
      "{} "
      "samples\n\n",
      threads, lanes<float>, options_.samples);
  print("limit.fma", {fused, 0}, peak);
  print("limit.triad", {0, triad_bytes}, triad);
}

void Bench::print(const std::string& name, Work work, Times times) {
  rows_.push_back({name, num_threads(), work, times, limits_});
  const double flops = work.flops / times.median, bytes = work.bytes / times.median;
  std::string line =
      fmt::format("{:<36} {:>10} {:>23} {:>14} {:>13} {:>9} {:>10}", name, duration(times.median),
                  fmt::format("({} - {})", duration(times.low), duration(times.high)),
                  amount(flops * 1e-9, "GFLOP/s"), amount(bytes * 1e-9, "GB/s"),
                  share(flops, limits_.flops, "fma"), share(bytes, limits_.bytes, "triad"));
  line.erase(line.find_last_not_of(' ') + 1);
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void Bench::write(const std::string& path) const {
  Json list = Json::array();
  for (const Row& row : rows_) {
    Json entry = Json::object({{"name", row.name},
                               {"threads", row.threads},
                               {"unit", "s"},
                               {"median", row.times.median},
                               {"min", row.times.low},
                               {"max", row.times.high},
                               {"samples", row.times.samples}});
    const double flops = row.work.flops / row.times.median;
    const double bytes = row.work.bytes / row.times.median;
    if (flops > 0) {
      entry.set("gflops_per_second", flops * 1e-9);
      entry.set("fma_fraction", flops / row.limits.flops);
    }
    if (bytes > 0) {
      entry.set("gbytes_per_second", bytes * 1e-9);
      entry.set("triad_fraction", bytes / row.limits.bytes);
    }
    list.push_back(std::move(entry));
  }
  write_json(path, list);
}

}  // namespace labgrad::bench
