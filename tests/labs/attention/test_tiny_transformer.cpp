#include "labs/attention/tiny_transformer.h"

#include "engine/engine.h"
#include "labs/attention/reviews_task.h"
#include "tests/nn/golden_modules.h"

using namespace labgrad;
using namespace labgrad::tests;
using labs::attention::TinyTransformer;

TEST_CASE("TinyTransformer: the seed's weights are PyTorch's, by name") {
  int found = 0;
  for (const Json& model : golden::file("torch_rng.json").at("models").as_array()) {
    if (model.at("name").as_string() != "TinyTransformer") continue;
    ++found;
    manual_seed(golden::unsigned_integer(model.at("seed")));
    TinyTransformer transformer(40);
    CHECK(transformer.parameter_count() == model.at("parameters").as_int());
    check_golden_parameters(transformer, model.at("params"));
    for (const Json& next : model.at("next32").as_array())
      CHECK(default_generator().u32() == golden::unsigned_integer(next));
  }
  CHECK(found == 1);
}

TEST_CASE("TinyTransformer: padding changes nothing, and nobody looks at it") {
  manual_seed(1);
  TinyTransformer model(12);
  const Tensor words = tensor({{3, 7, 2, 9}});
  const Tensor padded = cat({words, zeros({1, 5}, {.dtype = i64})}, 1);
  const auto [out, weights] = model.forward(padded);
  CHECK(difference(out, model.forward(words).out, {.rtol = 1e-5, .atol = 1e-6}) == "");
  CHECK(max(abs(narrow(weights, 3, 4, 5))).item() == 0);
  // A sentence of padding alone: zeros, no NaN.
  CHECK(all(isfinite(model.forward(zeros({1, 4}, {.dtype = i64})).out)).item<bool>());
}

// The mean losses of PyTorch's first epoch on the same reviews from the same seed, by its first
// steps.
TEST_CASE("TinyTransformer: the first losses of the course's training are PyTorch's") {
  const labs::attention::ReviewsTask& task = labs::attention::course_reviews();
  CHECK(task.vocabulary.size() == 68);
  manual_seed(42);
  TinyTransformer model(task.vocabulary.size());
  optim::Adam adam(model.parameters(), {.lr = 3e-3});
  const Tensor x = narrow(task.train_x, 0, 0, 64), y = narrow(task.train_y, 0, 0, 64);
  const double torch[] = {0.6651773, 0.6454129, 0.626565,  0.6071656, 0.5870029,
                          0.5655035, 0.5422851, 0.5174628, 0.491231,  0.4635551};
  for (const double want : torch) {
    adam.zero_grad();
    const Tensor loss = cross_entropy(model.forward(x).out, y);
    CHECK(!(std::abs(loss.item() - want) > 2e-6));
    loss.backward();
    adam.step();
  }
}
