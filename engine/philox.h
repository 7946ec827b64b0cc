#pragma once
// Philox4x32-10, a counter-based random number generator: a keyed mixing of the counter, so that
// the number at any position is had without those before it, on any thread and on any device.
// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
//
// Pure inline functions without exceptions, so that device code can include them.

#include <cstdint>

namespace labgrad {

// Four random words.
struct PhiloxBlock {
  std::uint32_t word[4];
};

// The words of block `block` under a 64 bit key; the counter is (block's low half, high half, 0,
// 0).
constexpr PhiloxBlock philox(std::uint64_t key, std::uint64_t block) {
  constexpr std::uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;  // golden ratio, sqrt(3) - 1
  std::uint32_t c0 = static_cast<std::uint32_t>(block);
  std::uint32_t c1 = static_cast<std::uint32_t>(block >> 32);
  std::uint32_t c2 = 0, c3 = 0;
  std::uint32_t k0 = static_cast<std::uint32_t>(key);
  std::uint32_t k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = multiplier0 * c0, p1 = multiplier1 * c2;
    c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(p1);
    c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(p0);
    k0 += weyl0;
    k1 += weyl1;
  }
  return {{c0, c1, c2, c3}};
}

// The uniform number in [0, 1) at `position`: word (position mod 4) of block (position / 4), /
// 2^32.
constexpr double philox_uniform(std::uint64_t key, std::uint64_t position) {
  return philox(key, position / 4).word[position % 4] * 0x1p-32;
}

}  // namespace labgrad
