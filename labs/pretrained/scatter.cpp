// Embeddings as points: their two principal components.

#include <algorithm>

#include "data/pca.h"
#include "engine/engine.h"
#include "labs/common/plot.h"
#include "labs/pretrained/embed.h"
#include "labs/pretrained/sections.h"

namespace labgrad::labs::pretrained {
namespace {

// Enough to see, and few enough for the eigenvalues of a matrix of that size.
constexpr std::int64_t shown = 300;

// The share of points whose nearest other point has their label.
double neighbour_is_same(const Tensor& points, std::span<const std::int64_t> labels) {
  const std::vector<double> xy = points.to_vector();
  const auto d = static_cast<std::size_t>(points.size(1)), n = labels.size();
  std::int64_t same = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t nearest = n;
    double least = 0;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      double distance = 0;
      for (std::size_t k = 0; k < d; ++k)
        distance += (xy[i * d + k] - xy[j * d + k]) * (xy[i * d + k] - xy[j * d + k]);
      if (nearest == n || distance < least) {
        nearest = j;
        least = distance;
      }
    }
    same += labels[nearest] == labels[i] ? 1 : 0;
  }
  return static_cast<double>(same) / static_cast<double>(n);
}

std::string draw(const Task& data, const std::string& title, const Tensor& xy,
                 std::span<const std::int64_t> labels) {
  std::vector<Series> series;
  for (const std::string& name : data.classes)
    series.push_back({.name = name, .style = Style::points});
  const std::vector<double> values = xy.to_vector();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    Series& of_class = series[static_cast<std::size_t>(labels[i])];
    of_class.x.push_back(values[2 * i]);
    of_class.y.push_back(values[2 * i + 1]);
  }
  return draw_plot({.title = title,
                    .x = {.label = "first principal component"},
                    .y = {.label = "second"},
                    .series = series,
                    .width = 760,
                    .height = 520});
}

}  // namespace

void scatter(Lab& lab) {
  const Task& data = task(lab);
  lab.say(
      "Vectors of a thousand numbers cannot be seen, but their two directions of largest variance "
      "can. The first {} pictures of the database, each vector brought to length 1 as the cosine "
      "does, on the two principal components; the colour is the class.",
      shown);
  lab.equation("pca.1", "Σ = 1/(N-1) XᵀX,  Σ w = λ w");
  Table table({{"space"},
               {"dimensions", "d"},
               {"variance in 2", ".3f"},
               {"same class, in 2", ".3f"},
               {"same class, in all", ".3f"}},
              "nearest other point");
  const std::span labels(data.database.labels.data(), static_cast<std::size_t>(shown));
  std::vector<double> in_two, in_all;
  const std::vector<Space> all = spaces(lab);
  for (std::size_t s = 0; s < all.size(); ++s) {
    const Tensor points = slice(all[s].database, 0, 0, shown);
    const Tensor unit = points / clamp(norm(points, 2, {1}, true), 1e-12, 1e12);
    const data::Pca pca = data::pca(unit, 2);
    const Tensor xy = pca.project(unit);
    const double share = (pca.variance[0] + pca.variance[1]) / pca.total_variance;
    in_two.push_back(neighbour_is_same(xy, labels));
    in_all.push_back(neighbour_is_same(unit, labels));
    table.row(all[s].name, all[s].dimensions(), share, in_two.back(), in_all.back());
    lab.check_between(all[s].name + ": share of the variance in two components", share,
                      2.0 / static_cast<double>(all[s].dimensions()), 1);
    const std::string file = s + 1 == all.size()            ? "scatter_pixels"
                             : all[s].name == "MobileNetV2" ? "scatter"
                             : published(lab) == nullptr    ? "scatter"
                                                            : "scatter_small";
    lab.picture(file, "The database on two principal components: " + all[s].name + ".",
                draw(data, all[s].name + ": two principal components, " + data.source, xy, labels));
  }
  lab.table(table);
  for (std::size_t s = 0; s < all.size(); ++s)
    lab.check_greater(all[s].name + ": in two dimensions, the nearest is of the same class",
                      in_two[s], 0.2);
  lab.say(
      "A picture of two dimensions shows what it can: classes that lie apart here do lie apart, "
      "those that overlap may still be separated by what was left out. With all dimensions the "
      "nearest other point is of the same class for {:.3f} of the embeddings of {}, with two for "
      "{:.3f}.",
      in_all.front(), all.front().name, in_two.front());
}

}  // namespace labgrad::labs::pretrained
