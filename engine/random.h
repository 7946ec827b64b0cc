#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace labgrad {

// MT19937, the 32-bit Mersenne Twister: Matsumoto and Nishimura, ACM TOMACS 8 (1998) 3-30. The
// state is renewed 624 words at a time.
class Mt19937 {
 public:
  static constexpr std::size_t words = 624;

  explicit Mt19937(std::uint32_t seed);

  std::uint32_t operator()() {
    if (used_ == words) renew();
    return temper(state_[used_++]);
  }

  // The next `count` outputs where they lie, not yet tempered: at least one, at most `limit`. Lets
  // a fill run over plain memory.
  std::span<const std::uint32_t> take(std::size_t limit);

  static constexpr std::uint32_t temper(std::uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

 private:
  friend class Generator;  // saves and restores the state
  void renew();

  std::array<std::uint32_t, words> state_{};
  std::size_t used_ = words;
};

// The stream of random numbers of PyTorch's CPU generator (1.13, AVX2), draw for draw: the same
// seed gives the same weights. Every function says what it draws; all fill in memory order.
// Not safe to share between threads; parallel code draws a key (fork_key) and goes on with
// engine/philox.h, where the numbers depend on the position and not on the thread.
class Generator {
 public:
  static constexpr std::uint64_t default_seed = 67280421310721;

  explicit Generator(std::uint64_t seed = default_seed);

  // Starts the stream of `seed`, of which the low 32 bits count; forgets a cached normal.
  void manual_seed(std::uint64_t seed);
  std::uint64_t initial_seed() const { return seed_; }

  std::uint32_t u32() { return engine_(); }
  // Two outputs, the first one is the high half.
  std::uint64_t u64();
  // A key for counter-based numbers (dropout masks, engine/philox.h): one u64.
  std::uint64_t fork_key() { return u64(); }

  // Uniform in [low, high), but rounding can give `high` itself. f32: one u32 each, f64: one u64.
  // Throws Error unless low <= high, both finite and not farther apart than the type can hold.
  void uniform(std::span<float> out, double low = 0, double high = 1);
  void uniform(std::span<double> out, double low = 0, double high = 1);

  // Normal. 16 elements or more: whole blocks of 16 by Box and Muller, as many draws as elements
  // and 16 more if the count is no multiple of 16. Fewer: one at a time in double, two u64 a pair,
  // the second of the pair kept for the next such call. Throws Error if std < 0 or not finite.
  void normal(std::span<float> out, double mean = 0, double std = 1);
  void normal(std::span<double> out, double mean = 0, double std = 1);

  // Whole numbers in low .. high - 1: one u32 each, or one u64 if high - low >= 2^32; a draw is
  // made even if only one number is possible. Throws Error unless low < high.
  void random_ints(std::span<std::int64_t> out, std::int64_t low, std::int64_t high);
  // Uniform in 0 .. 2^63 - 1: one u64. What `random_()` gives in PyTorch.
  std::int64_t random_63();
  // A random order of 0 .. n-1: n - 1 u32. Throws Error if n < 0.
  std::vector<std::int64_t> randperm(std::int64_t n);

  // Ones with probability p, else zeros: one u64 each whatever the type (PyTorch without MKL).
  // Throws Error unless 0 <= p <= 1.
  void bernoulli(std::span<float> out, double p);
  void bernoulli(std::span<double> out, double p);
  void bernoulli(std::span<bool> out, double p);
  // The same with a probability for each element: one u32 each in f32, one u64 in f64. Throws Error
  // unless the lengths agree.
  void bernoulli(std::span<float> out, std::span<const float> p);
  void bernoulli(std::span<double> out, std::span<const double> p);

  // All of the state, in a form that does not depend on the machine; set_state continues the stream
  // bit for bit, cached normal and all. set_state throws Error if the bytes are no such state, and
  // changes nothing then.
  std::vector<std::uint8_t> get_state() const;
  void set_state(std::span<const std::uint8_t> bytes);

 private:
  float unit_f32();
  double unit_f64();
  double single_normal();

  Mt19937 engine_;
  std::uint64_t seed_;
  std::optional<double> cached_normal_;
};

// The generator that is used where none is given. Draws from it belong to one thread.
Generator& default_generator();
// Seeds the default generator.
void manual_seed(std::uint64_t seed);

// A seed for part `index` of a work seeded with `seed` (a worker, an epoch, an image): different
// parts get unrelated seeds, the same part always the same one.
std::uint64_t derive_seed(std::uint64_t seed, std::uint64_t index);

// The bijection on 64 bits at the end of SplitMix64: Steele, Lea and Flood, OOPSLA 2014, figure 17.
constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace labgrad
