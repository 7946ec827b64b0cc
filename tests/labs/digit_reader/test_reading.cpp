#include "labs/digit_reader/reading.h"

#include <doctest/doctest.h>

#include <cmath>

#include "data/digits.h"
#include "engine/engine.h"
#include "labs/digit_reader/attention_map.h"

using namespace labgrad;
using namespace labgrad::labs::digit_reader;

namespace {

// A reader that writes what it is told to, strip after strip.
class Scripted : public Reader {
 public:
  std::vector<data::Symbols> script;

  Encoded encode(const Tensor& images) override {
    t_ = 0;
    return {zeros({images.size(0), 1}), {}};
  }
  Step step(const Tensor& y_prev, const Tensor& s_prev, const Memory&) override {
    const std::int64_t B = y_prev.size(0);
    std::vector<std::int64_t> symbols(static_cast<std::size_t>(B));
    for (std::size_t b = 0; b < script.size(); ++b)
      symbols[b] = script[b].at(t_ % script[b].size());
    const Tensor next = from_values(std::span<const std::int64_t>(symbols), {B});
    // The attention of step t lies on column t.
    Tensor alpha = full({B, 21}, 0.01);
    select(alpha, 1, static_cast<std::int64_t>(t_)).fill_(0.8);
    ++t_;
    return {labgrad::to(one_hot(next, data::symbol::count), f32), s_prev, alpha};
  }
  Tensor forward(const Tensor&, const Tensor&) override { return {}; }
  void members(nn::Members&) override {}
  std::string kind() const override { return "Scripted"; }

 private:
  std::size_t t_ = 0;
};

}  // namespace

TEST_CASE("digit_reader: a reading ends with its own <eos>") {
  using namespace data::symbol;
  Scripted reader;
  reader.script = {{3, eos, 9, 9, 9}, {1, sos, 2, data::symbol::pad, eos}, {7}};
  const std::vector<Reading> readings = read(reader, zeros({3, 1, 28, 336}));
  CHECK(readings[0].symbols == data::Symbols{3, eos});
  CHECK(readings[0].alpha.size() == 2);
  CHECK(readings[1].symbols == data::Symbols{1, sos, 2, data::symbol::pad, eos});
  CHECK(readings[2].symbols == data::Symbols(14, 7));  // never ends by itself
  const std::vector<Reading::Digit> digits = readings[1].digits();
  REQUIRE(digits.size() == 2);
  CHECK(digits[1].digit == 2);
  CHECK(digits[1].step == 2);
  CHECK(peak_of(readings[2].alpha[5]).column == 5);
  CHECK(peak_of(readings[2].alpha[5]).centre() == 88);
}

TEST_CASE("digit_reader: alignment counts positions as Q5.2 says") {
  using namespace data::symbol;
  const data::LabelledImages images = data::generated_digits(50, data::Split::test);
  const data::StripDataset strips(images, 1, {3, 3}, 7);
  const auto target = strips.digits(0);
  const auto xs = strips.xs(0);
  // Weight in the middle of box k, or far from it.
  const auto on = [](std::int64_t pixel) {
    std::vector<double> alpha(21, 0.01);
    alpha[static_cast<std::size_t>(pixel / 16)] = 0.8;
    return alpha;
  };
  const std::int64_t far = xs[0] > 150 ? 0 : 335;
  Reading reading;
  reading.symbols = {target[0], (target[1] + 1) % 10, eos};
  reading.alpha = {on(xs[0] + 13), on(far), on(0)};
  const Alignment a = align(strips, {reading});
  CHECK(a.right == 1);
  CHECK(a.right_aligned == 1);
  CHECK(a.wrong == 1);
  CHECK(a.wrong_aligned == 0);
  CHECK(a.missing == 1);
  CHECK(!(std::abs(a.median_largest() - 0.8) > 1e-12));
  CHECK(std::isnan(Alignment().right_share()));
}

TEST_CASE("digit_reader: the first difference of two strings") {
  const std::vector<std::int64_t> target{4, 0, 7};
  CHECK(first_difference({4, 0, 7}, target) == 3);
  CHECK(first_difference({4, 1, 7}, target) == 1);
  CHECK(first_difference({4}, target) == 1);
  CHECK(first_difference({4, 0, 7, 7}, target) == 3);
  CHECK(first_difference({}, target) == 0);
}

TEST_CASE("digit_reader: score takes the strips of the lengths asked for") {
  using namespace data::symbol;
  const data::LabelledImages images = data::generated_digits(50, data::Split::test);
  const data::StripDataset strips(images, 8, {1, 2}, 7);
  std::vector<Reading> readings;
  for (std::int64_t i = 0; i < 8; ++i) {
    const auto digits = strips.digits(i);
    // Two-digit strings lose their last digit.
    Reading r{.symbols = {digits[0], eos}};
    readings.push_back(r);
    CHECK(is_exact(r, digits) == (digits.size() == 1));
  }
  CHECK(score(readings, strips, {1, 1}).exact_accuracy() == 1);
  CHECK(score(readings, strips, {2, 2}).exact_accuracy() == 0);
  CHECK(score(readings, strips, {2, 2}).cer() == 0.5);
  CHECK(score(readings, strips, {1, 2}).strings == 8);
}
