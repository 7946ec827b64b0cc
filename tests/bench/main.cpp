// build/bin/bench: see --help.

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "engine/cpu/threads.h"
#include "engine/create.h"
#include "engine/error.h"
#include "tests/bench/bench.h"

namespace {

using namespace labgrad;

constexpr std::string_view help = R"(usage: bench [--filter NAME] [--threads N] [--samples N]

Times kernels, ops and layers on this machine, and the machine's own limits in the same run: fused
multiply-adds in registers (fma) and the triad a = b + s c in memory (triad).

  --filter NAME   only rows whose name contains NAME (the word alone does the same)
  --threads N     threads to use; otherwise LABGRAD_THREADS or one for each processor, and then
                  once more with one thread what is compared on one (not the convolutions)
  --samples N     samples a row, 9 otherwise
  --one-tensor    makes one tensor and exits: what the row "startup" times
  --help          this text

The table also goes to build/bench.json. Numbers of one run compare well with each other, and those
of a machine that does other work at the same time with nothing.
)";

int number(std::string_view option, std::string_view text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 1)
    fail(std::string(option) + " needs a whole number from 1 on, not '" + std::string(text) + "'");
  return n;
}

void on_any_threads(bench::Bench& bench) {
  bench::bench_gemm(bench);
  bench::bench_kernels(bench);
  bench::bench_ops(bench);
  bench::bench_steps(bench);
}

int run(int argc, char** argv) {
  bench::Options options;
  bool once = num_threads() == 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    auto value = [&]() -> std::string_view {
      if (i + 1 == argc) fail(std::string(option) + " needs a value; see --help");
      return argv[++i];
    };
    if (option == "--help") {
      fmt::print("{}", help);
      return 0;
    } else if (option == "--one-tensor") {
      return zeros({1}).item() == 0 ? 0 : 1;
    } else if (option == "--filter") {
      options.filter = value();
    } else if (option == "--threads") {
      set_num_threads(number(option, value()));
      once = true;
    } else if (option == "--samples") {
      options.samples = number(option, value());
    } else if (!option.starts_with('-') && options.filter.empty()) {
      options.filter = option;
    } else {
      fail("unknown option '" + std::string(option) + "'; see --help");
    }
  }

  bench::Bench bench(options);
  bench.measure_limits();
  const std::size_t limits = bench.rows();
  on_any_threads(bench);
  bench::bench_conv(bench);
  bench::bench_mobilenet(bench);
  bench::bench_readers(bench);
  bench::bench_translation(bench);
  if (bench.rows() == limits) fail("no row's name contains '" + options.filter + "'");
  if (!once) {
    set_num_threads(1);
    bench.measure_limits();
    on_any_threads(bench);
  }
  bench.write("build/bench.json");
  fmt::print("\nwritten to build/bench.json\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench: {}\n", error.what());
    return 1;
  }
}
