// Dropout masks: two vectors of Philox's blocks at once, word by word, so that the rounds are
// vector code; in the end the four words of each block are put side by side.

#include <cmath>
#include <cstdint>
#include <utility>

#include "engine/cpu/cpu.h"
#include "engine/cpu/elementwise.h"
#include "engine/cpu/gemm_pack.h"
#include "engine/cpu/threads.h"
#include "engine/cpu/vec.h"
#include "engine/philox.h"

namespace labgrad {

using namespace cpu;

namespace {

constexpr int width = lanes<std::uint32_t>;
constexpr int blocks = 2 * width;  // several vectors, for a product's result is long in coming

// The words of `blocks` blocks from `first` on, in order: philox() of each.
void philox_words(std::uint64_t key, std::uint64_t first, std::uint32_t (&words)[4 * blocks]) {
  std::uint32_t w[4][blocks];
  for (std::uint32_t b = 0; b < blocks; ++b) {
    const std::uint64_t block = first + b;
    w[0][b] = static_cast<std::uint32_t>(block);
    w[1][b] = static_cast<std::uint32_t>(block >> 32);
    w[2][b] = w[3][b] = 0;
  }
  auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int b = 0; b < blocks; ++b) {
      const std::uint64_t p0 = std::uint64_t{0xd2511f53u} * w[0][b];
      const std::uint64_t p1 = std::uint64_t{0xcd9e8d57u} * w[2][b];
      w[0][b] = static_cast<std::uint32_t>(p1 >> 32) ^ w[1][b] ^ key0;
      w[1][b] = static_cast<std::uint32_t>(p1);
      w[2][b] = static_cast<std::uint32_t>(p0 >> 32) ^ w[3][b] ^ key1;
      w[3][b] = static_cast<std::uint32_t>(p0);
    }
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  using Lanes = std::make_integer_sequence<int, width>;
  for (int b = 0; b < blocks; b += width) {
    const auto w0 = load(w[0] + b), w1 = load(w[1] + b), w2 = load(w[2] + b), w3 = load(w[3] + b);
    const auto even_low = interleave<false>(w0, w2, Lanes{});
    const auto odd_low = interleave<false>(w1, w3, Lanes{});
    const auto even_high = interleave<true>(w0, w2, Lanes{});
    const auto odd_high = interleave<true>(w1, w3, Lanes{});
    std::uint32_t* const to = words + 4 * b;
    store(to, interleave<false>(even_low, odd_low, Lanes{}));
    store(to + width, interleave<true>(even_low, odd_low, Lanes{}));
    store(to + 2 * width, interleave<false>(even_high, odd_high, Lanes{}));
    store(to + 3 * width, interleave<true>(even_high, odd_high, Lanes{}));
  }
}

}  // namespace

// u >= p is decided on the 32 bit words themselves: word >= p 2^32, rounded up to a whole number.
void Cpu::dropout_mask(const Array& mask, std::uint64_t key, double p) const {
  if (!is_contiguous(mask.shape, mask.strides) || !(p > 0))
    return Naive::dropout_mask(mask, key, p);
  dispatch_floating(mask.dtype, "dropout_mask", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const o = mask.as<T>();
    const auto largest_dropped = static_cast<std::uint32_t>(std::ceil(p * 0x1p32) - 1);
    const T kept = T(1 / (1 - p));
    parallel_for(mask.shape.numel(), cheap_grain, [&](std::int64_t begin, std::int64_t end) {
      constexpr std::int64_t count = 4 * blocks;
      std::uint32_t words[count];
      std::int64_t i = begin;  // a multiple of 4
      for (; i + count <= end; i += count) {
        philox_words(key, static_cast<std::uint64_t>(i) / 4, words);
        for (std::int64_t w = 0; w < count; ++w)
          o[i + w] = words[w] > largest_dropped ? kept : T(0);
      }
      if (i == end) return;
      philox_words(key, static_cast<std::uint64_t>(i) / 4, words);
      for (std::int64_t w = 0; i < end; ++i, ++w) o[i] = words[w] > largest_dropped ? kept : T(0);
    });
  });
}

}  // namespace labgrad
