// Matrix products, at the sizes that the labs have and at the usual cubes.

#include <fmt/format.h>

#include <cstdint>

#include "engine/create.h"
#include "tests/bench/bench.h"

namespace labgrad::bench {

namespace {

struct Product {
  std::int64_t batch, m, n, k;
  bool turned = false;  // B is a transposed matrix, as the weight of a linear layer is
};

void product(Bench& bench, const Product& p) {
  const std::string batch = p.batch > 1 ? fmt::format("{}x", p.batch) : "";
  const std::string size =
      p.m == p.n && p.n == p.k ? std::to_string(p.n) : fmt::format("{}x{}x{}", p.m, p.n, p.k);
  const std::string name = fmt::format("gemm{}.{}{}", p.turned ? ".nt" : "", batch, size);
  if (!bench.wants(name)) return;
  const Tensor a = noise({p.batch, p.m, p.k});
  const Tensor b = p.turned ? noise({p.batch, p.n, p.k}) : noise({p.batch, p.k, p.n});
  Tensor c = zeros({p.batch, p.m, p.n});
  Array right = b.array();
  if (p.turned) {
    std::swap(right.shape[1], right.shape[2]);
    std::swap(right.strides[1], right.strides[2]);
  }
  const double mnk = double(p.batch) * double(p.m) * double(p.n) * double(p.k);
  const double elements = double(p.batch) * double(p.m * p.k + p.k * p.n + p.m * p.n);
  const Kernels& k = kernels(Device::cpu);
  bench.row(name, {2 * mnk, 4 * elements}, [&] { k.gemm(c.array(), a.array(), right, false); });
}

}  // namespace

void bench_gemm(Bench& bench) {
  for (std::int64_t n : {8, 16, 32, 64, 128, 256, 512, 1024, 2048}) product(bench, {1, n, n, n});
  for (const Product& p :
       {Product{1, 2688, 192, 128}, Product{1, 128, 192, 64}, Product{1, 128, 64, 64},
        Product{1, 128, 384, 64}, Product{1, 128, 5893, 128}, Product{1, 1280, 32, 32}}) {
    product(bench, p);
    product(bench, {p.batch, p.m, p.n, p.k, true});
  }
  product(bench, {1, 1, 512, 512});
  product(bench, {1, 1, 512, 512, true});
  product(bench, {1, 512, 1, 512});
  product(bench, {256, 20, 20, 8, true});
  product(bench, {256, 20, 8, 20});
  product(bench, {128, 21, 21, 64, true});
  product(bench, {128, 21, 64, 21});
}

}  // namespace labgrad::bench
