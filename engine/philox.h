#pragma once

#include <cstdint>

// A random number as a pure function of its place: no state, so any thread of any device computes
// the number of element i by itself, in any order. Only constexpr functions and no other header, so
// that device code includes it as it is.

namespace labgrad {

struct U32x4 {
  std::uint32_t lane[4];
};

// Philox4x32-10: ten rounds, each two 32x32-bit products crossed over and mixed with the key.
// Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 4.
// Every pair (key, counter) gives four independent uniform words.
constexpr U32x4 philox4x32(U32x4 counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xd2511f53u} * counter.lane[0];
    const std::uint64_t p1 = std::uint64_t{0xcd9e8d57u} * counter.lane[2];
    counter = {{static_cast<std::uint32_t>(p1 >> 32) ^ counter.lane[1] ^ key0,
                static_cast<std::uint32_t>(p1),
                static_cast<std::uint32_t>(p0 >> 32) ^ counter.lane[3] ^ key1,
                static_cast<std::uint32_t>(p0)}};
    key0 += 0x9e3779b9u;  // the Weyl sequences of the golden ratio
    key1 += 0xbb67ae85u;  // and of sqrt(3) - 1
  }
  return counter;
}

// The four words of block `block` under `key`: those of elements 4 block .. 4 block + 3.
constexpr U32x4 philox_block(std::uint64_t key, std::uint64_t block) {
  const U32x4 counter{
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0}};
  return philox4x32(counter, static_cast<std::uint32_t>(key),
                    static_cast<std::uint32_t>(key >> 32));
}

// The word of element `index` under `key`. A loop over many elements takes philox_block and uses
// all four of its words.
constexpr std::uint32_t philox_at(std::uint64_t key, std::uint64_t index) {
  return philox_block(key, index / 4).lane[index % 4];
}

// A word as a uniform number in [0, 1), a multiple of 2^-24, exact in single precision.
constexpr float unit_float(std::uint32_t word) {
  return static_cast<float>(word >> 8) * (1.0f / 16777216.0f);
}

}  // namespace labgrad
