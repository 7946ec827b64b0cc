#include "engine/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "engine/error.h"
#include "engine/random_normal.h"

namespace labgrad {
namespace {

constexpr std::size_t middle = 397;

// One word of the next block from its neighbour and from the word 397 places on.
constexpr std::uint32_t twist(std::uint32_t word, std::uint32_t next, std::uint32_t far) {
  const std::uint32_t y = (word & 0x80000000u) | (next & 0x7fffffffu);
  return far ^ (y >> 1) ^ (0x9908b0dfu & (0u - (y & 1u)));
}

// The low 24 bits as a multiple of 2^-24. By way of a signed integer, which every CPU converts.
constexpr float unit_of(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word & 0xffffffu)) * 0x1p-24f;
}

void check_range(double low, double high, double width) {
  if (!(low <= high) || !std::isfinite(width)) {
    fail(fmt::format("uniform: needs finite low <= high, got {} and {}", low, high));
  }
}

void check_normal(double mean, double std) {
  if (!(std >= 0) || !std::isfinite(std) || !std::isfinite(mean)) {
    fail(
        fmt::format("normal: needs a finite mean and a finite std >= 0, got {} and {}", mean, std));
  }
}

void check_probability(double p) {
  if (!(p >= 0 && p <= 1)) fail(fmt::format("bernoulli: p must be in [0, 1], got {}", p));
}

void check_lengths(std::size_t out, std::size_t p) {
  if (out != p) fail(fmt::format("bernoulli: {} places for {} probabilities", out, p));
}

// Blocks of 16 are transformed where the uniform numbers lie; if the count is no multiple of 16,
// the last 16 places are drawn anew and transformed (again).
template <typename T>
void normal_blocks(Generator& generator, std::span<T> out, double mean, double std) {
  generator.uniform(out);
  const std::size_t whole = out.size() / 16 * 16;
  for (std::size_t i = 0; i < whole; i += 16) normal_block(out.data() + i, T(mean), T(std));
  if (whole == out.size()) return;
  const std::span<T> last = out.last(16);
  generator.uniform(last);
  normal_block(last.data(), T(mean), T(std));
}

}  // namespace

Mt19937::Mt19937(std::uint32_t seed) {
  state_[0] = seed;
  for (std::uint32_t j = 1; j < words; ++j) {
    state_[j] = 1812433253u * (state_[j - 1] ^ (state_[j - 1] >> 30)) + j;
  }
}

void Mt19937::renew() {
  // Three loops without a wrapped index; the last 397 words look back at words already renewed.
  std::size_t i = 0;
  for (; i < words - middle; ++i) state_[i] = twist(state_[i], state_[i + 1], state_[i + middle]);
  for (; i < words - 1; ++i) {
    state_[i] = twist(state_[i], state_[i + 1], state_[i + middle - words]);
  }
  state_[i] = twist(state_[i], state_[0], state_[middle - 1]);
  used_ = 0;
}

std::span<const std::uint32_t> Mt19937::take(std::size_t limit) {
  if (used_ == words) renew();
  const std::size_t count = std::min(limit, words - used_);
  const std::span<const std::uint32_t> result(state_.data() + used_, count);
  used_ += count;
  return result;
}

Generator::Generator(std::uint64_t seed) : engine_(static_cast<std::uint32_t>(seed)), seed_(seed) {}

void Generator::manual_seed(std::uint64_t seed) { *this = Generator(seed); }

std::uint64_t Generator::u64() {
  const std::uint64_t high = u32();
  return (high << 32) | u32();
}

float Generator::unit_f32() { return unit_of(u32()); }

double Generator::unit_f64() {
  return static_cast<double>(static_cast<std::int64_t>(u64() & ((std::uint64_t{1} << 53) - 1))) *
         0x1p-53;
}

void Generator::uniform(std::span<float> out, double low, double high) {
  const float from = static_cast<float>(low);
  const float width = static_cast<float>(high) - from;
  check_range(low, high, width);
  while (!out.empty()) {
    const std::span<const std::uint32_t> drawn = engine_.take(out.size());
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      out[i] = std::fma(unit_of(Mt19937::temper(drawn[i])), width, from);
    }
    out = out.subspan(drawn.size());
  }
}

void Generator::uniform(std::span<double> out, double low, double high) {
  const double width = high - low;
  check_range(low, high, width);
  for (double& x : out) x = std::fma(unit_f64(), width, low);
}

double Generator::single_normal() {
  if (cached_normal_) {
    const double value = *cached_normal_;
    cached_normal_.reset();
    return value;
  }
  const double u1 = unit_f64();
  const double u2 = unit_f64();
  const double r = std::sqrt(-2.0 * std::log1p(-u2));
  const double t = 2.0 * std::numbers::pi * u1;
  cached_normal_ = r * std::sin(t);
  return r * std::cos(t);
}

void Generator::normal(std::span<float> out, double mean, double std) {
  check_normal(mean, std);
  if (out.size() >= 16) return normal_blocks(*this, out, mean, std);
  for (float& x : out) x = static_cast<float>(single_normal() * std + mean);
}

void Generator::normal(std::span<double> out, double mean, double std) {
  check_normal(mean, std);
  if (out.size() >= 16) return normal_blocks(*this, out, mean, std);
  for (double& x : out) x = single_normal() * std + mean;
}

void Generator::random_ints(std::span<std::int64_t> out, std::int64_t low, std::int64_t high) {
  if (!(low < high)) fail(fmt::format("randint: needs low < high, got {} and {}", low, high));
  // Unsigned arithmetic, since high - low can be as much as 2^64 - 1.
  const auto first = static_cast<std::uint64_t>(low);
  const std::uint64_t n = static_cast<std::uint64_t>(high) - first;
  const bool narrow = n < (std::uint64_t{1} << 32);
  for (std::int64_t& x : out) {
    x = static_cast<std::int64_t>(first + (narrow ? u32() : u64()) % n);
  }
}

std::int64_t Generator::random_63() { return static_cast<std::int64_t>(u64() & ~(1ull << 63)); }

std::vector<std::int64_t> Generator::randperm(std::int64_t n) {
  if (n < 0) fail(fmt::format("randperm: n must not be negative, got {}", n));
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    std::swap(order[i], order[i + u32() % (order.size() - i)]);
  }
  return order;
}

void Generator::bernoulli(std::span<float> out, double p) {
  check_probability(p);
  for (float& x : out) x = unit_f64() < p ? 1.0f : 0.0f;
}

void Generator::bernoulli(std::span<double> out, double p) {
  check_probability(p);
  for (double& x : out) x = unit_f64() < p ? 1.0 : 0.0;
}

void Generator::bernoulli(std::span<bool> out, double p) {
  check_probability(p);
  for (bool& x : out) x = unit_f64() < p;
}

void Generator::bernoulli(std::span<float> out, std::span<const float> p) {
  check_lengths(out.size(), p.size());
  for (const float each : p) check_probability(each);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = unit_f32() < p[i] ? 1.0f : 0.0f;
}

void Generator::bernoulli(std::span<double> out, std::span<const double> p) {
  check_lengths(out.size(), p.size());
  for (const double each : p) check_probability(each);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = unit_f64() < p[i] ? 1.0 : 0.0;
}

namespace {

constexpr std::uint64_t state_mark = 0x31534e524247414c;  // "LAGBRNS1", little-endian
constexpr std::size_t state_bytes = 8 + 8 + 8 + 8 + 8 + 4 * Mt19937::words;

void append_little(std::vector<std::uint8_t>& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint64_t take_little(std::span<const std::uint8_t>& in, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = (value << 8) | in[i];
  in = in.subspan(bytes);
  return value;
}

}  // namespace

std::vector<std::uint8_t> Generator::get_state() const {
  std::vector<std::uint8_t> out;
  out.reserve(state_bytes);
  append_little(out, state_mark, 8);
  append_little(out, seed_, 8);
  append_little(out, engine_.used_, 8);
  append_little(out, cached_normal_.has_value(), 8);
  append_little(out, std::bit_cast<std::uint64_t>(cached_normal_.value_or(0.0)), 8);
  for (const std::uint32_t word : engine_.state_) append_little(out, word, 4);
  return out;
}

void Generator::set_state(std::span<const std::uint8_t> bytes) {
  if (bytes.size() != state_bytes) {
    fail(fmt::format("set_state: a generator's state has {} bytes, these are {}", state_bytes,
                     bytes.size()));
  }
  if (take_little(bytes, 8) != state_mark) {
    fail("set_state: these bytes are not the state of a Generator");
  }
  Generator read(take_little(bytes, 8));
  const std::uint64_t used = take_little(bytes, 8);
  const std::uint64_t cached = take_little(bytes, 8);
  const double normal = std::bit_cast<double>(take_little(bytes, 8));
  if (used > Mt19937::words || cached > 1) {
    fail("set_state: these bytes are a damaged state of a Generator");
  }
  read.engine_.used_ = used;
  if (cached == 1) read.cached_normal_ = normal;
  for (std::uint32_t& word : read.engine_.state_) {
    word = static_cast<std::uint32_t>(take_little(bytes, 4));
  }
  *this = read;
}

Generator& default_generator() {
  static Generator generator;
  return generator;
}

void manual_seed(std::uint64_t seed) { default_generator().manual_seed(seed); }

std::uint64_t derive_seed(std::uint64_t seed, std::uint64_t index) {
  return splitmix64(splitmix64(seed) ^ index);
}

}  // namespace labgrad
