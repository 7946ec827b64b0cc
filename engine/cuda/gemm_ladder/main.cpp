// gemm_ladder [SIZE]: each rung of the ladder multiplies two matrices of SIZE x SIZE. On a GPU it
// is timed; in the emulator, whose time says nothing of a GPU, what it reads is counted. Before
// that each rung's result is compared with the plain loop's, exactly: the matrices hold whole
// numbers.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/accelerator.h"
#include "engine/cuda/gemm_ladder/ladder.h"
#include "engine/cuda/simt_traffic.h"

namespace {

using namespace labgrad;
using ladder::Rung;

// A square matrix in the device's memory.
class Matrix {
 public:
  Matrix(Accelerator& device, std::int64_t size, const std::vector<float>& values)
      : device_(device), bytes_(values.size() * sizeof(float)) {
    array = {device.allocate(bytes_), f32, {size, size}, {size, 1}};
    device.upload(array.data, reinterpret_cast<const std::byte*>(values.data()), bytes_);
  }
  ~Matrix() { device_.deallocate(array.data, bytes_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  std::vector<float> values() const {
    std::vector<float> v(bytes_ / sizeof(float));
    device_.download(reinterpret_cast<std::byte*>(v.data()), array.data, bytes_);
    return v;
  }

  Array array;

 private:
  Accelerator& device_;
  std::size_t bytes_;
};

std::vector<float> whole_numbers(std::int64_t size, std::int64_t step) {
  std::vector<float> v(static_cast<std::size_t>(size * size));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(static_cast<std::int64_t>(i) * step % 7 - 3);
  return v;
}

// Does each rung give what the plain loop gives?
bool check(Accelerator& device) {
  constexpr std::int64_t size = 256;
  std::vector<float> x = whole_numbers(size, 5), y = whole_numbers(size, 11);
  std::vector<float> expected(x.size()), nothing(x.size());
  const auto on_host = [](std::vector<float>& v) {
    return Array{reinterpret_cast<std::byte*>(v.data()), f32, {size, size}, {size, 1}};
  };
  kernels(Device::naive).gemm(on_host(expected), on_host(x), on_host(y), false);
  const Matrix a(device, size, x), b(device, size, y);
  bool all = true;
  for (const Rung& rung : ladder::rungs()) {
    const Matrix c(device, size, nothing);
    rung.multiply(c.array, a.array, b.array);
    if (c.values() == expected) continue;
    fmt::print(stderr, "gemm_ladder: {}: the result is wrong\n", rung.name);
    all = false;
  }
  return all;
}

double seconds(Accelerator& device, const Rung& rung, const Matrix& c, const Matrix& a,
               const Matrix& b) {
  double best = 1e30;
  for (int round = 0; round < 5; ++round) {
    device.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    rung.multiply(c.array, a.array, b.array);
    device.synchronize();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (round > 0) best = std::min(best, taken.count());
  }
  return best;
}

int run(std::int64_t size, Device which) {
  Accelerator& device = accelerator(which);
  if (!check(device)) return 1;
  const std::vector<float> some = whole_numbers(size, 5);
  const Matrix a(device, size, some), b(device, size, some), c(device, size, some);
  const auto terms = static_cast<double>(size * size * size);
  fmt::print("{0} x {0} x {0} on {1}: {2} multiply-adds; all results are those of the plain loop\n",
             size, name_of(which), size * size * size);
  if (which == Device::simt)
    fmt::print("for each multiply-add:         {:>10} {:>10} {:>14}\n", "loads", "bytes",
               "shared reads");
  else
    fmt::print("                               {:>10} {:>10}\n", "ms", "TFLOP/s");
  for (const Rung& rung : ladder::rungs()) {
    if (which == Device::simt) {
      const simt::Traffic t =
          simt::count_traffic([&] { rung.multiply(c.array, a.array, b.array); });
      fmt::print("{:<30} {:>10.4f} {:>10.4f} {:>14.4f}\n", rung.name,
                 static_cast<double>(t.loads) / terms, 32 * static_cast<double>(t.sectors) / terms,
                 static_cast<double>(t.shared_reads) / terms);
    } else {
      const double s = seconds(device, rung, c, a, b);
      fmt::print("{:<30} {:>10.3f} {:>10.2f}\n", rung.name, s * 1e3, 2 * terms / s * 1e-12);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Device which = is_built_in(Device::cuda) ? Device::cuda : Device::simt;
  std::int64_t size = which == Device::cuda ? 4096 : 256;
  const std::string asked = argc > 1 ? argv[1] : "";
  if (argc > 2 || (argc > 1 && (asked.empty() || asked.size() > 5 ||
                                asked.find_first_not_of("0123456789") != std::string::npos))) {
    fmt::print(
        "usage: gemm_ladder [SIZE]\n"
        "  multiplies two matrices of SIZE x SIZE, a multiple of 128 ({}), by each rung of\n"
        "  docs/gemm_ladder.md\n",
        size);
    return asked == "--help" ? 0 : 2;
  }
  if (argc > 1) size = std::atoll(argv[1]);
  if (size <= 0 || size % 128 != 0) {
    fmt::print(stderr, "gemm_ladder: SIZE is {}, expected a multiple of 128\n", size);
    return 2;
  }
  try {
    return run(size, which);
  } catch (const NoDevice& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 3;
  } catch (const Error& e) {
    fmt::print(stderr, "gemm_ladder: {}\n", e.what());
    return 1;
  }
}
