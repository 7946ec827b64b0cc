#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "engine/error.h"
#include "engine/io/sha256.h"
#include "engine/random_numpy.h"
#include "tests/golden.h"

using labgrad::Error;
using labgrad::Json;
using labgrad::NumpyGenerator;

namespace {

// The words of a decimal number of any length, least significant first.
std::vector<std::uint32_t> words_of_decimal(const std::string& digits) {
  std::vector<std::uint32_t> words;
  for (const char digit : digits) {
    std::uint64_t carry = static_cast<std::uint64_t>(digit - '0');
    for (std::uint32_t& word : words) {
      carry += std::uint64_t{word} * 10;
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words.push_back(static_cast<std::uint32_t>(carry));
  }
  return words;
}

NumpyGenerator generator_of(const Json& seed) {
  if (seed.is_string()) return NumpyGenerator(words_of_decimal(seed.as_string()));
  return NumpyGenerator(static_cast<std::uint64_t>(seed.as_int()));
}

std::string hex128(std::uint64_t high, std::uint64_t low) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint64_t half : {high, low}) {
    for (int shift = 56; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<std::uint8_t>(half >> shift));
    }
  }
  return "0x" + labgrad::to_hex(bytes);
}

void check_state(const NumpyGenerator& generator, const Json& want) {
  const NumpyGenerator::State state = generator.get_state();
  CHECK(hex128(state.state_high, state.state_low) == want.at("state").as_string());
  CHECK(hex128(state.increment_high, state.increment_low) == want.at("inc").as_string());
  const Json* half = want.find("half");
  if (!half) return;
  CHECK(state.half.has_value() == !half->is_null());
  if (state.half && !half->is_null()) CHECK(*state.half == half->as_int());
}

// The values of a step against `result`, or against `head` and the checksum.
void check_values(const std::vector<std::int64_t>& got, const Json& step) {
  if (const Json* all = step.find("result")) {
    CHECK(got == (all->is_array() ? golden::integers(*all)
                                  : std::vector<std::int64_t>{golden::integer(*all)}));
    return;
  }
  const std::vector<std::int64_t> head = golden::integers(step.at("head"));
  REQUIRE(got.size() >= head.size());
  CHECK(std::equal(head.begin(), head.end(), got.begin()));
  CHECK(golden::sha256(got) == step.at("sha256_i32le").as_string());
}

// numpy.resize of first..last to n values.
std::vector<std::int64_t> resized(std::int64_t first, std::int64_t last, std::int64_t n) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    values[static_cast<std::size_t>(i)] = first + i % (last - first + 1);
  }
  return values;
}

void replay(NumpyGenerator& generator, const Json& step) {
  const std::string& op = step.at("op").as_string();
  const auto number = [&](const char* key) { return golden::integer(step.at(key)); };
  if (op == "integers") {
    const std::int64_t low = number("low");
    if (step.at("high").is_string() && step.at("high").as_string() == "9223372036854775808") {
      std::vector<std::int64_t> values;
      for (std::int64_t i = 0; i < number("size"); ++i) {
        values.push_back(generator.integers_closed(low, std::numeric_limits<std::int64_t>::max()));
      }
      check_values(values, step);
    } else if (step.at("size").is_null()) {
      check_values({generator.integers(low, number("high"))}, step);
    } else {
      check_values(generator.integers(low, number("high"), number("size")), step);
    }
  } else if (op == "shuffle") {
    std::vector<std::int64_t> values = golden::integers(step.at("array"));
    generator.shuffle(values);
    check_values(values, step);
  } else if (op == "shuffle_resized") {
    std::vector<std::int64_t> values = resized(number("first"), number("last"), number("n"));
    generator.shuffle(values);
    check_values(values, step);
  } else if (op == "permutation") {
    check_values(generator.permutation(number("n")), step);
  } else if (op == "choice") {
    check_values(generator.choice(number("n"), number("size"), step.at("replace").as_bool()), step);
  } else if (op == "random") {
    for (const double want : golden::doubles(step.at("result"))) CHECK(generator.random() == want);
  } else if (op == "random_f32") {
    for (const float want : golden::floats(step.at("result"))) {
      CHECK(generator.random_f32() == want);
    }
  } else {
    FAIL("no such step: " << op);
  }
}

}  // namespace

TEST_CASE("numpy generator: streams from seeds of every size") {
  for (const Json& stream : golden::file("numpy_rng.json").at("streams").as_array()) {
    const std::string seed = stream.at("seed").dump();
    CAPTURE(seed);
    NumpyGenerator generator = generator_of(stream.at("seed"));
    check_state(generator, stream);
    for (const Json& want : stream.at("next64").as_array()) {
      CHECK(generator.next64() == golden::unsigned_integer(want));
    }
    generator = generator_of(stream.at("seed"));
    for (const Json& want : stream.at("next32").as_array()) {
      CHECK(generator.next32() == golden::unsigned_integer(want));
    }
    generator = generator_of(stream.at("seed"));
    for (const Json& want : stream.at("random").as_array()) {
      CHECK(generator.random() == want.as_double());
    }
  }
}

TEST_CASE("numpy generator: programs of draws end in the right state") {
  for (const Json& program : golden::file("numpy_rng.json").at("programs").as_array()) {
    const std::string name = program.at("name").as_string();
    CAPTURE(name);
    NumpyGenerator generator = generator_of(program.at("seed"));
    for (const Json& step : program.at("steps").as_array()) replay(generator, step);
    check_state(generator, program.at("final"));
  }
}

// The draws of the strip data sets; the pictures themselves need MNIST.
TEST_CASE("numpy generator: lengths, sources and places of the strips") {
  for (const Json& set : golden::file("strips.json").at("sets").as_array()) {
    const std::string name = set.at("name").as_string();
    CAPTURE(name);
    NumpyGenerator generator(golden::unsigned_integer(set.at("seed")));
    const std::int64_t images = set.at("split").as_string() == "test" ? 10000 : 60000;
    const std::int64_t width = set.at("width").as_int();
    std::vector<std::int64_t> lengths = resized(
        set.at("lengths").at(0).as_int(), set.at("lengths").at(1).as_int(), set.at("n").as_int());
    generator.shuffle(lengths);
    std::vector<std::int64_t> sources;
    std::vector<std::int64_t> places;
    for (const std::int64_t length : lengths) {
      const std::vector<std::int64_t> source = generator.integers(0, images, length);
      const std::vector<std::int64_t> gaps = generator.integers(-6, 1, length - 1);
      const std::int64_t span = std::accumulate(gaps.begin(), gaps.end(), 28 * length);
      std::int64_t x = generator.integers(0, width - span + 1);
      sources.insert(sources.end(), source.begin(), source.end());
      places.push_back(x);
      for (const std::int64_t gap : gaps) places.push_back(x += 28 + gap);
    }
    CHECK(golden::sha256(lengths) == set.at("lengths_sha256_i32le").as_string());
    CHECK(golden::sha256(sources) == set.at("src_sha256_i32le").as_string());
    CHECK(golden::sha256(places) == set.at("xs_sha256_i32le").as_string());
    check_state(generator, set.at("final"));
  }
}

TEST_CASE("numpy generator: a choice without replacement has no number twice") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    NumpyGenerator generator(seed);
    std::vector<std::int64_t> chosen = generator.choice(20, 20, false);
    std::sort(chosen.begin(), chosen.end());
    CHECK(chosen == resized(0, 19, 20));
  }
}

// With n = 5 one of the 2^32 draws, 0, is one too many and must be refused.
TEST_CASE("numpy generator: the draws left over by a range are refused") {
  NumpyGenerator generator(7);
  NumpyGenerator twin(7);
  NumpyGenerator::State state = generator.get_state();
  state.half = 0;
  generator.set_state(state);
  for (int i = 0; i < 8; ++i) CHECK(generator.integers(0, 5) == twin.integers(0, 5));
  state.half = 1;  // the next one is taken
  generator.set_state(state);
  CHECK(generator.integers(0, 5) == 0);
  CHECK(!generator.get_state().half);
  CHECK(generator.get_state().state_low == state.state_low);
}

TEST_CASE("numpy generator: a restored state continues the stream") {
  NumpyGenerator generator(7);
  generator.next32();
  const NumpyGenerator::State state = generator.get_state();
  REQUIRE(state.half.has_value());
  const std::vector<std::int64_t> want = generator.integers(0, 1000, 50);
  NumpyGenerator other(8);
  other.set_state(state);
  CHECK(other.integers(0, 1000, 50) == want);
  CHECK(other.get_state() == generator.get_state());
  NumpyGenerator::State broken = state;
  broken.increment_low -= 1;
  CHECK_THROWS_AS(other.set_state(broken), Error);
}

TEST_CASE("numpy generator: bad arguments are errors") {
  NumpyGenerator generator(0);
  CHECK_THROWS_AS(generator.integers(3, 3), Error);
  CHECK_THROWS_AS(generator.integers(3, 2), Error);
  CHECK_THROWS_AS(generator.integers(0, 2, -1), Error);
  CHECK_THROWS_AS(generator.integers_closed(1, 0), Error);
  CHECK_THROWS_AS(generator.permutation(-1), Error);
  CHECK_THROWS_AS(generator.choice(3, 4, false), Error);
  CHECK_THROWS_AS(generator.choice(0, 1), Error);
  CHECK_THROWS_AS(generator.choice(3, -1), Error);
  CHECK(generator.choice(0, 0).empty());
  CHECK(generator.permutation(0).empty());
  CHECK(generator.integers(0, 1) == 0);
  CHECK(generator.get_state() == NumpyGenerator(0).get_state());  // nothing of this drew
}

TEST_CASE("numpy generator: uniform is an affine map of random") {
  NumpyGenerator a(3);
  NumpyGenerator b(3);
  for (int i = 0; i < 10; ++i) CHECK(a.uniform(-2, 6) == -2 + 8 * b.random());
}
