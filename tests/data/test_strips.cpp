#include "data/strips.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "data/mnist.h"
#include "engine/error.h"
#include "engine/io/npy.h"
#include "engine/io/sha256.h"
#include "tests/engine/io/files.h"
#include "tests/golden.h"

using labgrad::Json;
using labgrad::NumpyGenerator;
using labgrad::Tensor;
using namespace labgrad::data;

namespace {

// As many black pictures as MNIST has; the draws depend on nothing else.
LabelledImages blank(std::int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  return {.height = 28,
          .width = 28,
          .pixels = std::vector<std::uint8_t>(size * 28 * 28),
          .labels = std::vector<std::uint8_t>(size)};
}

// Image i is all of brightness 10 (i + 1) and shows the digit i.
LabelledImages plain(std::int64_t n) {
  LabelledImages images = blank(n);
  for (std::size_t i = 0; i < images.labels.size(); ++i) {
    images.labels[i] = static_cast<std::uint8_t>(i);
    std::fill_n(images.pixels.begin() + static_cast<std::ptrdiff_t>(i * 784), 784,
                static_cast<std::uint8_t>(10 * (i + 1)));
  }
  return images;
}

StripDataset dataset(const LabelledImages& images, const Json& wanted) {
  const std::vector<std::int64_t> lengths = golden::integers(wanted.at("lengths"));
  return {images,
          wanted.at("n").as_int(),
          {lengths[0], lengths[1]},
          golden::unsigned_integer(wanted.at("seed")),
          wanted.at("width").as_int()};
}

using Row = std::span<const std::int64_t> (StripDataset::*)(std::int64_t) const;

// The rows of the first strips are as listed, and all of them have the checksum.
void check_rows(const StripDataset& set, Row row, const Json& wanted, const std::string& name) {
  CAPTURE(name);
  const Json::Array& head = wanted.at(name + "_head").as_array();
  for (std::size_t i = 0; i < head.size(); ++i) {
    const auto got = (set.*row)(static_cast<std::int64_t>(i));
    CHECK(std::vector(got.begin(), got.end()) == golden::integers(head[i]));
  }
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const auto got = (set.*row)(i);
    all.insert(all.end(), got.begin(), got.end());
  }
  CHECK(golden::sha256(all) == wanted.at(name + "_sha256_i32le").as_string());
}

std::vector<std::int64_t> values(const Tensor& x) { return x.to_vector<std::int64_t>(); }

}  // namespace

TEST_CASE("strips: lengths, sources and places of the notebook's sets") {
  const LabelledImages train = blank(60000), test = blank(10000);
  for (const Json& wanted : golden::file("strips.json").at("sets").as_array()) {
    const std::string name = wanted.at("name").as_string();
    CAPTURE(name);
    const StripDataset set =
        dataset(wanted.at("split").as_string() == "train" ? train : test, wanted);
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < set.size(); ++i) lengths.push_back(set.length(i));
    CHECK(golden::sha256(lengths) == wanted.at("lengths_sha256_i32le").as_string());
    check_rows(set, &StripDataset::src, wanted, "src");
    check_rows(set, &StripDataset::xs, wanted, "xs");
  }
}

TEST_CASE("strips: digits and pictures of the notebook's sets") {
  if (!has_mnist("data/files/mnist")) {
    MESSAGE("skipped: data/files/mnist has no MNIST; `make data` gets it");
    return;
  }
  const LabelledImages train = load_mnist("data/files/mnist", Split::train);
  const LabelledImages test = load_mnist("data/files/mnist", Split::test);
  for (const Json& wanted : golden::file("strips.json").at("sets").as_array()) {
    const std::string name = wanted.at("name").as_string();
    CAPTURE(name);
    const StripDataset set =
        dataset(wanted.at("split").as_string() == "train" ? train : test, wanted);
    check_rows(set, &StripDataset::digits, wanted, "digits");
    // The pictures of an epoch are half a gigabyte each; the three small sets tell as much.
    if (set.size() > 10000) continue;
    labgrad::Sha256 sum;
    for (std::int64_t i = 0; i < set.size(); ++i) {
      const std::vector<std::uint8_t> picture = set.picture(i);
      sum.update(std::as_bytes(std::span(picture)));
    }
    CHECK(labgrad::to_hex(sum.digest()) == wanted.at("images_sha256_u8").as_string());
  }
}

TEST_CASE("strips: a strip alone draws as the set does") {
  const LabelledImages images = plain(10);
  const StripDataset set(images, 1, {5, 5}, 7);
  NumpyGenerator generator(7);
  const Strip strip = make_strip(images, 5, generator);  // one length: its shuffle draws nothing
  CHECK(strip.src == set.strip(0).src);
  CHECK(strip.xs == set.strip(0).xs);
  CHECK(strip.digits == strip.src);
  CHECK(strip.picture == set.picture(0));
  for (std::size_t k = 1; k < 5; ++k) {
    CHECK(strip.xs[k] - strip.xs[k - 1] >= 22);
    CHECK(strip.xs[k] - strip.xs[k - 1] <= 28);
  }
}

TEST_CASE("strips: the brighter pixel stays where boxes overlap") {
  const LabelledImages images = plain(3);
  const std::vector<std::int64_t> src = {2, 0}, xs = {0, 22};
  const auto strip = draw_strip(images, src, xs, 60);
  for (const std::size_t row : {std::size_t{0}, std::size_t{27}}) {
    CHECK(strip[row * 60 + 0] == 30);
    CHECK(strip[row * 60 + 27] == 30);
    CHECK(strip[row * 60 + 28] == 10);
    CHECK(strip[row * 60 + 49] == 10);
    CHECK(strip[row * 60 + 50] == 0);
  }
}

TEST_CASE("strips: what cannot be drawn is an error") {
  const LabelledImages images = plain(3);
  const auto draw = [&](std::vector<std::int64_t> src, std::vector<std::int64_t> xs) {
    return draw_strip(images, src, xs, 60);
  };
  CHECK(draw({0}, {32}).size() == 28 * 60);
  for (const auto& [src, x] : {std::pair{0, 33}, {0, -1}, {3, 0}, {-1, 0}})
    CHECK_THROWS_AS(draw({src}, {x}), labgrad::Error);
  CHECK_THROWS_AS(draw({0, 1}, {0}), labgrad::Error);
  NumpyGenerator generator(0);
  CHECK(make_strip(images, 12, generator).xs.size() == 12);
  CHECK_THROWS_AS(make_strip(images, 13, generator), labgrad::Error);
  CHECK_THROWS_AS(make_strip(images, 0, generator), labgrad::Error);
  CHECK_THROWS_AS(StripDataset(images, -1, {}, 0), labgrad::Error);
  CHECK_THROWS_AS(StripDataset(images, 1, {3, 2}, 0), labgrad::Error);
  CHECK_THROWS_AS(StripDataset(images, 1, {1, 13}, 0), labgrad::Error);
  const StripDataset set(images, 2, {}, 0);
  CHECK_THROWS_AS(set.digits(2), labgrad::Error);
  CHECK_THROWS_AS(set.digits(-1), labgrad::Error);
  const LabelledImages none = blank(0);
  CHECK_THROWS_AS(StripDataset(none, 1, {}, 0), labgrad::Error);
}

TEST_CASE("strips: collate pads to the longest and scales to one") {
  const LabelledImages images = plain(3);
  const auto strip = [&](std::vector<std::int64_t> src) {
    Strip s{.picture = {}, .digits = src, .src = src, .xs = {}};
    for (std::size_t k = 0; k < src.size(); ++k) s.xs.push_back(28 * static_cast<std::int64_t>(k));
    s.picture = draw_strip(images, s.src, s.xs);
    return s;
  };
  const std::vector<Strip> strips = {strip({1, 2, 0}), strip({2})};
  const StripBatch batch = collate(strips);
  CHECK(batch.images.shape() == labgrad::Shape{2, 1, 28, 336});
  CHECK(batch.images.at({0, 0, 3, 29}) == doctest::Approx(30.0f / 255.0f));
  CHECK(batch.images.at({1, 0, 3, 29}) == 0);
  CHECK(values(batch.inputs) == std::vector<std::int64_t>{10, 1, 2, 0, 10, 2, 12, 12});
  CHECK(values(batch.targets) == std::vector<std::int64_t>{1, 2, 0, 11, 2, 11, 12, 12});
  CHECK_THROWS_AS(collate(std::span<const Strip>()), labgrad::Error);

  const StripDataset set(images, 6, {1, 3}, 3);
  const std::vector<std::int64_t> indices = {4, 0};
  const StripBatch some = collate(set, indices);
  CHECK(some.images.at({0, 0, 5, set.xs(4)[0]}) > 0);
  CHECK(some.targets.at({1, 0}) == static_cast<double>(set.digits(0)[0]));
}

TEST_CASE("strips: saved arrays hold the set") {
  const files::Scratch scratch("strips");
  const LabelledImages images = plain(10);
  const StripDataset set(images, 5, {2, 4}, 11);
  save_strips(scratch.file("new"), set);
  const auto load = [&](const char* name) { return labgrad::load_npy(scratch.file("new") / name); };
  const Tensor pictures = load("images.npy");
  REQUIRE(pictures.shape() == labgrad::Shape{5, 28, 336});
  const auto last = set.picture(4);
  const std::vector<std::int64_t> pixels = pictures.to_vector<std::int64_t>();
  CHECK(std::equal(last.begin(), last.end(), pixels.begin() + 4 * 28 * 336));
  std::vector<std::int64_t> lengths, digits, src, xs;
  for (std::int64_t i = 0; i < 5; ++i) {
    lengths.push_back(set.length(i));
    for (const auto& [to, from] : {std::pair{&digits, set.digits(i)}, std::pair{&src, set.src(i)},
                                   std::pair{&xs, set.xs(i)}})
      to->insert(to->end(), from.begin(), from.end());
  }
  CHECK(values(load("lengths.npy")) == lengths);
  CHECK(values(load("digits.npy")) == digits);
  CHECK(values(load("src.npy")) == src);
  CHECK(values(load("xs.npy")) == xs);
}
