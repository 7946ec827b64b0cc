// Memory of a device with one of its own: copies, recycling, and what happens when it is full.

#include <doctest/doctest.h>

#include <string>

#include "engine/create.h"
#include "engine/cuda/simt_memory.h"
#include "engine/memory.h"
#include "engine/ops.h"
#include "tests/check_close.h"
#include "tests/engine/cuda/device.h"

using namespace labgrad;
using namespace labgrad::tests;

TEST_CASE("device memory: tensors go there and back, in any layout") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(1);
  for (DType dtype : {f32, f64, i64, boolean}) {
    const Tensor x = to(randint(0, 2, {3, 4, 5}, random, {.device = Device::cpu}), dtype);
    const Tensor there = to(x, *device);
    CHECK(there.device() == *device);
    CHECK(bit_difference(to(there, Device::cpu), x) == "");
    CHECK(bit_difference(to(transpose(there), Device::cpu), transpose(x)) == "");
    CHECK(bit_difference(to(transpose(x), *device), transpose(x)) == "");
    CHECK(bit_difference(to(there, Device::naive), x) == "");
    CHECK(there.at({2, 3, -1}) == x.at({2, 3, -1}));
    CHECK(there.to_vector() == x.to_vector());
  }
  Tensor target = zeros({2, 3}, {.device = *device});
  target.copy_(ones({3}, {.device = Device::cpu}));
  CHECK(target.to_vector() == std::vector<double>(6, 1.0));
  CHECK_THROWS_WITH_AS(target + ones({2, 3}, {.device = Device::cpu}),
                       doctest::Contains("on different devices"), Error);
  CHECK_THROWS_WITH_AS(target.add_(ones({2, 3}, {.device = Device::cpu}), 0.5),
                       doctest::Contains("on different devices"), Error);
}

TEST_CASE("device memory: blocks are used again, and all elements are counted") {
  const auto device = accelerator_device();
  if (!device) return;
  const std::size_t before = memory_stats().live;
  const std::byte* first = nullptr;
  {
    const Tensor x = zeros({1000}, {.device = *device});
    first = x.array().data;
    CHECK(memory_stats().live == before + 4000);
  }
  CHECK(memory_stats().live == before);
  const Tensor y = zeros({990}, {.device = *device});
  CHECK(y.array().data == first);
}

TEST_CASE("device memory: when it is full there is an error, and all tensors stay usable") {
  if (!is_built_in(Device::simt)) return;
  const TensorOptions there{.device = Device::simt};
  Tensor kept = ones({1000}, there).requires_grad_();
  accelerator(Device::simt).release_cached();  // of tests before
  simt::set_capacity(simt::used() + (2 << 20));
  CHECK_THROWS_WITH_AS(zeros({1 << 20}, there),
                       doctest::Contains("simt: out of memory: 4194304 bytes"), Error);
  // In the middle of a graph: what was there before is as it was.
  CHECK_THROWS_AS(sum(expand(unsqueeze(kept, 0), {2000, 1000}) * 2.0), Error);
  CHECK(sum(kept).item() == 1000);
  sum(kept * kept).backward();
  CHECK(kept.grad().to_vector() == std::vector<double>(1000, 2.0));
  // A block of 1.5 MiB that is kept for reuse gives way to one of another size.
  CHECK(zeros({3 << 17}, there).numel() == 3 << 17);
  CHECK(zeros({1 << 18}, there).numel() == 1 << 18);
  simt::set_capacity(~std::size_t{0});
}
