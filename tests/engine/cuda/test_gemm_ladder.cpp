// The rungs of the ladder: the plain loop's result, and the reads that docs/gemm_ladder.md states.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/cuda/gemm_ladder/ladder.h"
#include "engine/cuda/simt_traffic.h"
#include "engine/kernels.h"
#include "tests/engine/cuda/arrays.h"

using namespace labgrad;
using namespace labgrad::test;
using namespace labgrad::tests;

TEST_CASE("cuda gemm ladder: each rung gives the plain loop's result under each schedule") {
  const auto device = accelerator_device();
  if (!device) return;
  REQUIRE(ladder::rungs().size() == 7);
  Generator random(1);
  const auto whole = [&](const Array& a) { fill_whole(random, a, -3, 3); };
  const Input a(*device, f32, {128, 128}, {}, whole), b(*device, f32, {128, 256}, {}, whole);
  Buffer expected(f32, {128, 256});
  kernels(Device::naive).gemm(expected.array, a.host(), b.host(), false);
  for (const ladder::Rung& rung : ladder::rungs()) {
    INFO(std::string(rung.name));
    Output c(*device, f32, {128, 256});
    each_schedule([&] {
      rung.multiply(c.device(), a.device(), b.device());
      CHECK(c.difference(expected.array) == "");
    });
  }
}

TEST_CASE("cuda gemm ladder: what each rung reads for a multiply-add, counted") {
  if (accelerator_device() != Device::simt) return;
  Generator random(1);
  const auto whole = [&](const Array& a) { fill_whole(random, a, -3, 3); };
  const Input a(Device::simt, f32, {128, 128}, {}, whole),
      b(Device::simt, f32, {128, 128}, {}, whole);
  struct Row {
    double loads, bytes, shared_reads;
  };
  const std::vector<Row> stated{{2, 33, 0},
                                {2, 5, 0},
                                {1. / 16, 1. / 4, 2},
                                {1. / 32, 1. / 8, 9. / 8},
                                {1. / 64, 1. / 16, 1. / 4},
                                {1. / 256, 1. / 16, 1. / 4},
                                {1. / 256, 1. / 16, 1. / 4}};
  const double terms = 128. * 128 * 128;
  for (std::size_t i = 0; i < stated.size(); ++i) {
    const ladder::Rung& rung = ladder::rungs()[i];
    INFO(std::string(rung.name));
    Output c(Device::simt, f32, {128, 128});
    const simt::Traffic t =
        simt::count_traffic([&] { rung.multiply(c.device(), a.device(), b.device()); });
    CHECK(static_cast<double>(t.loads) == stated[i].loads * terms);
    CHECK(static_cast<double>(t.sectors) * 32 == stated[i].bytes * terms);
    CHECK(static_cast<double>(t.shared_reads) == stated[i].shared_reads * terms);
  }
}
