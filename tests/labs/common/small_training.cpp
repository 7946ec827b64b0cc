#include "tests/labs/common/small_training.h"

#include <cmath>

#include "engine/create.h"
#include "engine/ops.h"
#include "labs/common/interrupt.h"

namespace labgrad::tests {

using namespace labgrad::labs;
namespace fs = std::filesystem;

void SmallTraining::Net::members(nn::Members& m) {
  m("first", first);
  m("second", second);
  m("drop", drop);
}

Tensor SmallTraining::Net::forward(const Tensor& in) {
  return second.forward(drop.forward(tanh(first.forward(in))));
}

SmallTraining::SmallTraining() {
  manual_seed(5);
  x = randn({20, 3});
  y = x * x;
  net = std::make_unique<Net>();
  adam = std::make_unique<optim::Adam>(net->parameters(), optim::AdamOptions{.lr = 0.05});
}

Training SmallTraining::training(std::int64_t epochs) {
  return {.name = "small net",
          .model = net.get(),
          .optimizer = adam.get(),
          .epochs = epochs,
          .batches = [this](std::int64_t) { return batches_of(loader); },
          .step =
              [this](const Batch& batch, std::int64_t step) {
                if (step == stop_at) request_stop();
                adam->lr = schedule(step);
                const Tensor rows = from_values(std::span<const std::int64_t>(batch),
                                                {static_cast<std::int64_t>(batch.size())});
                adam->zero_grad();
                const Tensor out = net->forward(index_select(x, 0, rows));
                const Tensor target = index_select(y, 0, rows);
                const Tensor loss = mse_loss(out, narrow(target, 1, 0, 1));
                loss.backward();
                adam->step();
                return poison == step ? std::nan("") : loss.item();
              },
          .evaluate =
              [this](std::int64_t epoch) {
                const nn::Evaluating evaluating(*net);
                const NoGrad no_grad;
                const Tensor noise = randn({1}, order);  // an evaluation that draws
                return Metrics{{"size", mean(square(net->forward(x))).item()},
                               {"draw", noise.item()},
                               {"epoch", static_cast<double>(epoch)}};
              },
          .generators = {{"default", &default_generator()}, {"order", &order}},
          .config = Json::object({{"seed", 5}, {"batch", 6}})};
}

bool same_bits(const NamedTensors& a, const NamedTensors& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].first != b[i].first || a[i].second.to_vector() != b[i].second.to_vector())
      return false;
  return true;
}

TrainingFiles files_in(const fs::path& dir, bool resume) {
  return {.checkpoint = dir / "c.safetensors", .curves = dir / "runs", .resume = resume};
}

}  // namespace labgrad::tests
