// Which depth has the best features?

#include <algorithm>

#include "engine/engine.h"
#include "labs/common/plot.h"
#include "labs/pretrained/embed.h"
#include "labs/pretrained/paired.h"
#include "labs/pretrained/sections.h"

namespace labgrad::labs::pretrained {
namespace {

struct Depth {
  std::string stage;
  std::int64_t dimensions;
  data::RetrievalScores pooled, grid;
};

std::vector<Depth> depths(Lab& lab, Network& network) {
  const Task& data = task(lab);
  const Features &q = query_features(lab, network), &d = database_features(lab, network);
  std::vector<Depth> out;
  const std::vector<Stage> stages = network.stages();
  for (std::size_t s = 0; s < stages.size(); ++s)
    out.push_back({stages[s].name, q.pooled[s].size(1),
                   scores(data, {"", q.pooled[s], d.pooled[s]}),
                   scores(data, {"", q.grid[s], d.grid[s]})});
  return out;
}

bool same_classes(Lab& lab, const Network& network) {
  return !task(lab).fashion && network.trained_on() == "MNIST";
}

std::size_t best(const std::vector<Depth>& all) {
  const auto top = std::max_element(all.begin(), all.end(), [](const Depth& a, const Depth& b) {
    return a.pooled.top1 < b.pooled.top1;
  });
  return static_cast<std::size_t>(top - all.begin());
}

void show(Lab& lab, Network& network, const std::vector<Depth>& all, const Space& pixels) {
  Table table({{"after"},
               {"dimensions", "d"},
               {"top-1", ".4f"},
               {"mAP", ".4f"},
               {"3 x 3: dimensions", "d"},
               {"top-1", ".4f"},
               {"mAP", ".4f"}},
              network.name());
  const bool has_stem = all.front().stage == "stem";
  const double first = has_stem ? 0 : 1;
  Series pooled{.name = "mean over the plane", .style = Style::line_and_points};
  Series grid{.name = "means over 3 x 3 fields", .style = Style::line_and_points};
  Series map{.name = "mean over the plane, mAP", .style = Style::line_and_points, .dashed = true};
  for (const Depth& d : all) {
    table.row(d.stage, d.dimensions, d.pooled.top1, d.pooled.mean_average_precision,
              9 * d.dimensions, d.grid.top1, d.grid.mean_average_precision);
    for (Series* s : {&pooled, &grid, &map})
      s->x.push_back(static_cast<double>(s->x.size()) + first);
    pooled.y.push_back(d.pooled.top1);
    grid.y.push_back(d.grid.top1);
    map.y.push_back(d.pooled.mean_average_precision);
  }
  lab.table(table);
  const Task& data = task(lab);
  lab.picture(
      network.name() == "MobileNetV2" ? "depth" : "depth_small",
      "Retrieval after each stage: " + network.name() + ".",
      draw_plot({.title = "Retrieval after each stage: " + network.name() + ", " + data.source,
                 .x = {.label = has_stem ? fmt::format("after stage (0: the stem, {}: the head)",
                                                       all.size() - 1)
                                         : "after stage",
                       .ticks = map.x},
                 .y = {.label = "top-1, mAP", .min = 0, .max = 1},
                 .series = {pooled, grid, map},
                 .references = {{.at = scores(data, pixels).top1, .label = "raw pixels, top-1"},
                                {.at = 0.1, .label = "chance"}}}));
}

// The share of the queries first .. last - 1 that are right.
double share(const std::vector<bool>& right, std::size_t first, std::size_t last) {
  const auto at = [&](std::size_t i) { return right.begin() + static_cast<std::ptrdiff_t>(i); };
  return static_cast<double>(std::count(at(first), at(last), true)) /
         static_cast<double>(last - first);
}

// The best of several on the same queries is flattered by luck; so it is chosen by the first half
// of them, and judged by the second.
void chosen_and_judged(Lab& lab, Network& network, const Space& pixels) {
  const Task& data = task(lab);
  const Features &q = query_features(lab, network), &d = database_features(lab, network);
  const std::size_t all = data.queries.labels.size(), half = all / 2;
  std::vector<std::vector<bool>> right;
  std::size_t chosen = 0;
  for (std::size_t s = 0; s < q.pooled.size(); ++s) {
    right.push_back(hits(similarities({"", q.pooled[s], d.pooled[s]}), data));
    if (share(right[s], 0, half) > share(right[chosen], 0, half)) chosen = s;
  }
  const std::vector<bool> by_pixels = hits(similarities(pixels), data);
  const std::string stage = network.stages()[chosen].name;
  Table table({{"space"}, {"first half, top-1", ".4f"}, {"second half, top-1", ".4f"}},
              "chosen by the first half of the queries, judged by the second");
  const auto row = [&](const std::string& name, const std::vector<bool>& r) {
    table.row(name, share(r, 0, half), share(r, half, all));
  };
  row(network.name() + ", " + stage, right[chosen]);
  if (chosen + 1 < right.size())
    row(network.name() + ", " + network.stages().back().name, right.back());
  row("raw pixels", by_pixels);
  lab.table(table);
  const auto second = [&](const std::vector<bool>& r) {
    return std::vector<bool>(r.begin() + static_cast<std::ptrdiff_t>(half), r.end());
  };
  const Paired p = paired(second(right[chosen]), second(by_pixels));
  const double lead = share(right[chosen], half, all) - share(by_pixels, half, all);
  lab.say(
      "The best of {} on the same queries is flattered by luck, so {} is chosen by the first half "
      "of the queries and judged by the second: {:.4f}, raw pixels {:.4f}. There it is right alone "
      "in {} cases and raw pixels in {}; if they were equally good, so uneven a split had a "
      "probability of {:.3f}. {}",
      right.size(), stage, share(right[chosen], half, all), share(by_pixels, half, all),
      p.only_first, p.only_second, p.probability(),
      lead > 0 && p.probability() < 0.05
          ? "So the pretrained network does beat raw pixels, if it is asked in the right place."
      : lead > 0  ? "It is ahead of raw pixels; these queries are too few to be sure of it."
      : lead == 0 ? "These queries do not tell the two apart."
                  : "Choosing the depth is not enough to beat raw pixels here.");
}

}  // namespace

void depth(Lab& lab) {
  lab.say(
      "The last stage was made for the classes that the network was trained on. Earlier ones know "
      "less of those, and more of edges and patterns in general. So the same retrieval after every "
      "stage: once with the mean over the plane, which forgets where something was, and once with "
      "the means over 3 x 3 fields, which keep it roughly.");
  const auto prediction =
      lab.predict(fmt::format("After which part of {} is top-1 best, with the mean over the plane?",
                              subject(lab).phrase()),
                  {"in the first third of its stages", "in the middle", "in the last third"});
  const Space pixels = pixel_space(lab);
  for (Network* network : networks(lab)) {
    const std::vector<Depth> all = depths(lab, *network);
    show(lab, *network, all, pixels);
    const std::size_t at = best(all);
    const Depth &top = all[at], &last = all.back();
    if (network == &subject(lab)) lab.reveal(prediction, 3 * at / all.size());
    lab.check_close(network->name() + ": after the last stage it is the embedding's top-1",
                    last.pooled.top1, scores(task(lab), embedding_space(lab, *network)).top1, 0);
    lab.check_greater(network->name() + ": top-1 at the best depth", top.pooled.top1,
                      std::max(0.4, all.front().pooled.top1 - 1e-9));
    lab.say("With the mean over the plane {} is best after {}: {:.4f}{}. {}", network->phrase(),
            top.stage, top.pooled.top1,
            at + 1 == all.size() ? "" : fmt::format(", {:.4f} after the last", last.pooled.top1),
            at + 1 == all.size()
                ? same_classes(lab, *network)
                      ? "The last one is the best: what the network learned to tell apart is what "
                        "is asked."
                      : "The last one is the best, though it was made for other classes: so few "
                        "stages are all of them general ones."
                : "The last stage is not the best: it has specialised on classes that are not "
                  "asked here, and an earlier one carries over better.");
    if (network == &subject(lab)) chosen_and_judged(lab, *network, pixels);
    std::size_t helped = 0;
    for (const Depth& d : all) helped += d.grid.top1 > d.pooled.top1 ? 1 : 0;
    lab.say(
        "Keeping the place, in 3 x 3 fields, is better after {} of {} stages; after the last it "
        "gives {:.4f}, the mean {:.4f}. {}",
        helped, all.size(), last.grid.top1, last.pooled.top1,
        last.grid.top1 > last.pooled.top1
            ? "These pictures lie in their place, so the place is worth knowing: what raw pixels "
              "have, and the mean over the plane throws away."
            : "At the end the place adds nothing any more.");
  }
}

}  // namespace labgrad::labs::pretrained
