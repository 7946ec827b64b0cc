// Q3.3: the ritual before any training: can the reader learn one batch by heart?

#include <algorithm>

#include "engine/engine.h"
#include "labs/common/plot.h"
#include "labs/digit_reader/sections.h"
#include "labs/digit_reader/training.h"

namespace labgrad::labs::digit_reader {
namespace {

History drive(Lab& lab, const Task& data, std::int64_t steps) {
  const data::StripBatch batch = ritual_batch(data);

  manual_seed(static_cast<std::uint64_t>(lab.seed()));
  AttentionReader reader;
  optim::Adam adam(reader.parameters(), {.lr = 1e-3});
  Training training{.name = "ritual", .model = &reader, .optimizer = &adam};
  training.config = describe(reader, Kind::attention, lab.seed());
  training.config.set("data", data.source);
  training.config.set("strips", ritual_strips);
  training.config.set("steps", steps);
  training.config.set("optimiser", "Adam");
  training.config.set("lr", adam.lr);
  training.batches = [&](std::int64_t) { return Batches(static_cast<std::size_t>(steps)); };
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
  records().push_back({fmt::format("ritual: one batch of {} strips, attention", ritual_strips),
                       training.config, rows});
  return history;
}

}  // namespace

void ritual(Lab& lab) {
  const Task& data = task(lab);
  const std::int64_t steps = lab.by_budget(10, 230, 300);
  lab.say(
      "One batch of {} training strips (seed 999), a fresh attention reader, Adam at 1e-3, {} "
      "steps on this one batch. A model that cannot learn {} strips by heart has a mistake in it, "
      "and it shows here in minutes and not after hours.",
      ritual_strips, steps, ritual_strips);
  const History history = drive(lab, data, steps);
  const std::vector<double>& losses = history.losses;

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
