// Seed for seed with PyTorch: the same weights, strips and order of strips, so the same losses, in
// double precision to nine digits.

#include <algorithm>
#include <cmath>

#include "engine/cpu/winograd.h"
#include "engine/engine.h"
#include "labs/digit_reader/sections.h"
#include "labs/digit_reader/torch_losses.h"
#include "labs/digit_reader/training.h"
#include "nn/schedule.h"

namespace labgrad::labs::digit_reader {
namespace {

struct Setting {
  Kind kind;
  DType dtype;
  std::vector<data::StripBatch> batches;  // of the steps, one after another
  std::int64_t schedule_steps;            // of the cosine; 0: a constant rate
};

// The weights are drawn in single precision whatever follows: they are those of PyTorch's readers.
std::vector<double> losses_of(const Setting& setting, std::int64_t steps) {
  manual_seed(0);
  const std::unique_ptr<Reader> reader = make_reader(setting.kind);
  reader->to(setting.dtype);
  optim::Adam adam(reader->parameters(), {.lr = 1e-3});
  const optim::Schedule cosine =
      optim::cosine(1e-3, std::max<std::int64_t>(1, setting.schedule_steps));
  std::vector<double> losses;
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto i = static_cast<std::size_t>(step) % setting.batches.size();
    const data::StripBatch& b = setting.batches[i];
    const Tensor logits = reader->forward(to(b.images, setting.dtype), b.inputs);
    const Tensor loss = masked_loss(logits, b.targets);
    adam.zero_grad();
    loss.backward();
    if (setting.schedule_steps > 0) adam.lr = cosine(step);
    adam.step();
    losses.push_back(loss.item());
  }
  return losses;
}

double relative(double a, double b) { return std::abs(a - b) / std::abs(b); }

double farthest(const std::vector<double>& ours, std::span<const double> theirs) {
  double largest = 0;
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
    largest = std::max(largest, relative(ours[i], theirs[i]));
  return largest;
}

// Both precisions beside PyTorch's; a course of double precision may be the longer one.
void compare(Lab& lab, const std::string& title, const std::vector<double>& single,
             const std::vector<double>& twofold, const TorchLosses& torch) {
  Table table({{"step", "d"},
               {"single", ".6f"},
               {"PyTorch", ".6f"},
               {"difference", ".1e"},
               {"double", ".8f"},
               {"PyTorch", ".8f"},
               {"difference", ".1e"}},
              title);
  const std::size_t steps = std::max(single.size(), twofold.size());
  for (std::size_t i = 0; i < steps; ++i) {
    if (i >= 10 && (i + 1) % 5 != 0) continue;
    std::vector<Cell> row(7);
    row[0] = make_cell(i + 1);
    auto put = [&](std::size_t at, const std::vector<double>& ours,
                   std::span<const double> theirs) {
      if (i >= ours.size() || i >= theirs.size()) return;
      row[at] = ours[i];
      row[at + 1] = theirs[i];
      row[at + 2] = relative(ours[i], theirs[i]);
    };
    put(1, single, torch.in_single);
    put(4, twofold, torch.in_double);
    table.add_row(row);
  }
  lab.table(table);
  lab.check_less(title + ": the first loss is PyTorch's", relative(single[0], torch.in_single[0]),
                 1e-6);
  lab.check_less(title + ": in double precision, every loss", farthest(twofold, torch.in_double),
                 1e-7);
  lab.check_less(title + ": in single precision, every loss", farthest(single, torch.in_single),
                 torch.rounding);
}

// The first batches of the course's training: 60,000 strips, dealt out in batches of 128.
std::vector<data::StripBatch> training_batches(const Task& data, std::int64_t count) {
  const data::StripDataset strips(data.train_images, 60000, train_lengths, 1001);
  Generator order(0);
  std::vector<data::StripBatch> batches;
  for (std::span<const std::int64_t> rows :
       data::Loader(60000, {.batch_size = 128, .drop_last = true}, order)) {
    if (static_cast<std::int64_t>(batches.size()) == count) break;
    batches.push_back(data::collate(strips, rows));
  }
  return batches;
}

}  // namespace

void seed_for_seed(Lab& lab) {
  const Task& data = task(lab);
  if (!data.mnist) {
    lab.say(
        "This section sets the readers beside PyTorch's, which were trained on MNIST. `make data` "
        "fetches it.");
    return;
  }
  lab.say(
      "From seed 0 every weight, every strip and the order of the strips are those of the same "
      "program in PyTorch, so the losses must be the same too. In double precision they are, to "
      "the digits shown. In single precision rounding grows from step to step: Adam's first steps "
      "have the size of the learning rate whatever the size of the gradient, so a gradient that "
      "is 0 but for rounding moves a weight as far as any other. PyTorch's own kernels for "
      "different processors part in the same way.");
  const UseWinograd never(false);
  const std::vector<data::StripBatch> ritual{ritual_batch(data)};
  constexpr std::int64_t epochs = 12, steps_per_epoch = 60000 / 128;
  const std::vector<data::StripBatch> training = training_batches(data, lab.by_budget(2, 20, 20));
  for (const Kind kind : chosen(lab)) {
    const std::string name = name_of(kind);
    const std::int64_t single = lab.by_budget(3, 10, 10), twofold = lab.by_budget(2, 10, 20);
    compare(lab, "one batch, " + name, losses_of({kind, DType::f32, ritual, 0}, single),
            losses_of({kind, DType::f64, ritual, 0}, twofold), torch_ritual(kind));
    if (training.empty()) continue;
    const auto steps = static_cast<std::int64_t>(training.size());
    compare(
        lab, "training, " + name,
        losses_of({kind, DType::f32, training, epochs * steps_per_epoch}, steps),
        losses_of({kind, DType::f64, training, epochs * steps_per_epoch}, lab.by_budget(1, 2, 5)),
        torch_training(kind));
  }
}

}  // namespace labgrad::labs::digit_reader
