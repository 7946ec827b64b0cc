// Experiment 11, why: are raw pixels strong because everything lies in its place?

#include <cmath>

#include "engine/engine.h"
#include "labs/common/plot.h"
#include "labs/pretrained/embed.h"
#include "labs/pretrained/sections.h"

namespace labgrad::labs::pretrained {
namespace {

// Pictures moved to the right by so many pixels; black comes in, what leaves is lost.
Tensor moved(const Tensor& pixels, std::int64_t by) {
  return by == 0 ? pixels : pad(pixels, {by, -by});
}

}  // namespace

void shifted(Lab& lab) {
  const Task& data = task(lab);
  lab.say(
      "If raw pixels are good because everything lies in its place, they must suffer when it does "
      "not. So the queries are moved to the right, pixel by pixel; the database stays as it is. A "
      "convolution moves its map along with the picture, and the mean over the plane does not care "
      "where in it something was.");
  const std::int64_t far = 4;
  const auto prediction =
      lab.predict(fmt::format("The queries are moved by {} pixels, a seventh of the width. Which "
                              "loses more of its top-1, the embedding of {} or raw pixels?",
                              far, subject(lab).phrase()),
                  {"the embedding", "raw pixels", "they differ by less than 0.02"});
  std::vector<std::int64_t> shifts{0, far};
  if (lab.budget() != Budget::quick) shifts = {0, 1, 2, 3, far, 6};

  std::vector<Space> all = spaces(lab);
  std::vector<Column> columns{{"moved by", "d"}};
  std::vector<Series> series;
  for (const Space& space : all) {
    columns.push_back({space.name, ".4f"});
    series.push_back({.name = space.name, .style = Style::line_and_points});
  }
  Table table(columns, "top-1");
  std::vector<double> start, end;
  for (const std::int64_t by : shifts) {
    const Tensor pixels = moved(data.queries.pixels, by);
    std::vector<Cell> row;
    row.emplace_back(by);
    for (std::size_t s = 0; s < all.size(); ++s) {
      if (by != 0)
        all[s].queries = s + 1 == all.size() ? flatten(pixels, 1)
                                             : features_of(*networks(lab)[s], pixels).embedding();
      const double top1 = scores(data, all[s]).top1;
      row.emplace_back(top1);
      series[s].x.push_back(static_cast<double>(by));
      series[s].y.push_back(top1);
      if (by == 0) start.push_back(top1);
      if (by == far) end.push_back(top1);
    }
    table.add_row(row);
  }
  lab.table(table);
  lab.picture("shift", "Top-1 of queries that were moved to the right.",
              draw_plot({.title = "Queries out of their place, " + data.source,
                         .x = {.label = "moved by, pixels"},
                         .y = {.label = "top-1", .min = 0, .max = 1},
                         .series = series,
                         .references = {{.at = 0.1, .label = "chance"}}}));
  const double embedding = start.front() - end.front(), pixels = start.back() - end.back();
  lab.reveal(prediction, static_cast<std::size_t>(std::abs(embedding - pixels) < 0.02 ? 2
                                                  : embedding > pixels                ? 0
                                                                                      : 1));
  lab.check_greater(fmt::format("raw pixels lose by a move of {} pixels", far), pixels, 0.1);
  lab.check_greater("the embedding keeps more of its top-1 (share kept, difference)",
                    end.front() / start.front() - end.back() / start.back(), 0);
  lab.say(
      "Moved by {} pixels the embedding of {} falls by {:.3f} to {:.3f}, raw pixels by {:.3f} to "
      "{:.3f}. {}",
      far, subject(lab).phrase(), embedding, end.front(), pixels, end.back(),
      pixels > embedding ? "So much of what raw pixels knew was where things are. On pictures that "
                           "nobody has centred, the embedding is the space to choose."
                         : "On these pictures the place is not what raw pixels live on.");
  if (embedding > 0.05)
    lab.say(
        "The embedding is not indifferent either: strides and pooling see every second, fourth ... "
        "pixel only, and the border, where zeros begin, is nearer on one side now.");
}

}  // namespace labgrad::labs::pretrained
