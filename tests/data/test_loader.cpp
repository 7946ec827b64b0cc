#include "data/loader.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/error.h"
#include "tests/golden.h"

using labgrad::Generator;
using labgrad::Json;
using labgrad::data::Loader;

TEST_CASE("loader: order, base seed and draws of PyTorch's DataLoader") {
  for (const Json& wanted : golden::file("torch_rng.json").at("loaders").as_array()) {
    const std::string name = wanted.at("name").as_string();
    CAPTURE(name);
    labgrad::manual_seed(golden::unsigned_integer(wanted.at("default_seed")));
    std::optional<Generator> own;
    if (!wanted.at("generator_seed").is_null()) {
      own.emplace(golden::unsigned_integer(wanted.at("generator_seed")));
    }
    const labgrad::data::LoaderOptions options{.batch_size = wanted.at("batch_size").as_int(),
                                               .drop_last = wanted.at("drop_last").as_bool()};
    for (const Json& epoch : wanted.at("epochs").as_array()) {
      // A new loader for each pass goes on in the generator's stream.
      const std::int64_t n = wanted.at("n").as_int();
      const Loader loader = own ? Loader(n, options, *own) : Loader(n, options);
      auto pass = loader.begin();
      CHECK(pass.base_seed() == golden::integer(epoch.at("base_seed")));
      std::vector<std::int64_t> order;
      std::int64_t batches = 0;
      std::size_t last = 0;
      for (; pass != loader.end(); ++pass) {
        ++batches;
        last = (*pass).size();
        order.insert(order.end(), (*pass).begin(), (*pass).end());
      }
      CHECK(batches == epoch.at("batches").as_int());
      CHECK(batches == loader.batches());
      CHECK(last == static_cast<std::size_t>(epoch.at("last_batch").as_int()));
      CHECK(golden::sha256(order) == epoch.at("sha256_i32le").as_string());
    }
    for (const std::int64_t want : golden::integers(wanted.at("default_next32"))) {
      CHECK(labgrad::default_generator().u32() == want);
    }
    if (!own) continue;
    for (const std::int64_t want : golden::integers(wanted.at("generator_next32"))) {
      CHECK(own->u32() == want);
    }
  }
}

// Each worker of each epoch drew the same augmentation.
TEST_CASE("loader: the draws of workers and epochs all differ, and come again with the seed") {
  auto draws = [](std::uint64_t seed) {
    Generator generator(seed);
    const Loader loader(6, {.batch_size = 2}, generator);
    std::vector<float> all;
    for (int epoch = 0; epoch < 3; ++epoch) {
      auto pass = loader.begin();
      for (std::uint64_t worker = 0; worker < 4; ++worker) {
        const auto base = static_cast<std::uint64_t>(pass.base_seed());
        Generator own(labgrad::derive_seed(base, worker));
        std::vector<float> some(5);
        own.uniform(some);
        all.insert(all.end(), some.begin(), some.end());
      }
      while (pass != loader.end()) ++pass;
    }
    return all;
  };
  std::vector<float> once = draws(1);
  CHECK(once == draws(1));
  CHECK(once != draws(2));
  std::sort(once.begin(), once.end());
  CHECK(std::adjacent_find(once.begin(), once.end()) == once.end());
}

TEST_CASE("loader: a pass left early draws no second order") {
  Generator generator(4);
  Generator twin(4);
  for (const auto batch : Loader(10, {.batch_size = 3}, generator)) {
    CHECK(batch.size() == 3);
    break;
  }
  twin.random_63();
  twin.randperm(10);
  CHECK(generator.u32() == twin.u32());
}

TEST_CASE("loader: without shuffle the order is plain and only the base seed is drawn") {
  labgrad::manual_seed(4);
  Generator twin(4);
  std::vector<std::int64_t> seen;
  for (const auto batch : Loader(5, {.batch_size = 2, .shuffle = false})) {
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  CHECK(seen == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  twin.random_63();
  CHECK(labgrad::default_generator().u32() == twin.u32());
}

TEST_CASE("loader: few samples, no sample, bad options") {
  Generator generator(0);
  CHECK(Loader(3, {.batch_size = 4}, generator).batches() == 1);
  CHECK(Loader(3, {.batch_size = 4, .drop_last = true}, generator).batches() == 0);
  CHECK(Loader(0, {.batch_size = 4}, generator).batches() == 0);
  int passes = 0;
  for ([[maybe_unused]] const auto batch : Loader(0, {.batch_size = 4}, generator)) ++passes;
  CHECK(passes == 0);
  CHECK_THROWS_AS(Loader(-1, {.batch_size = 4}), labgrad::Error);
  CHECK_THROWS_AS(Loader(1, {.batch_size = 0}), labgrad::Error);
  const Loader loader(1, {.batch_size = 1});
  auto pass = loader.begin();
  ++pass;
  CHECK_THROWS_AS(++pass, labgrad::Error);
  CHECK_THROWS_AS(*pass, labgrad::Error);
}
