#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace labgrad {

// The stream of numpy.random.default_rng(seed), draw for draw: SeedSequence into PCG64 (XSL-RR;
// O'Neill, HMC-CS-2014-0905), with NumPy's methods on top. The synthetic data sets come from it.
class NumpyGenerator {
 public:
  explicit NumpyGenerator(std::uint64_t seed);
  // A seed of any size, as 32-bit words, least significant first, without leading zero words.
  explicit NumpyGenerator(std::span<const std::uint32_t> seed_words);

  std::uint64_t next64();
  // Half of a 64-bit draw, the low half first; the high half waits for the next call of next32.
  std::uint32_t next32();

  // Uniform in low .. high - 1, by multiplication and rejection (Lemire, arXiv 1805.10941). One
  // possible number draws nothing. Throws Error unless low < high.
  std::int64_t integers(std::int64_t low, std::int64_t high);
  // `size` draws of the above, one after another. Throws Error if size < 0.
  std::vector<std::int64_t> integers(std::int64_t low, std::int64_t high, std::int64_t size);
  // As above with `high` included, the only way to the largest int64.
  std::int64_t integers_closed(std::int64_t low, std::int64_t high);

  // In [0, 1), a multiple of 2^-53: one 64-bit draw.
  double random();
  // In [0, 1), a multiple of 2^-24: one 32-bit draw. `random(dtype=float32)`.
  float random_f32();
  // low + (high - low) * random().
  double uniform(double low, double high);

  // Puts the elements in random order, in place (`Generator.shuffle`).
  template <typename T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i-- > 1;) {
      std::swap(values[i], values[masked(i)]);
    }
  }
  template <typename T>
  void shuffle(std::vector<T>& values) {
    shuffle(std::span<T>(values));
  }
  // A random order of 0 .. n-1. Throws Error if n < 0.
  std::vector<std::int64_t> permutation(std::int64_t n);
  // `size` of 0 .. n-1. Throws Error if n < 1 (with size > 0), size < 0, or size > n without
  // replacement.
  std::vector<std::int64_t> choice(std::int64_t n, std::int64_t size, bool replace = true);

  // Everything that the stream depends on; 128-bit numbers in halves.
  struct State {
    std::uint64_t state_high, state_low;
    std::uint64_t increment_high, increment_low;
    std::optional<std::uint32_t> half;
    friend bool operator==(const State&, const State&) = default;
  };
  State get_state() const;
  // Throws Error if the increment is even, which no seed gives.
  void set_state(const State& state);

 private:
  __extension__ using Wide = unsigned __int128;

  void step();
  // Uniform in 0 .. top, by masking and rejection; the method of shuffles alone.
  std::uint64_t masked(std::uint64_t top);
  // Uniform in 0 .. top, by multiplication and rejection; the method of integers.
  std::uint64_t bounded(std::uint64_t top);

  Wide state_ = 0;
  Wide increment_ = 0;
  std::optional<std::uint32_t> half_;
};

}  // namespace labgrad
