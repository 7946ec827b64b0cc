#pragma once
// Philox4x32-10, a random number as a pure function of its place: no state, so any thread of any
// device computes the number of element i by itself, in any order.
// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 4.
//
// Only constexpr functions without exceptions, so that device code can include them.

#include <cstdint>

namespace labgrad {

// Four random words.
struct PhiloxBlock {
  std::uint32_t word[4];
};

// Ten rounds, each two 32 x 32 bit products crossed over and mixed with the key.
constexpr PhiloxBlock philox4x32(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xd2511f53u} * counter.word[0];
    const std::uint64_t p1 = std::uint64_t{0xcd9e8d57u} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(p1 >> 32) ^ counter.word[1] ^ key0,
                static_cast<std::uint32_t>(p1),
                static_cast<std::uint32_t>(p0 >> 32) ^ counter.word[3] ^ key1,
                static_cast<std::uint32_t>(p0)}};
    key0 += 0x9e3779b9u;  // the golden ratio
    key1 += 0xbb67ae85u;  // sqrt(3) - 1
  }
  return counter;
}

// The words of block `block` under a 64 bit key: those of positions 4 block .. 4 block + 3. The
// counter is (block's low half, high half, 0, 0).
constexpr PhiloxBlock philox(std::uint64_t key, std::uint64_t block) {
  const PhiloxBlock counter{
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0}};
  return philox4x32(counter, static_cast<std::uint32_t>(key),
                    static_cast<std::uint32_t>(key >> 32));
}

// The uniform number in [0, 1) at `position`, a multiple of 2^-32. A loop over many positions takes
// philox() and uses all four words.
constexpr double philox_uniform(std::uint64_t key, std::uint64_t position) {
  return philox(key, position / 4).word[position % 4] * 0x1p-32;
}

}  // namespace labgrad
