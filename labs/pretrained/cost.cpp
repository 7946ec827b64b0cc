// Batch norm folded into the convolutions; what a picture costs.

#include <algorithm>
#include <chrono>
#include <ctime>

#include "engine/engine.h"
#include "labs/pretrained/embed.h"
#include "labs/pretrained/sections.h"

namespace labgrad::labs::pretrained {
namespace {

constexpr std::int64_t pictures_of_protocol = protocol_queries + protocol_database;

// Milliseconds a picture: on the clock, and of the processor, all threads together. Of several
// tries the quickest, for what else runs only slows down.
struct Times {
  double clock = 0, processor = 0;

  void add(const Times& other) {
    clock = clock == 0 ? other.clock : std::min(clock, other.clock);
    processor = processor == 0 ? other.processor : std::min(processor, other.processor);
  }
};

Times measure(Network& network, const Tensor& pixels) {
  const NoGrad no_grad;
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t spent = std::clock();
  network.embedding(network.input(pixels));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const auto n = static_cast<double>(pixels.size(0));
  return {took.count() / n, 1e3 * static_cast<double>(std::clock() - spent) / CLOCKS_PER_SEC / n};
}

}  // namespace

void cost(Lab& lab) {
  lab.say(
      "In evaluation batch norm is a multiplication and an addition for each channel, with numbers "
      "that no longer change. The convolution before it is linear, so that both can be done at "
      "once by other weights:");
  lab.equation("fold_batch_norm.1", "s = γ / √(σ² + ε)\nW' = s W\nb' = β + s (b - μ)");
  const auto prediction = lab.predict("What share of its time does folding save the embedding of " +
                                      subject(lab).phrase() + "? (0.1 is a tenth)");
  const Tensor pixels = slice(task(lab).queries.pixels, 0, 0, 20);
  Table table({{"network"},
               {"folded"},
               {"parameters", ",d"},
               {"ms a picture", ".3f"},
               {"of the processor", ".3f"}});
  double saved_by_subject = 0, saved_by_small = 0;
  for (Network* network : networks(lab)) {
    const std::unique_ptr<Network> folded = network->again();
    folded->fold_batch_norm();
    const NoGrad no_grad;
    const Tensor before = network->embedding(network->input(pixels));
    const Tensor after = folded->embedding(folded->input(pixels));
    lab.check_less(network->name() + ": folding changes the embedding (of its largest number)",
                   max(abs(after - before)).item() / max(abs(before)).item(), 1e-5);
    // In turns, so that what else runs on the machine slows both down.
    Times plain_times, folded_times;
    for (int i = 0; i < lab.by_budget(4, 12, 20); ++i) {
      plain_times.add(measure(*network, pixels));
      folded_times.add(measure(*folded, pixels));
    }
    table.row(network->name(), "no", network->module().parameter_count(), plain_times.clock,
              plain_times.processor);
    table.row(network->name(), "yes", folded->module().parameter_count(), folded_times.clock,
              folded_times.processor);
    if (network == &subject(lab)) saved_by_subject = 1 - folded_times.clock / plain_times.clock;
    if (network == small(lab)) saved_by_small = 1 - folded_times.clock / plain_times.clock;
    // Of the processor, so that a busy machine fails nobody: 20 s of two cores.
    lab.check_less(
        fmt::format("{}: processor seconds for {} pictures", network->name(), pictures_of_protocol),
        1e-3 * plain_times.processor * static_cast<double>(pictures_of_protocol), 40);
  }
  lab.table(table);
  lab.reveal(prediction, saved_by_subject, 0.1);
  if (Published* net = published(lab); net && net->is_golden())
    lab.say(
        "MobileNetV2's file came with batch norm folded already: its norms only add a bias, and "
        "folding them gives the same numbers but for the order of a sum. The small network has "
        "real ones, as they were at the end of its training.");
  lab.say(
      "The convolutions remain, and they are nearly all of the arithmetic. What folding saves is "
      "reading and writing every map once more.");
  if (small(lab))
    lab.say(
        "The small network {}: its norm, ReLU and pooling are one pass over a map anyway, and "
        "without the norm ReLU and pooling are a pass each.",
        saved_by_small < -0.02  ? "became slower"
        : saved_by_small < 0.02 ? "saved nothing"
                                : "saved a little all the same");
}

}  // namespace labgrad::labs::pretrained
