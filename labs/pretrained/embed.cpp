#include "labs/pretrained/embed.h"

#include <chrono>
#include <map>

#include "engine/engine.h"
#include "labs/common/interrupt.h"
#include "labs/common/progress.h"

namespace labgrad::labs::pretrained {
namespace {

// So few that the largest map of MobileNetV2 stays in the caches.
constexpr std::int64_t batch = 20;

const Features& kept_features(Lab& lab, Network& network, bool of_queries) {
  static std::map<std::pair<Network*, bool>, Features> kept;
  const auto key = std::pair(&network, of_queries);
  const auto found = kept.find(key);
  if (found != kept.end()) return found->second;
  const Task& data = task(lab);
  const Tensor& pixels = of_queries ? data.queries.pixels : data.database.pixels;
  return kept.emplace(key, features_of(network, pixels, true)).first->second;
}

}  // namespace

Features features_of(Network& network, const Tensor& pixels, bool with_grid) {
  const NoGrad no_grad;
  Features out;
  const std::int64_t n = pixels.size(0);
  // Rows first .. of the table, which is made when its width is known.
  const auto put = [n](Tensors& tables, std::size_t at, std::int64_t first, const Tensor& rows) {
    if (at == tables.size()) tables.push_back(zeros({n, rows.size(1)}));
    Tensor place = slice(tables[at], 0, first, first + rows.size(0));
    place.copy_(rows);
  };
  Progress progress("embedding, " + network.name(), n, 0, "picture");
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < n; i += batch) {
    const Tensors maps = network.maps(network.input(slice(pixels, 0, i, std::min(n, i + batch))));
    for (std::size_t s = 0; s < maps.size(); ++s) {
      put(out.pooled, s, i, mean(maps[s], {2, 3}));
      if (with_grid) put(out.grid, s, i, flatten(adaptive_avg_pool2d(maps[s], 3), 1));
    }
    progress.update(std::min(n, i + batch));
    if (stop_requested()) throw Interrupted("stopped by Ctrl-C");
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  out.seconds = took.count();
  return out;
}

const Features& query_features(Lab& lab, Network& network) {
  return kept_features(lab, network, true);
}
const Features& database_features(Lab& lab, Network& network) {
  return kept_features(lab, network, false);
}

Space embedding_space(Lab& lab, Network& network) {
  return {network.name(), query_features(lab, network).embedding(),
          database_features(lab, network).embedding()};
}

Space pixel_space(Lab& lab) {
  const Task& data = task(lab);
  return {"raw pixels", data.queries.rows(), data.database.rows()};
}

std::vector<Space> spaces(Lab& lab) {
  std::vector<Space> all;
  for (Network* network : networks(lab)) all.push_back(embedding_space(lab, *network));
  all.push_back(pixel_space(lab));
  return all;
}

Tensor similarities(const Space& space) {
  return to(data::cosines(space.queries, space.database), Device::cpu);
}

data::RetrievalScores scores(const Task& task, const Space& space) {
  return data::score_retrieval(similarities(space), task.queries.labels, task.database.labels);
}

std::vector<bool> hits(const Tensor& similarities, const Task& task) {
  std::vector<bool> out;
  const std::int64_t n = similarities.size(1);
  for (std::int64_t q = 0; q < similarities.size(0); ++q) {
    const auto row = similarities.span<float>().subspan(static_cast<std::size_t>(q * n),
                                                        static_cast<std::size_t>(n));
    const std::int64_t first = data::nearest(row, 1).front();
    out.push_back(task.database.labels[static_cast<std::size_t>(first)] ==
                  task.queries.labels[static_cast<std::size_t>(q)]);
  }
  return out;
}

}  // namespace labgrad::labs::pretrained
