// Results so large that they are written past the caches: the same bits as those of their parts,
// which are small enough to be written as usual, and as results that lie where vectors can't.

#include "engine/cpu/stream.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "engine/cpu/channels.h"
#include "engine/cpu/scratch.h"
#include "engine/cpu/winograd.h"
#include "engine/kernels.h"
#include "engine/random.h"

using namespace labgrad;
using namespace labgrad::cpu;

namespace {

const Kernels& fast() { return kernels(Device::cpu); }

// Images whose channels lie side by side, `shift` numbers behind a multiple of 64 bytes.
class Images32 {
 public:
  explicit Images32(const Shape& shape, std::int64_t shift = 0)
      : data_(shape.numel() + shift),
        array({reinterpret_cast<std::byte*>(data_.get() + shift), f32, shape,
               channels_last(shape)}) {}
  // Samples first .. first + count of it.
  Array samples(std::int64_t first, std::int64_t count) const {
    Array part = array;
    part.data += first * array.strides[0] * 4;
    part.shape[0] = count;
    return part;
  }
  bool operator==(const Images32& other) const {
    const float *a = array.as<float>(), *b = other.array.as<float>();
    return std::equal(a, a + array.shape.numel(), b);
  }
  void fill(Generator& random) {
    // Drawing takes longer than the kernels: few different numbers will do.
    float some[4099];
    random.normal(some, 0, 1);
    float* to = array.as<float>();
    for (std::int64_t i = 0; i < array.shape.numel(); ++i) to[i] = some[i % 4099];
  }

 private:
  Scratch<float> data_;

 public:
  Array array;
};

constexpr std::int64_t N = 44, H = 28, W = 336, C = 32;  // 53 MB

// f(y, first, count) writes the images' samples to y.
template <class F>
void check(const Shape& shape, F f) {
  const Images32 whole(shape), parts(shape), shifted(shape, 1);
  REQUIRE(streams(whole.array.as<float>(), shape.numel(), C));
  REQUIRE_FALSE(streams(parts.array.as<float>(), shape.numel() / 2, C));
  REQUIRE_FALSE(streams(shifted.array.as<float>(), shape.numel(), C));
  f(whole.array, 0, N);
  f(shifted.array, 0, N);
  for (const std::int64_t first : {std::int64_t{0}, N / 2})
    f(parts.samples(first, N / 2), first, N / 2);
  CHECK(whole == parts);
  CHECK(whole == shifted);
}

}  // namespace

TEST_CASE("results past the caches: convolutions, as they are written and Winograd's") {
  Generator random(1);
  for (const std::int64_t channels : {1, 16})
    for (const bool by_winograd : {false, true}) {
      INFO("channels " << channels << " winograd " << by_winograd);
      const UseWinograd guard(by_winograd);
      Images32 x({N, channels, H, W}), w({C, channels, 3, 3});
      x.fill(random), w.fill(random);
      check({N, C, H, W}, [&](const Array& y, std::int64_t first, std::int64_t count) {
        fast().conv2d(y, x.samples(first, count), w.array, {.top = 1, .left = 1});
      });
    }
}

TEST_CASE("results past the caches: the gradient of norm, ReLU and pool") {
  Generator random(2);
  Images32 x({N, C, H, W}), dy({N, C, H / 2, W / 2}), of_channel({1, C, 1, 1}), sums({2, C, 1, 1});
  x.fill(random), dy.fill(random), of_channel.fill(random);
  Array v = of_channel.array, dw = sums.samples(0, 1), db = sums.samples(1, 1);
  for (Array* a : {&v, &dw, &db}) *a = {a->data, f32, {C}, {1}};
  check({N, C, H, W}, [&](const Array& dx, std::int64_t first, std::int64_t count) {
    fast().norm_relu_pool_backward(dx, dw, db, dy.samples(first, count), x.samples(first, count), v,
                                   v, v, v, 2, false);
  });
}
