// Batch norm folded into the convolutions; what a picture costs.

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/engine.h"
#include "labs/pretrained/embed.h"
#include "labs/pretrained/sections.h"

namespace labgrad::labs::pretrained {
namespace {

constexpr std::int64_t pictures_of_protocol = protocol_queries + protocol_database;

// Milliseconds a picture, the quickest of several tries: what else runs only slows down.
double milliseconds(Network& network, const Tensor& pixels, int tries) {
  const NoGrad no_grad;
  double least = 0;
  for (int i = 0; i < tries; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    network.embedding(network.input(pixels));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (i == 0 || took.count() < least) least = took.count();
  }
  return least / static_cast<double>(pixels.size(0));
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
  Table table({{"network"}, {"folded"}, {"parameters", ",d"}, {"ms a picture", ".3f"}});
  double saved_by_subject = 0;
  for (Network* network : networks(lab)) {
    const std::unique_ptr<Network> folded = network->again();
    folded->fold_batch_norm();
    const NoGrad no_grad;
    const Tensor before = network->embedding(network->input(pixels));
    const Tensor after = folded->embedding(folded->input(pixels));
    lab.check_less(network->name() + ": folding changes the embedding (of its largest number)",
                   max(abs(after - before)).item() / max(abs(before)).item(), 1e-5);
    // In turns, so that what else runs on the machine slows both down.
    double plain_ms = milliseconds(*network, pixels, 2),
           folded_ms = milliseconds(*folded, pixels, 2);
    for (int i = 0; i < lab.by_budget(2, 6, 10); ++i) {
      plain_ms = std::min(plain_ms, milliseconds(*network, pixels, 2));
      folded_ms = std::min(folded_ms, milliseconds(*folded, pixels, 2));
    }
    table.row(network->name(), "no", network->module().parameter_count(), plain_ms);
    table.row(network->name(), "yes", folded->module().parameter_count(), folded_ms);
    if (network == &subject(lab)) saved_by_subject = 1 - folded_ms / plain_ms;
    lab.check_less(
        fmt::format("{}: seconds for {} pictures", network->name(), pictures_of_protocol),
        1e-3 * plain_ms * static_cast<double>(pictures_of_protocol), 20);
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
      "reading and writing every map once more; where norm, ReLU and pooling are one pass anyway, "
      "there is little to save.");
}

}  // namespace labgrad::labs::pretrained
