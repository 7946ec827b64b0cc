#include "data/digits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "data/strips.h"
#include "engine/error.h"
#include "engine/io/sha256.h"

using namespace labgrad::data;

namespace {

using Picture = std::span<const std::uint8_t>;

std::int64_t distance(Picture a, Picture b) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const int d = a[k] - b[k];
    sum += d * d;
  }
  return sum;
}

std::uint8_t label_of_nearest(const LabelledImages& among, Picture picture) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < among.size(); ++i) {
    if (distance(among.image(i), picture) < distance(among.image(best), picture)) best = i;
  }
  return among.labels[static_cast<std::size_t>(best)];
}

}  // namespace

TEST_CASE("generated digits: a picture depends on seed, split and place alone") {
  const LabelledImages all = generated_digits(30, Split::train, 5);
  const LabelledImages few = generated_digits(10, Split::train, 5);
  CHECK(std::equal(few.labels.begin(), few.labels.end(), all.labels.begin()));
  CHECK(std::equal(few.pixels.begin(), few.pixels.end(), all.pixels.begin()));
  CHECK(generated_digits(10, Split::train, 6).pixels != few.pixels);
  CHECK(generated_digits(0, Split::train).size() == 0);
  CHECK_THROWS_AS(generated_digits(-1, Split::train), labgrad::Error);
}

TEST_CASE("generated digits: the same bits with every compiler") {
  const LabelledImages images = generated_digits(100, Split::test);
  const std::string bytes(images.pixels.begin(), images.pixels.end());
  CHECK(labgrad::sha256(bytes) ==
        "736be93ec663b8a6aa3fd8cea8e0acb70aed4ab14087c474ea7ef91952c625b5");
}

TEST_CASE("generated digits: no picture is in both halves, nor twice in one") {
  std::set<std::vector<std::uint8_t>> seen;
  for (const Split split : {Split::train, Split::test}) {
    const LabelledImages images = generated_digits(500, split);
    for (std::int64_t i = 0; i < images.size(); ++i) {
      const Picture p = images.image(i);
      CHECK(seen.insert({p.begin(), p.end()}).second);
    }
  }
}

TEST_CASE("generated digits: all classes, ink in the middle, black at the edge") {
  const LabelledImages images = generated_digits(2000, Split::train);
  std::array<int, 10> count{};
  for (const std::uint8_t label : images.labels) ++count.at(label);
  CHECK(*std::min_element(count.begin(), count.end()) > 150);
  double sum = 0;
  int edge = 0;
  for (std::int64_t i = 0; i < images.size(); ++i) {
    const Picture p = images.image(i);
    for (std::size_t k = 0; k < 28; ++k)
      edge = std::max({edge, +p[k], +p[27 * 28 + k], +p[28 * k], +p[28 * k + 27]});
    for (const std::uint8_t pixel : p) sum += pixel;
    CHECK(*std::max_element(p.begin(), p.end()) > 150);
  }
  CHECK(edge == 0);
  // MNIST's mean is 33.
  const double mean = sum / static_cast<double>(images.pixels.size());
  CHECK(mean > 25);
  CHECK(mean < 40);
}

TEST_CASE("generated digits: the training pictures tell how to read the test pictures") {
  const LabelledImages train = generated_digits(1000, Split::train);
  const LabelledImages test = generated_digits(200, Split::test);
  int right = 0;
  for (std::int64_t i = 0; i < test.size(); ++i) {
    right += label_of_nearest(train, test.image(i)) == test.labels[static_cast<std::size_t>(i)];
  }
  CHECK(right > 160);  // 20 would be chance
  CHECK(StripDataset(test, 10, {1, 8}, 0).size() == 10);
}
