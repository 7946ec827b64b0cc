#pragma once
// Measuring: `make bench` times kernels and ops on this machine and says how near each comes to the
// machine's own limits, which are measured in the same run.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tensor.h"

namespace labgrad::bench {

// What one call does: floating point operations, and bytes that must be read or written at least
// once. 0: not meaningful.
struct Work {
  double flops = 0;
  double bytes = 0;
};

// Seconds a call took: the median, the quickest and the slowest of the samples.
struct Times {
  double median, low, high;
  int samples;
};

struct Limits {
  double flops = 0;  // fused multiply-add in registers, a second
  double bytes = 0;  // triad a = b + s c over arrays that no cache holds, a second
};

struct Options {
  std::string filter;  // rows whose name contains it; all if empty
  int samples = 9;
};

class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}

  bool wants(std::string_view name) const {
    return options_.filter.empty() || name.find(options_.filter) != std::string_view::npos;
  }

  // Times f, prints a row and returns the times, if it is wanted. `calls`: how many operations one
  // f() performs.
  template <class F>
  Times row(const std::string& name, Work work, F&& f, double calls = 1) {
    if (!wants(name)) return {};
    const Times times = time(f, options_.samples, calls);
    print(name, work, times);
    return times;
  }

  // Measures and prints the machine's limits at the present number of threads.
  void measure_limits();
  // All rows so far as a JSON list, whole or not at all. Each row has name, threads, unit, median,
  // min, max and samples; and, where the work is known, gflops_per_second, gbytes_per_second and
  // what fractions of the limits (at as many threads) these are.
  void write(const std::string& path) const;
  std::size_t rows() const { return rows_.size(); }

  // f is warmed up, then repeated until a sample takes some milliseconds.
  template <class F>
  static Times time(F&& f, int samples, double calls = 1) {
    using Clock = std::chrono::steady_clock;
    auto seconds = [&](std::int64_t repeats) {
      const auto start = Clock::now();
      for (std::int64_t i = 0; i < repeats; ++i) f();
      return std::chrono::duration<double>(Clock::now() - start).count();
    };
    f();
    std::int64_t repeats = 1;
    while (seconds(repeats) < 4e-3) repeats *= 2;
    std::vector<double> taken;
    for (int s = 0; s < samples; ++s)
      taken.push_back(seconds(repeats) / (static_cast<double>(repeats) * calls));
    return summary(std::move(taken));
  }

 private:
  struct Row {
    std::string name;
    int threads;
    Work work;
    Times times;
    Limits limits;
  };

  static Times summary(std::vector<double> taken);
  void print(const std::string& name, Work work, Times times);

  Options options_;
  Limits limits_;
  std::vector<Row> rows_;
};

// Numbers between -2 and 2 that look random, made faster than a generator would.
Tensor noise(const Shape& shape);

// Each file of rows.
void bench_conv(Bench& bench);
void bench_gemm(Bench& bench);
void bench_kernels(Bench& bench);
void bench_mobilenet(Bench& bench);
void bench_ops(Bench& bench);
void bench_readers(Bench& bench);
void bench_steps(Bench& bench);
void bench_translation(Bench& bench);

}  // namespace labgrad::bench
