// The emulator: right kernels give their results under every schedule, and each kind of wrong one
// is reported with kernel, block, thread and variable.

#include "engine/cuda/simt.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "engine/cuda/driver.h"
#include "engine/cuda/platform.h"
#include "engine/cuda/simt_memory.h"
#include "tests/engine/cuda/device.h"

namespace labgrad::tests {
namespace {

// n numbers in the emulated device's memory: 0, 1, 2, ...
struct Numbers {
  explicit Numbers(std::int64_t n) {
    array.data = driver::allocate(static_cast<std::size_t>(n) * sizeof(float));
    array.shape = {n};
    array.strides = {1};
    std::iota(begin(), begin() + n, 0.0f);
  }
  ~Numbers() { driver::release(array.data); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  float* begin() const { return array.as<float>(); }
  float operator[](std::int64_t i) const { return begin()[i]; }

  Array array;
};

// What the launch is told, "" if nothing.
template <class... P>
std::string report_of(void (*kernel)(P...), dim3 grid, dim3 block,
                      const std::type_identity_t<P>&... args) {
  try {
    launch("wrong", kernel, grid, block, args...);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

#define CHECK_CONTAINS(text, part) CHECK_MESSAGE((text).find(part) != std::string::npos, (text))

// ---- right kernels ----

__global__ void double_all(Memory<float> x, std::int64_t n) {
  for (std::int64_t i = first_index(); i < n; i += index_step()) x[i] *= 2;
}

// y_b = Σ of block b's 64 numbers: shuffles within the warps, shared memory between them.
__global__ void block_sums(Memory<float> y, Memory<const float> x) {
  shared_array(float, of_warp, 2);
  const int t = static_cast<int>(threadIdx.x);
  float sum = x[first_index()];
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(all_lanes, sum, mask);
  if (t % warpSize == 0) of_warp[t / warpSize] = sum;
  __syncthreads();
  if (t == 0) y[blockIdx.x] = of_warp[0] + of_warp[1];
}

// y_0 = Σ of 32 numbers by the last of two warps; the other has nothing to do.
__global__ void last_warp_sums(Memory<float> y, Memory<const float> x) {
  if (threadIdx.x < 32) return;
  float sum = x[threadIdx.x - 32];
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(all_lanes, sum, mask);
  if (threadIdx.x == 63) y[0] = sum;
}

// y = xᵀ of 8 x 8 in one block of 8 x 8 threads, by way of a tile that is used again.
__global__ void transpose(Memory<float> y, Memory<const float> x, int times) {
  shared_array(float, tile, 8, 9);
  const int i = static_cast<int>(threadIdx.y), j = static_cast<int>(threadIdx.x);
  for (int repeat = 0; repeat < times; ++repeat) {
    tile(i, j) = x[i * 8 + j];
    __syncthreads();
    y[i * 8 + j] = tile(j, i);
    __syncthreads();
  }
}

// Each lane reads its neighbour's number through shared memory: within a warp __syncwarp suffices.
__global__ void rotate_warp(Memory<float> y, Memory<const float> x) {
  shared_array(float, line, 64);
  const int t = static_cast<int>(threadIdx.x);
  line[t] = x[t];
  __syncwarp();
  y[t] = line[t / 32 * 32 + (t + 1) % 32];
}

TEST_CASE("simt: kernels without barriers, with barriers, shuffles and warps of their own") {
  each_schedule([] {
    Numbers x(1000);
    launch("double", double_all, 3, 64, Memory<float>(x.array, "x"), std::int64_t{1000});
    bool doubled = true;
    for (int i = 0; i < 1000; ++i) doubled = doubled && x[i] == static_cast<float>(2 * i);
    CHECK(doubled);

    Numbers a(64 * 50), sums(50);
    launch("sums", block_sums, 50, 64, Memory<float>(sums.array, "y"),
           Memory<const float>(a.array, "x"));
    for (int b = 0; b < 50; ++b) CHECK(sums[b] == static_cast<float>(64 * 64 * b + 2016));

    launch("last_warp_sums", last_warp_sums, 1, 64, Memory<float>(sums.array, "y"),
           Memory<const float>(a.array, "x"));
    CHECK(sums[0] == 496);

    Numbers m(64), t(64);
    launch("transpose", transpose, 1, dim3(8, 8), Memory<float>(t.array, "y"),
           Memory<const float>(m.array, "x"), 3);
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) CHECK(t[i * 8 + j] == m[j * 8 + i]);

    launch("rotate", rotate_warp, 1, 64, Memory<float>(t.array, "y"),
           Memory<const float>(m.array, "x"));
    CHECK(t[31] == 0);
    CHECK(t[32] == 33);
  });
}

// ---- out of bounds ----

__global__ void one_too_far(Memory<float> x) { x[first_index() + 1] = 0; }

__global__ void outside_the_tile(Memory<float> x) {
  shared_array(float, tile, 4, 8);
  const int t = static_cast<int>(threadIdx.x);
  tile(t / 8, t % 8 + t / 31) = x[t];
}

TEST_CASE("simt: an access out of bounds is reported, in device memory and in shared memory") {
  Numbers x(64);
  CHECK(report_of(one_too_far, 2, 32, Memory<float>(x.array, "x")) ==
        "simt: kernel wrong, block (1, 0, 0), thread (31, 0, 0): x[64] is out of bounds: permitted "
        "are 0 .. 63");
  CHECK_CONTAINS(report_of(outside_the_tile, 1, 32, Memory<float>(x.array, "x")),
                 "thread (31, 0, 0): tile[8] is out of bounds: permitted are 0 .. 7");

  // A view reaches as far as its strides do, here backwards.
  Array flipped = x.array;
  flipped.data += 63 * sizeof(float);
  flipped.strides = {-1};
  simt::set_schedule(simt::Schedule::forward);  // the first thread out of bounds is reported
  CHECK_CONTAINS(report_of(one_too_far, 1, 32, Memory<float>(flipped, "flipped")),
                 "flipped[1] is out of bounds: permitted are -63 .. 0");
  simt::rotate_schedules();
}

TEST_CASE("simt: an argument must lie in the device's memory and have the kernel's type") {
  std::vector<float> host(8);
  const Array a{reinterpret_cast<std::byte*>(host.data()), f32, {8}, {1}};
  CHECK_THROWS_WITH_AS(Memory<float>(a, "a"),
                       "simt: the argument a of shape (8,) does not lie in the device's memory",
                       Error);
  Numbers x(8);
  CHECK_THROWS_WITH_AS(Memory<double>(x.array, "x"),
                       "simt: the argument x is f32, and the kernel takes f64", Error);
  CHECK_CONTAINS(report_of(one_too_far, 1, 33, Memory<float>(x.array, "x")),
                 "has 33 threads; expected full warps of 32");
}

// ---- barriers that not all threads reach ----

__global__ void early_return(Memory<float> x) {
  if (threadIdx.x >= 16) return;
  __syncthreads();
  x[threadIdx.x] = 1;
}

__global__ void late_return(Memory<float> x) {
  __syncthreads();
  if (threadIdx.x < 48) __syncthreads();
  x[threadIdx.x] = 1;
}

__global__ void two_barriers(Memory<float> x) {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __syncthreads();
  x[threadIdx.x] = 1;
}

__global__ void half_a_warp(Memory<float> x) {
  if (threadIdx.x % 2 == 0) x[threadIdx.x] = __shfl_xor_sync(all_lanes, x[threadIdx.x], 2);
}

__global__ void narrow_mask(Memory<float> x) {
  x[threadIdx.x] = __shfl_xor_sync(0xffffu, x[threadIdx.x], 1);
}

TEST_CASE("simt: a barrier that only some threads reach is reported") {
  Numbers x(64);
  const Memory<float> m(x.array, "x");
  each_schedule([&] {
    const std::string early = report_of(early_return, 1, 64, m);
    CHECK_CONTAINS(early, "simt: kernel wrong, block (0, 0, 0), thread");
    CHECK_CONTAINS(early, "has returned");
    const std::string late = report_of(late_return, 1, 64, m);
    CHECK_CONTAINS(late, "is reached by 48 of 64 threads; thread (48, 0, 0) has returned");
    const std::string two = report_of(two_barriers, 1, 64, m);
    CHECK_CONTAINS(two, "is reached by 32 of 64 threads; thread (32, 0, 0) waits at line");
    CHECK_CONTAINS(report_of(half_a_warp, 1, 32, m), "has returned");
    CHECK_CONTAINS(report_of(narrow_mask, 1, 32, m), "must name all 32 lanes");
    // The machine is whole after each report.
    Numbers a(64), sum(1);
    launch("sums", block_sums, 1, 64, Memory<float>(sum.array, "y"),
           Memory<const float>(a.array, "x"));
    CHECK(sum[0] == 2016);
  });
}

// ---- shared memory ----

__global__ void no_barrier(Memory<float> y, Memory<const float> x) {
  shared_array(float, line, 64);
  const int t = static_cast<int>(threadIdx.x);
  line[t] = x[t];
  __syncwarp();  // orders this warp's 32 threads, and not the other one's
  y[t] = line[63 - t];
}

__global__ void no_trailing_barrier(Memory<float> y, Memory<const float> x) {
  shared_array(float, line, 64);
  const int t = static_cast<int>(threadIdx.x);
  for (int repeat = 0; repeat < 2; ++repeat) {
    line[t] = x[t];
    __syncthreads();
    y[t] = line[(t + 32) % 64];
  }
}

__global__ void all_write(Memory<float> y) {
  shared_array(float, total, 1);
  total[0] = static_cast<float>(threadIdx.x);
  __syncthreads();
  y[threadIdx.x] = total[0];
}

__global__ void readers_then_a_writer(Memory<float> y) {
  shared_array(float, word, 1);
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) word[0] = 1;
  __syncthreads();
  y[t] = word[0];
  __syncwarp();
  if (t == 63) word[0] = 2;
  __syncthreads();
}

__global__ void not_initialised(Memory<float> y) {
  shared_array(float, line, 64);
  const int t = static_cast<int>(threadIdx.x);
  if (t != 5) line[t] = 1;
  __syncthreads();
  y[t] = line[t ^ 1];
}

TEST_CASE("simt: races in shared memory and reads of what nobody wrote are reported") {
  Numbers x(64), y(64);
  const Memory<float> out(y.array, "y");
  const Memory<const float> in(x.array, "x");
  each_schedule([&] {
    const std::string race = report_of(no_barrier, 1, 64, out, in);
    CHECK_CONTAINS(race, "kernel wrong, block (0, 0, 0), thread");
    CHECK_CONTAINS(race, "line[");
    CHECK_CONTAINS(race, "barrier");  // the warp that comes first reads what is not yet written
    const std::string trailing = report_of(no_trailing_barrier, 1, 64, out, in);
    CHECK_CONTAINS(trailing, "line[");
    CHECK_CONTAINS(trailing, "without a barrier between");
    CHECK_CONTAINS(report_of(all_write, 1, 64, out), "total[0] was written by thread");
    CHECK_CONTAINS(report_of(readers_then_a_writer, 1, 64, out), "word[0] was read by thread");
    CHECK_CONTAINS(report_of(not_initialised, 2, 64, out),
                   "thread (4, 0, 0): line[5] is read before anyone in the block has written it");
  });
}

// What the marks cannot see, a race in the device's memory, shows in the results of the schedules.
__global__ void race_in_device_memory(Memory<float> x) { x[0] = static_cast<float>(threadIdx.x); }

TEST_CASE("simt: the schedules differ where the order of threads decides") {
  std::vector<float> last;
  each_schedule([&] {
    Numbers x(1);
    launch("race", race_in_device_memory, 1, 64, Memory<float>(x.array, "x"));
    last.push_back(x[0]);
  });
  CHECK(last[0] == 63);
  CHECK(last[1] == 0);
}

TEST_CASE("simt: a full device gives an error and leaves what it holds") {
  std::byte* block = driver::allocate(1 << 19);
  REQUIRE(block != nullptr);
  simt::set_capacity(1 << 20);  // of which this block, and what earlier tests left, is in use
  CHECK(driver::allocate(1 << 20) == nullptr);
  CHECK(std::isnan(*reinterpret_cast<float*>(block)));
  driver::release(block);
  simt::set_capacity(~std::size_t{0});
}

}  // namespace
}  // namespace labgrad::tests
