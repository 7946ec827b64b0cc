// Q3.3: the ritual before any training: can the reader learn one batch by heart?

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/engine.h"
#include "labs/common/plot.h"
#include "labs/digit_reader/sections.h"
#include "labs/digit_reader/training.h"

namespace labgrad::labs::digit_reader {
namespace {

constexpr std::int64_t batch_size = 32;

// The losses of steps 1 to 10 on MNIST from seed 0: of PyTorch 1.13, and of this program with every
// number in double precision, which is the exact course for all that single precision can tell.
constexpr double torch_losses[] = {2.614861, 2.483328, 2.410537, 2.351546, 2.309751,
                                   2.278472, 2.251571, 2.226055, 2.198389, 2.167482};
constexpr double double_losses[] = {2.6148611, 2.4833281, 2.4105454, 2.3515565, 2.3097415,
                                    2.2784443, 2.2515747, 2.2259528, 2.1982482, 2.1672689};

History drive(Lab& lab, const Task& data, std::int64_t steps) {
  const data::StripDataset strips(data.train_images, batch_size, train_lengths, 999);
  Batch all(batch_size);
  std::iota(all.begin(), all.end(), 0);
  const data::StripBatch batch = data::collate(strips, all);

  manual_seed(static_cast<std::uint64_t>(lab.seed()));
  AttentionReader reader;
  optim::Adam adam(reader.parameters(), {.lr = 1e-3});
  Training training{.name = "ritual", .model = &reader, .optimizer = &adam};
  training.config = describe(reader, Kind::attention, lab.seed());
  training.config.set("data", data.source);
  training.config.set("strips", batch_size);
  training.config.set("steps", steps);
  training.config.set("optimiser", "Adam");
  training.config.set("lr", adam.lr);
  training.batches = [&](std::int64_t) { return Batches(static_cast<std::size_t>(steps), all); };
  training.step = [&](const Batch&, std::int64_t) {
    const Tensor loss = masked_loss(reader.forward(batch.images, batch.inputs), batch.targets);
    adam.zero_grad();
    loss.backward();
    adam.step();
    return loss.item();
  };
  History history = train(lab, training);
  Json rows = Json::array();
  for (std::size_t i = 0; i < history.losses.size(); ++i)
    rows.push_back(Json::object({{"step", i + 1}, {"train/loss", history.losses[i]}}));
  records().push_back({fmt::format("ritual: one batch of {} strips, attention", batch_size),
                       training.config, rows});
  return history;
}

void compare_with_torch(Lab& lab, const std::vector<double>& losses) {
  Table table({{"step", "d"},
               {"loss", ".6f"},
               {"double precision", ".6f"},
               {"difference", ".1e"},
               {"PyTorch", ".6f"},
               {"difference", ".1e"}});
  double from_double = 0, from_torch = 0;  // the largest so far, relative
  const std::size_t steps = std::min<std::size_t>(10, losses.size());
  for (std::size_t i = 0; i < steps; ++i) {
    const double d = std::abs(losses[i] - double_losses[i]) / double_losses[i];
    const double t = std::abs(losses[i] - torch_losses[i]) / torch_losses[i];
    table.row(i + 1, losses[i], double_losses[i], d, torch_losses[i], t);
    if (i == 0) lab.check_less("step 1: the loss is PyTorch's (relative difference)", t, 1e-6);
    from_double = std::max(from_double, d);
    from_torch = std::max(from_torch, t);
  }
  lab.table(table);
  lab.check_less("steps 1 to 10 follow double precision", from_double, 1e-4);
  lab.check_less("steps 1 to 10 follow PyTorch's", from_torch, 3e-4);
  lab.say(
      "The same weights, the same strips, the same losses, up to rounding, which grows from step "
      "to "
      "step: Adam's first steps have the size of the learning rate whatever the size of the "
      "gradient, so a gradient that is 0 but for rounding moves a weight as far as any other. By "
      "step 50, where the loss leaves its plateau, two programs in single precision may be some "
      "steps apart.");
}

}  // namespace

void ritual(Lab& lab) {
  const Task& data = task(lab);
  const std::int64_t steps = lab.by_budget(10, 230, 300);
  lab.say(
      "One batch of {} training strips (seed 999), a fresh attention reader, Adam at 1e-3, {} "
      "steps on this one batch. A model that cannot learn {} strips by heart has a mistake in it, "
      "and it shows here in minutes and not after hours.",
      batch_size, steps, batch_size);
  const History history = drive(lab, data, steps);
  const std::vector<double>& losses = history.losses;

  if (data.mnist && lab.seed() == 0) compare_with_torch(lab, losses);
  Table table(std::vector<Column>{{"step", "d"}, {"loss", ".6f"}});
  table.row(1, losses[0]);
  for (std::int64_t step = std::min<std::int64_t>(50, steps); step <= steps; step += 50)
    table.row(step, losses[static_cast<std::size_t>(step - 1)]);
  lab.table(table);
  Series curve{.name = "attention reader"};
  for (std::size_t i = 0; i < losses.size(); ++i) {
    curve.x.push_back(static_cast<double>(i + 1));
    curve.y.push_back(losses[i]);
  }
  lab.picture("ritual", "The loss on the one batch.",
              draw_plot({.title = "One batch by heart",
                         .x = {.label = "step"},
                         .y = {.label = "cross-entropy", .log = true},
                         .series = {curve}}));

  const auto below = std::find_if(losses.begin(), losses.end(), [](double l) { return l < 0.01; });
  if (lab.budget() == Budget::quick) {
    lab.check_less("the loss falls from step to step (last / first)", losses.back() / losses[0],
                   0.95);
    lab.say("The short run ends here; without --quick the batch is learned by heart.");
    return;
  }
  lab.check(
      "the first step with a loss below 0.01",
      below == losses.end() ? Cell(std::string("none")) : make_cell(below - losses.begin() + 1),
      fmt::format("at most {}", steps), below != losses.end());
}

}  // namespace labgrad::labs::digit_reader
