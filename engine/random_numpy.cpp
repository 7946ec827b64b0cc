#include "engine/random_numpy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <unordered_set>

#include "engine/error.h"

namespace labgrad {
namespace {

constexpr std::size_t pool_words = 4;
using Pool = std::array<std::uint32_t, pool_words>;

// Mixes one word with a constant that changes at every call.
struct Stir {
  std::uint32_t constant = 0x43b0d7e5u;
  std::uint32_t operator()(std::uint32_t value) {
    value ^= constant;
    constant *= 0x931e8875u;
    value *= constant;
    return value ^ (value >> 16);
  }
};

std::uint32_t join(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t r = 0xca01f9ddu * x - 0x4973f715u * y;
  return r ^ (r >> 16);
}

// A seed of any length into four words, each of which depends on every word of the seed.
Pool mix(std::span<const std::uint32_t> seed) {
  Stir stir;
  Pool pool;
  for (std::size_t i = 0; i < pool_words; ++i) pool[i] = stir(i < seed.size() ? seed[i] : 0);
  for (std::size_t from = 0; from < pool_words; ++from) {
    for (std::size_t to = 0; to < pool_words; ++to) {
      if (to != from) pool[to] = join(pool[to], stir(pool[from]));
    }
  }
  for (std::size_t i = pool_words; i < seed.size(); ++i) {
    for (std::uint32_t& word : pool) word = join(word, stir(seed[i]));
  }
  return pool;
}

std::array<std::uint64_t, 4> state_words(const Pool& pool) {
  std::array<std::uint64_t, 4> words{};
  std::uint32_t constant = 0x8b51f9ddu;
  for (std::size_t i = 0; i < 2 * words.size(); ++i) {
    std::uint32_t value = pool[i % pool_words] ^ constant;
    constant *= 0x58f38dedu;
    value *= constant;
    value ^= value >> 16;
    words[i / 2] |= static_cast<std::uint64_t>(value) << (32 * (i % 2));
  }
  return words;
}

std::vector<std::uint32_t> words_of(std::uint64_t seed) {
  std::vector<std::uint32_t> words = {static_cast<std::uint32_t>(seed)};
  if (seed >> 32 != 0) words.push_back(static_cast<std::uint32_t>(seed >> 32));
  return words;
}

}  // namespace

NumpyGenerator::NumpyGenerator(std::uint64_t seed) : NumpyGenerator(words_of(seed)) {}

NumpyGenerator::NumpyGenerator(std::span<const std::uint32_t> seed_words) {
  const std::array<std::uint64_t, 4> w = state_words(mix(seed_words));
  const Wide start = (Wide{w[0]} << 64) | w[1];
  increment_ = 2 * ((Wide{w[2]} << 64) | w[3]) + 1;
  step();
  state_ += start;
  step();
}

void NumpyGenerator::step() {
  constexpr Wide multiplier = (Wide{2549297995355413924u} << 64) | 4865540595714422341u;
  state_ = state_ * multiplier + increment_;
}

std::uint64_t NumpyGenerator::next64() {
  step();
  const auto folded = static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_);
  return std::rotr(folded, static_cast<int>(state_ >> 122));
}

std::uint32_t NumpyGenerator::next32() {
  if (half_) {
    const std::uint32_t value = *half_;
    half_.reset();
    return value;
  }
  const std::uint64_t both = next64();
  half_ = static_cast<std::uint32_t>(both >> 32);
  return static_cast<std::uint32_t>(both);
}

std::uint64_t NumpyGenerator::bounded(std::uint64_t top) {
  constexpr std::uint64_t top32 = 0xffffffffu;
  if (top == 0) return 0;
  if (top == top32) return next32();
  if (top == ~std::uint64_t{0}) return next64();
  // The product of a draw and n = top + 1 holds the result in its high half. The low half tells
  // which draws to refuse, so that each result comes from equally many of them.
  const std::uint64_t n = top + 1;
  if (top < top32) {
    std::uint64_t product = next32() * n;
    if ((product & top32) < n) {
      const std::uint64_t refused = (top32 + 1) % n;
      while ((product & top32) < refused) product = next32() * n;
    }
    return product >> 32;
  }
  Wide product = Wide{next64()} * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t refused = (0 - n) % n;  // 2^64 mod n
    while (static_cast<std::uint64_t>(product) < refused) product = Wide{next64()} * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t NumpyGenerator::masked(std::uint64_t top) {
  if (top == 0) return 0;
  const std::uint64_t mask = ~std::uint64_t{0} >> std::countl_zero(top);
  while (true) {
    const std::uint64_t value = (top > 0xffffffffu ? next64() : next32()) & mask;
    if (value <= top) return value;
  }
}

std::int64_t NumpyGenerator::integers_closed(std::int64_t low, std::int64_t high) {
  if (low > high) {
    fail(fmt::format("integers: needs low <= high with high included, got {} and {}", low, high));
  }
  // Unsigned arithmetic, since high - low can be as much as 2^64 - 1.
  const auto first = static_cast<std::uint64_t>(low);
  return static_cast<std::int64_t>(first + bounded(static_cast<std::uint64_t>(high) - first));
}

std::int64_t NumpyGenerator::integers(std::int64_t low, std::int64_t high) {
  if (low >= high) fail(fmt::format("integers: needs low < high, got {} and {}", low, high));
  return integers_closed(low, high - 1);
}

std::vector<std::int64_t> NumpyGenerator::integers(std::int64_t low, std::int64_t high,
                                                   std::int64_t size) {
  if (size < 0) fail(fmt::format("integers: size must not be negative, got {}", size));
  std::vector<std::int64_t> values(static_cast<std::size_t>(size));
  for (std::int64_t& value : values) value = integers(low, high);
  return values;
}

double NumpyGenerator::random() {
  return static_cast<double>(static_cast<std::int64_t>(next64() >> 11)) * 0x1p-53;
}

float NumpyGenerator::random_f32() {
  return static_cast<float>(static_cast<std::int32_t>(next32() >> 8)) * 0x1p-24f;
}

double NumpyGenerator::uniform(double low, double high) { return low + (high - low) * random(); }

std::vector<std::int64_t> NumpyGenerator::permutation(std::int64_t n) {
  if (n < 0) fail(fmt::format("permutation: n must not be negative, got {}", n));
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  shuffle(order);
  return order;
}

std::vector<std::int64_t> NumpyGenerator::choice(std::int64_t n, std::int64_t size, bool replace) {
  if (size < 0 || (size > 0 && n < 1) || (!replace && size > n)) {
    fail(fmt::format("choice: cannot take {} of {} numbers {} replacement", size, n,
                     replace ? "with" : "without"));
  }
  if (replace) return integers(0, n, size);
  if (n > 10000 && size > n / 50) {
    // Many of many: the end of a shuffle that stops early.
    std::vector<std::int64_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    for (std::int64_t i = n - 1; i >= std::max(n - size, std::int64_t{1}); --i) {
      std::swap(all[static_cast<std::size_t>(i)],
                all[static_cast<std::size_t>(integers(0, i + 1))]);
    }
    return {all.end() - size, all.end()};
  }
  // Few: Floyd's method takes a set without a table of all n, then the set is shuffled.
  std::vector<std::int64_t> chosen;
  std::unordered_set<std::int64_t> seen;
  for (std::int64_t j = n - size; j < n; ++j) {
    const std::int64_t value = integers(0, j + 1);
    chosen.push_back(seen.insert(value).second ? value : j);
    seen.insert(chosen.back());
  }
  for (std::int64_t i = size - 1; i >= 1; --i) {
    std::swap(chosen[static_cast<std::size_t>(i)],
              chosen[static_cast<std::size_t>(integers(0, i + 1))]);
  }
  return chosen;
}

NumpyGenerator::State NumpyGenerator::get_state() const {
  return {static_cast<std::uint64_t>(state_ >> 64), static_cast<std::uint64_t>(state_),
          static_cast<std::uint64_t>(increment_ >> 64), static_cast<std::uint64_t>(increment_),
          half_};
}

void NumpyGenerator::set_state(const State& state) {
  if (state.increment_low % 2 == 0) {
    fail("set_state: the increment of a NumpyGenerator must be odd");
  }
  state_ = (Wide{state.state_high} << 64) | state.state_low;
  increment_ = (Wide{state.increment_high} << 64) | state.increment_low;
  half_ = state.half;
}

}  // namespace labgrad
