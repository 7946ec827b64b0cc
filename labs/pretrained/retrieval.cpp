// Experiment 11: every query's nearest neighbour, by embedding and by raw pixels.

#include <algorithm>
#include <cmath>

#include "engine/engine.h"
#include "labs/common/plot.h"
#include "labs/pretrained/embed.h"
#include "labs/pretrained/golden.h"
#include "labs/pretrained/paired.h"
#include "labs/pretrained/sections.h"

namespace labgrad::labs::pretrained {
namespace {

struct Result {
  Space space;
  Tensor cosines;
  data::RetrievalScores scores;
};

std::vector<Result> results_of(Lab& lab) {
  std::vector<Result> out;
  for (Space& space : spaces(lab)) {
    Result r{space, similarities(space), {}};
    const Task& data = task(lab);
    r.scores = data::score_retrieval(r.cosines, data.queries.labels, data.database.labels);
    out.push_back(std::move(r));
  }
  return out;
}

void table_of_spaces(Lab& lab, const std::vector<Result>& results, const Chance& chance) {
  Table table(
      {{"retrieval space"},
       {"dimensions", "d"},
       {"top-1", ".4f"},
       {"right", ",d"},
       {"top-5", ".4f"},
       {"mAP", ".4f"}},
      fmt::format("{} queries against {}", task(lab).queries.size(), task(lab).database.size()));
  for (const Result& r : results)
    table.row(r.space.name + (r.space.name == "raw pixels" ? "" : ", embedding"),
              r.space.dimensions(), r.scores.top1, r.scores.hits, r.scores.top5,
              r.scores.mean_average_precision);
  table.add_row(
      {std::string("chance"), Cell{}, chance.top1, Cell{}, chance.top5, chance.average_precision});
  lab.table(table);
  for (const Result& r : results) {
    lab.check_greater(r.space.name + ": top-1, far above chance", r.scores.top1, 4 * chance.top1);
    lab.check_greater(r.space.name + ": mean average precision", r.scores.mean_average_precision,
                      2 * chance.average_precision);
  }
}

void table_of_classes(Lab& lab, const std::vector<Result>& results) {
  std::vector<Column> columns{{"class"}, {"queries", "d"}};
  for (const Result& r : results) columns.push_back({r.space.name, ".3f"});
  Table table(columns, "top-1 by class");
  const Task& data = task(lab);
  std::vector<BarPlot::Group> bars;
  for (const Result& r : results) bars.push_back({.name = r.space.name});
  for (std::size_t c = 0; c < data.classes.size(); ++c) {
    std::vector<Cell> row(2);
    row[0] = data.classes[c];
    row[1] = results[0].scores.class_queries.at(c);
    for (std::size_t r = 0; r < results.size(); ++r) {
      const auto n = static_cast<double>(results[r].scores.class_queries.at(c));
      const double share = static_cast<double>(results[r].scores.class_hits.at(c)) / n;
      row.emplace_back(share);
      bars[r].heights.push_back(share);
    }
    table.add_row(row);
  }
  lab.table(table);
  lab.picture("by_class", "Share of the queries whose nearest neighbour is of their class.",
              draw_bars({.title = "Top-1 by class, " + data.source,
                         .y_label = "top-1",
                         .categories = data.classes,
                         .groups = bars,
                         .width = 860}));
}

std::string how_likely(double p, bool full) {
  if (p >= 0.05)
    return fmt::format(
        "If both were equally good, so large a difference would come about in {:.0f} of 100 such "
        "samples of queries: it decides nothing.{}",
        100 * p, full ? "" : " `--full` asks five times as many.");
  return fmt::format(
      "If both were equally good, so large a difference would come about in {} of 100 such "
      "samples: it is no accident.",
      p < 0.001 ? "fewer than 0.1" : fmt::format("{:.1f}", 100 * p));
}

// Which explanation fits depends on who won, and on what.
std::string why(const Task& data, bool embedding_won, const Network& network) {
  const std::string nearest_thing = data.fashion
                                        ? "garments lie centred, in one size, on black"
                                        : "digits lie in the middle, in nearly one size, on black";
  if (!embedding_won && network.trained_on() == "ImageNet")
    return fmt::format(
        "That raw pixels hold their own here is believable, for two reasons. The {}, so that one "
        "pixel means the same place of the same thing in every picture, and a comparison pixel by "
        "pixel is unusually strong. And a grey picture of 28 x 28, blown up to 96 x 96, has none "
        "of the colours and fine textures that a network learns from photographs. What follows "
        "tests both: `shift` takes the pictures out of their place, `seen` asks the network what "
        "it takes them for, and `depth` whether its last stages, which know photographs best, are "
        "the best ones here.",
        nearest_thing);
  if (!embedding_won)
    return fmt::format(
        "The {}: a comparison pixel by pixel is unusually strong here, and a network that was "
        "trained on {} adds nothing to it. A pretrained embedding is not better by itself; it is "
        "better where the pictures are like those it was trained on. The section `shift` takes the "
        "pictures out of their place and asks again.",
        nearest_thing, network.trained_on());
  if (!data.fashion && network.trained_on() == "MNIST")
    return "These digits are drawn by a program, but they are digits: the pictures are close to "
           "those the network was trained on, and what it learned to tell apart there are the same "
           "ten shapes. That is where a pretrained embedding pays: near home.";
  return fmt::format(
      "The network never saw such a picture, and none of its classes need be among these. What it "
      "learned on {} is general enough to carry over.",
      network.trained_on());
}

void explain(Lab& lab, const std::vector<Result>& results) {
  const Task& data = task(lab);
  const Result& pixels = results.back();
  Table table({{"right by"},
               {"both", "d"},
               {"only it", "d"},
               {"only pixels", "d"},
               {"neither", "d"},
               {"probability", ".2g"}},
              "query by query, beside raw pixels");
  const std::vector<bool> by_pixels = hits(pixels.cosines, data);
  for (const Result& r : results) {
    if (&r == &pixels) break;
    const Paired p = paired(hits(r.cosines, data), by_pixels);
    table.row(r.space.name, p.both, p.only_first, p.only_second, p.neither, p.probability());
  }
  lab.table(table);
  const Result& own = results.front();
  const Paired p = paired(hits(own.cosines, data), by_pixels);
  const std::int64_t lead = own.scores.hits - pixels.scores.hits;
  lab.check_equal("right by one and not by the other: the difference", p.only_first - p.only_second,
                  lead);
  if (lead == 0) {
    lab.say("The embedding and raw pixels are level: {} of {} queries each.", own.scores.hits,
            own.scores.queries);
    return;
  }
  lab.say(
      "{} are ahead: the embedding of {} finds the class of {} queries ({:.3f}), raw pixels of {} "
      "({:.3f}). {}",
      lead > 0 ? "The network's features" : "Raw pixels", subject(lab).phrase(), own.scores.hits,
      own.scores.top1, pixels.scores.hits, pixels.scores.top1,
      how_likely(p.probability(), lab.budget() == Budget::full));
  lab.add_paragraph(why(data, lead > 0, subject(lab)));
  const double map_lead = own.scores.mean_average_precision - pixels.scores.mean_average_precision;
  lab.say(
      "The mean average precision looks at the whole ranking, not at its first place: {:.3f} and "
      "{:.3f}. {}",
      own.scores.mean_average_precision, pixels.scores.mean_average_precision,
      std::abs(map_lead) < 0.01 ? "There the two are level."
      : (map_lead > 0) == (lead > 0)
          ? "It says the same."
          : "It says the opposite: the space that more often has the right one first is not the "
            "one that keeps a class together.");
}

// The small network beside the published one.
void compare_networks(Lab& lab, const data::RetrievalScores& large,
                      const data::RetrievalScores& own) {
  const std::int64_t lead = own.hits - large.hits;
  lab.say(
      "And the small network? It has {:.0f} times fewer parameters, has seen nothing but digits, "
      "and finds the class of {} queries, {}. What it has on its side: it was trained on grey "
      "pictures of 28 x 28 on black, and its filters for edges and strokes serve any outline.",
      static_cast<double>(published(lab)->module().parameter_count()) /
          static_cast<double>(small(lab)->module().parameter_count()),
      own.hits,
      lead == 0  ? std::string("as many as MobileNetV2")
      : lead > 0 ? fmt::format("{} more than MobileNetV2", lead)
                 : fmt::format("{} fewer than MobileNetV2", -lead));
}

}  // namespace

void retrieval(Lab& lab) {
  const Task& data = task(lab);
  lab.say(
      "The queries are {} training pictures, the database is {} test pictures ({}). Every picture "
      "becomes a vector; the neighbours of a query are the entries in the order of the cosine. "
      "Nothing is trained.",
      data.queries.size(), data.database.size(), data.source);
  lab.equation("retrieval.1", "cos(q, x) = q·x / (|q| |x|)");
  lab.say(
      "Top-1 is the share of queries whose nearest entry has their label, top-5 that of those with "
      "their label among the five nearest. The average precision goes down the whole ranking: at "
      "each of the n entries of the query's class, at rank r, which share of the first r is of "
      "it?");
  lab.equation("retrieval.2", "AP = 1/n Σ (right ones among the first r) / r");
  const auto prediction = lab.predict(
      fmt::format("Which has the better top-1: the embedding of {}, trained on {}, or raw pixels?",
                  subject(lab).phrase(), subject(lab).trained_on()),
      {"the embedding", "raw pixels", "they differ by less than 0.005"});
  const std::vector<Result> results = results_of(lab);
  for (Network* network : networks(lab)) {
    const double seconds =
        query_features(lab, *network).seconds + database_features(lab, *network).seconds;
    const std::int64_t n = data.queries.size() + data.database.size();
    lab.say("{}: {} pictures in {:.2f} s, {:.2f} ms each, with the means of all stages.",
            network->name(), n, seconds, 1e3 * seconds / static_cast<double>(n));
  }
  table_of_spaces(lab, results, mean_chance(data.queries.labels, data.database.labels));
  const double lead = results.front().scores.top1 - results.back().scores.top1;
  lab.reveal(prediction, static_cast<std::size_t>(std::abs(lead) < 0.005 ? 2 : lead > 0 ? 0 : 1));
  if (data.fashion && published(lab) && published(lab)->is_golden())
    golden_checks(lab, *published(lab), results.front().space, results.back().space);
  explain(lab, results);
  if (results.size() == 3) compare_networks(lab, results[0].scores, results[1].scores);
  table_of_classes(lab, results);
}

}  // namespace labgrad::labs::pretrained
