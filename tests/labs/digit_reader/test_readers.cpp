#include "labs/digit_reader/readers.h"

#include <cmath>

#include "data/strips.h"
#include "engine/engine.h"
#include "tests/nn/golden_modules.h"

using namespace labgrad;
using namespace labgrad::tests;
using namespace labgrad::labs::digit_reader;

namespace {

template <class R>
void check_weights(const char* name) {
  int found = 0;
  for (const Json& model : golden::file("torch_rng.json").at("models").as_array()) {
    if (model.at("name").as_string() != name) continue;
    ++found;
    manual_seed(golden::unsigned_integer(model.at("seed")));
    R reader;
    CHECK(reader.parameter_count() == model.at("parameters").as_int());
    check_golden_parameters(reader, model.at("params"));
    for (const Json& next : model.at("next32").as_array())
      CHECK(default_generator().u32() == golden::unsigned_integer(next));
  }
  CHECK(found == 2);  // two seeds
}

// Teacher forcing must be the same as step after step.
template <class R>
void check_forward_is_steps() {
  manual_seed(3);
  R reader;
  const nn::Evaluating evaluating(reader);
  const Tensor images = rand({2, 1, 28, 80});
  const Tensor inputs = tensor({{10, 3, 4, 1}, {10, 7, 12, 12}});
  const Tensor all = reader.forward(images, inputs);
  CHECK(all.shape() == Shape{2, 4, 13});
  auto [s, memory] = reader.encode(images);
  for (std::int64_t t = 0; t < 4; ++t) {
    const Reader::Step step = reader.step(select(inputs, 1, t), s, memory);
    CHECK(difference(step.logits, select(all, 1, t), {.rtol = 1e-5, .atol = 1e-6}) == "");
    CHECK(step.s.shape() == Shape{2, 64});
    s = step.s;
  }
}

}  // namespace

TEST_CASE("digit_reader: the seed's weights are PyTorch's, by name") {
  check_weights<FixedReader>("FixedReader");
  check_weights<AttentionReader>("AttentionReader");
}

TEST_CASE("digit_reader: forward is step after step") {
  check_forward_is_steps<FixedReader>();
  check_forward_is_steps<AttentionReader>();
}

TEST_CASE("digit_reader: attend by hand") {
  const Tensor K = tensor({{{1.0, 2.0}, {0.5, -1.0}, {-2.0, 0.0}}}, {.dtype = f64});
  const Tensor V = tensor({{{1.0}, {10.0}, {100.0}}}, {.dtype = f64});
  const auto [c, alpha] = attend(tensor({{0.3, 0.7}}, {.dtype = f64}), K, V);
  const double e[] = {std::exp(1.7 / std::sqrt(2.0)), std::exp(-0.55 / std::sqrt(2.0)),
                      std::exp(-0.6 / std::sqrt(2.0))};
  const double total = e[0] + e[1] + e[2];
  for (std::int64_t j = 0; j < 3; ++j) CHECK(!(std::abs(alpha.at({0, j}) - e[j] / total) > 1e-12));
  CHECK(!(std::abs(c.at({0, 0}) - (e[0] + 10 * e[1] + 100 * e[2]) / total) > 1e-12));
}

TEST_CASE("digit_reader: the column encoder's parts have the lab's shapes") {
  manual_seed(0);
  ColumnEncoder encoder;
  const ColumnEncoder::Output o = encoder.forward(rand({2, 1, 28, 336}));
  CHECK(o.F.shape() == Shape{2, 128, 1, 21});
  CHECK(o.memory.shape() == Shape{2, 21, 128});
  CHECK(o.s0.shape() == Shape{2, 64});
  // →h_21 and ←h_1 are where the memory has them.
  CHECK(difference(select(o.finals, 0, 0), narrow(select(o.memory, 1, 20), 1, 0, 64)) == "");
  CHECK(difference(select(o.finals, 0, 1), narrow(select(o.memory, 1, 0), 1, 64, 64)) == "");
}

TEST_CASE("digit_reader: padding counts for nothing in the loss") {
  const Tensor logits = randn({1, 3, 13}, {.dtype = f64});
  const Tensor padded = masked_loss(logits, tensor({{4, data::symbol::eos, data::symbol::pad}}));
  const Tensor cut = masked_loss(narrow(logits, 1, 0, 2), tensor({{4, data::symbol::eos}}));
  CHECK(!(std::abs(padded.item() - cut.item()) > 1e-12));
}
