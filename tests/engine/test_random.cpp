#include "engine/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/error.h"
#include "engine/philox.h"
#include "tests/golden.h"

using labgrad::Error;
using labgrad::Generator;
using labgrad::Json;

namespace {

bool is_f64(const Json& step) {
  const Json* dtype = step.find("dtype");
  return dtype && dtype->as_string() == "float64";
}

std::size_t count_of(const Json& step) {
  std::int64_t count = 1;
  for (const std::int64_t size : golden::integers(step.at("shape"))) count *= size;
  return static_cast<std::size_t>(count);
}

void check_ints(const std::vector<std::int64_t>& got, const Json& step) {
  const Json* head = step.find("head");
  const std::vector<std::int64_t> want = golden::integers(head ? *head : step.at("data"));
  REQUIRE(got.size() >= want.size());
  CHECK(std::equal(want.begin(), want.end(), got.begin()));
  if (head) {
    CHECK(golden::sha256(got) == step.at("sha256_i32le").as_string());
  } else {
    CHECK(got.size() == want.size());
  }
}

// Reals within tolerance * (1 + |want|); a tolerance of 0 asks for the same bits.
template <typename T>
void check_reals(const std::vector<T>& got, const Json& step, double tolerance) {
  const Json* head = step.find("head");
  const std::vector<double> want = golden::doubles(head ? *head : step.at("data"));
  REQUIRE(got.size() >= want.size());
  if (!head) CHECK(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double value = static_cast<double>(static_cast<T>(want[i]));
    const double difference = std::abs(static_cast<double>(got[i]) - value);
    CAPTURE(i);
    CHECK(difference <= tolerance * (1 + std::abs(value)));  // false for NaN
  }
  if (head && tolerance == 0) {
    CHECK(golden::sha256(std::span<const T>(got)) == step.at("sha256_f32le").as_string());
  }
}

// Draws of one real type, with the tolerances of a C library other than the reference's.
template <typename T>
void replay_reals(Generator& generator, const Json& step) {
  const std::string& op = step.at("op").as_string();
  const bool single = sizeof(T) == sizeof(float);
  std::vector<T> values(count_of(step));
  if (op == "rand") {
    generator.uniform(values);
    check_reals(values, step, 0);
  } else if (op == "uniform") {
    generator.uniform(values, step.at("lo").as_double(), step.at("hi").as_double());
    check_reals(values, step, 0);
  } else if (op == "randn" || op == "normal") {
    const bool plain = op == "randn";
    generator.normal(values, plain ? 0 : step.at("mean").as_double(),
                     plain ? 1 : step.at("std").as_double());
    check_reals(values, step, !single ? 2e-15 : values.size() < 16 ? 6e-8 : 0);
  } else {
    generator.bernoulli(std::span<T>(values), step.at("p").as_double());
    check_reals(values, step, 0);
  }
}

template <typename T>
void replay_bernoulli_each(Generator& generator, const Json& step) {
  std::vector<T> p;
  for (const double each : golden::doubles(step.at("probs"))) p.push_back(static_cast<T>(each));
  std::vector<T> values(p.size());
  generator.bernoulli(std::span<T>(values), std::span<const T>(p));
  check_reals(values, step, 0);
}

void replay_dropout(Generator& generator, const Json& step) {
  const std::vector<float> x = golden::floats(step.at("x"));
  const double p = step.at("p").as_double();
  std::vector<float> keep(x.size(), p == 0 ? 1.0f : 0.0f);
  if (p > 0 && p < 1) generator.bernoulli(std::span<float>(keep), 1 - p);
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float scale = p < 1 ? keep[i] / static_cast<float>(1 - p) : 0.0f;
    y[i] = scale * x[i];
  }
  check_reals(y, step, 0);
}

// The y with erf(y) = x, by bisection.
double inverse_erf(double x) {
  double low = -6;
  double high = 6;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle) < x ? low : high) = middle;
  }
  return low;
}

void replay_trunc_normal(Generator& generator, const Json& step) {
  const auto number = [&](const char* key) { return step.at(key).as_double(); };
  const double mean = number("mean");
  const double std = number("std");
  const auto f = [&](double x) { return std::erf((x - mean) / std / std::sqrt(2.0)); };
  std::vector<float> values(count_of(step));
  generator.uniform(values, f(number("a")), f(number("b")));
  for (float& x : values) {
    x = static_cast<float>(inverse_erf(static_cast<double>(x)) * std * std::sqrt(2.0) + mean);
  }
  check_reals(values, step, 3e-7);
}

void replay(Generator& generator, const Json& step) {
  const std::string& op = step.at("op").as_string();
  if (op == "manual_seed") {
    generator.manual_seed(golden::unsigned_integer(step.at("seed")));
  } else if (op == "randperm") {
    check_ints(generator.randperm(golden::integer(step.at("n"))), step);
  } else if (op == "randint") {
    std::vector<std::int64_t> values(count_of(step));
    generator.random_ints(values, golden::integer(step.at("low")),
                          golden::integer(step.at("high")));
    check_ints(values, step);
  } else if (op == "random_int64") {
    check_ints({generator.random_63()}, step);
  } else if (op == "bernoulli_each") {
    is_f64(step) ? replay_bernoulli_each<double>(generator, step)
                 : replay_bernoulli_each<float>(generator, step);
  } else if (op == "dropout") {
    replay_dropout(generator, step);
  } else if (op == "trunc_normal") {
    replay_trunc_normal(generator, step);
  } else if (op == "rand" || op == "uniform" || op == "randn" || op == "normal" ||
             op == "bernoulli") {
    is_f64(step) ? replay_reals<double>(generator, step) : replay_reals<float>(generator, step);
  } else {
    FAIL("no such step: " << op);
  }
}

}  // namespace

TEST_CASE("generator: raw outputs") {
  for (const Json& stream : golden::file("torch_rng.json").at("raw").as_array()) {
    Generator generator(golden::unsigned_integer(stream.at("seed")));
    for (const std::int64_t want : golden::integers(stream.at("next32"))) {
      CHECK(generator.u32() == want);
    }
  }
}

TEST_CASE("generator: programs of draws, and the outputs that follow them") {
  for (const Json& program : golden::file("torch_rng.json").at("programs").as_array()) {
    const std::string name = program.at("name").as_string();
    CAPTURE(name);
    Generator generator(golden::unsigned_integer(program.at("seed")));
    for (const Json& step : program.at("steps").as_array()) {
      CAPTURE(step.at("op").as_string());
      replay(generator, step);
    }
    for (const std::int64_t want : golden::integers(program.at("next32"))) {
      CHECK(generator.u32() == want);
    }
  }
}

// The tenth thousandth output for the seed 5489 is in the C++ standard, [rand.predef].
TEST_CASE("generator: the engine is the standard's mt19937") {
  Generator generator(5489);
  std::uint32_t last = 0;
  for (int i = 0; i < 10000; ++i) last = generator.u32();
  CHECK(last == 4123659995u);
}

TEST_CASE("generator: a fill in parts is the fill of the whole") {
  std::vector<float> whole(2000);
  Generator(3).uniform(whole, -1, 1);
  Generator generator(3);
  std::vector<float> parts(2000);
  std::span<float> rest(parts);
  for (std::size_t n = 1; !rest.empty(); n = std::min(n + 60, rest.size())) {
    generator.uniform(rest.first(n), -1, 1);
    rest = rest.subspan(n);
    if (rest.empty()) break;
  }
  CHECK(parts == whole);
}

TEST_CASE("generator: moments of large samples") {
  std::vector<float> values(1'000'000);
  Generator generator(1);
  const auto moments = [&] {
    double sum = 0;
    double squares = 0;
    for (const float x : values) {
      sum += static_cast<double>(x);
      squares += static_cast<double>(x) * static_cast<double>(x);
    }
    const double n = static_cast<double>(values.size());
    return std::pair(sum / n, squares / n - sum / n * sum / n);
  };
  // Five standard errors of a mean and of a variance.
  generator.normal(values, 2, 3);
  auto [mean, variance] = moments();
  CHECK(std::abs(mean - 2) < 5 * 3 / 1000.0);
  CHECK(std::abs(variance - 9) < 5 * 9 * std::sqrt(2.0) / 1000.0);
  generator.uniform(values);
  std::tie(mean, variance) = moments();
  CHECK(std::abs(mean - 0.5) < 5 * std::sqrt(1 / 12.0) / 1000.0);
  CHECK(std::abs(variance - 1 / 12.0) < 0.001);
  CHECK(std::all_of(values.begin(), values.end(), [](float x) { return x >= 0 && x < 1; }));
}

TEST_CASE("generator: a restored state continues the stream bit for bit") {
  Generator generator(11);
  std::vector<float> some(3);
  generator.normal(some);  // leaves a cached normal behind
  generator.u32();
  const std::vector<std::uint8_t> state = generator.get_state();
  const auto draw = [](Generator& from) {
    std::vector<double> values(5);
    from.normal(values);
    for (int i = 0; i < 700; ++i) values.push_back(from.u32());
    return values;
  };
  Generator other;
  other.set_state(state);
  CHECK(other.initial_seed() == 11);
  CHECK(other.get_state() == state);
  CHECK(draw(other) == draw(generator));

  const std::vector<std::uint8_t> before = other.get_state();
  std::vector<std::uint8_t> broken = state;
  broken.pop_back();
  CHECK_THROWS_AS(other.set_state(broken), Error);
  broken = state;
  broken[0] ^= 1;
  CHECK_THROWS_AS(other.set_state(broken), Error);
  broken = state;
  broken[18] = 0xff;  // the count of used words
  CHECK_THROWS_AS(other.set_state(broken), Error);
  CHECK(other.get_state() == before);
}

TEST_CASE("generator: the default one is seeded by manual_seed") {
  labgrad::manual_seed(5);
  const std::uint32_t first = labgrad::default_generator().u32();
  CHECK(first == Generator(5).u32());
  CHECK(labgrad::default_generator().initial_seed() == 5);
}

TEST_CASE("generator: bad arguments are errors and draw nothing") {
  Generator generator(0);
  std::vector<float> f(4);
  std::vector<double> d(4);
  std::vector<std::int64_t> i(4);
  const double nan = std::nan("");
  const double inf = HUGE_VAL;
  CHECK_THROWS_AS(generator.uniform(f, 1, 0), Error);
  CHECK_THROWS_AS(generator.uniform(f, nan, 0), Error);
  CHECK_THROWS_AS(generator.uniform(f, -3e38, 3e38), Error);
  CHECK_THROWS_AS(generator.uniform(d, 0, inf), Error);
  CHECK_THROWS_AS(generator.normal(f, 0, -1), Error);
  CHECK_THROWS_AS(generator.normal(d, nan, 1), Error);
  CHECK_THROWS_AS(generator.normal(d, 0, inf), Error);
  CHECK_THROWS_AS(generator.random_ints(i, 2, 2), Error);
  CHECK_THROWS_AS(generator.randperm(-1), Error);
  CHECK_THROWS_AS(generator.bernoulli(std::span<float>(f), 1.5), Error);
  CHECK_THROWS_AS(generator.bernoulli(std::span<double>(d), nan), Error);
  CHECK_THROWS_AS(generator.bernoulli(std::span<double>(d), std::vector<double>{0.5}), Error);
  CHECK(generator.get_state() == Generator(0).get_state());
}

// The known answers that the authors publish with Random123.
TEST_CASE("philox: published vectors") {
  const auto check = [](labgrad::PhiloxBlock counter, std::uint32_t k0, std::uint32_t k1,
                        std::array<std::uint32_t, 4> want) {
    const labgrad::PhiloxBlock got = labgrad::philox4x32(counter, k0, k1);
    for (std::size_t i = 0; i < 4; ++i) CHECK(got.word[i] == want[i]);
  };
  check({{0, 0, 0, 0}}, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint32_t ones = 0xffffffff;
  check({{ones, ones, ones, ones}}, ones, ones, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  check({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0,
        {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("philox: positions are the words of their block, and no part of key or place is lost") {
  const std::uint64_t key = 0x123456789abcdef0;
  for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40}) {
    const labgrad::PhiloxBlock words = labgrad::philox(key, block);
    for (std::uint64_t i = 0; i < 4; ++i) {
      CHECK(labgrad::philox_uniform(key, 4 * block + i) == words.word[i] * 0x1p-32);
    }
  }
  const std::uint64_t one_high = std::uint64_t{1} << 32;
  CHECK(labgrad::philox(key, 0).word[0] != labgrad::philox(key, one_high).word[0]);
  CHECK(labgrad::philox(key, 0).word[0] != labgrad::philox(key ^ one_high, 0).word[0]);
}

TEST_CASE("splitmix64: first outputs for the seed 0, and parts that get seeds of their own") {
  CHECK(labgrad::splitmix64(0) == 0xe220a8397b1dcdaf);
  CHECK(labgrad::splitmix64(0x9e3779b97f4a7c15) == 0x6e789e6aa1b965f4);
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (std::uint64_t part = 0; part < 50; ++part) seeds.insert(labgrad::derive_seed(seed, part));
  }
  CHECK(seeds.size() == 2500);
}
