#include "labs/common/layered_layout.h"

#include <algorithm>
#include <numeric>

#include "engine/error.h"

namespace labgrad::labs {
namespace {

using Index = std::size_t;

// A node of the drawing: a node of the graph, or the bend of a long edge.
struct Item {
  Index layer = 0;
  double length = 0, breadth = 0, across = 0;
  std::vector<Index> before = {}, after = {};  // neighbours in the layer before and after
};

// The length of the longest path to each node. Sources that feed a late node stand right before it.
std::vector<Index> layers_of(const LayeredGraph& graph) {
  const Index n = graph.nodes.size();
  std::vector<std::vector<Index>> after(n);
  std::vector<Index> missing(n, 0), layer(n, 0), ready;
  for (const auto& [from, to] : graph.edges) {
    after[from].push_back(to);
    ++missing[to];
  }
  const std::vector<Index> inputs = missing;
  for (Index i = 0; i < n; ++i)
    if (missing[i] == 0) ready.push_back(i);
  for (Index k = 0; k < ready.size(); ++k)
    for (Index to : after[ready[k]]) {
      layer[to] = std::max(layer[to], layer[ready[k]] + 1);
      if (--missing[to] == 0) ready.push_back(to);
    }
  if (ready.size() != n) fail("a graph with a cycle cannot be drawn in layers");
  for (Index i = 0; i < n; ++i) {
    if (inputs[i] > 0 || after[i].empty()) continue;
    Index nearest = n;
    for (Index to : after[i]) nearest = std::min(nearest, layer[to]);
    layer[i] = nearest - 1;
  }
  return layer;
}

class Drawing {
 public:
  explicit Drawing(const LayeredGraph& graph) {
    const std::vector<Index> layer = layers_of(graph);
    for (Index i = 0; i < graph.nodes.size(); ++i)
      add({layer[i], graph.nodes[i].length, graph.nodes[i].breadth});
    for (const auto& [from, to] : graph.edges) {
      chains.emplace_back();
      Index last = from;
      for (Index l = layer[from] + 1; l < layer[to]; ++l) {
        const Index bend = add({l, 0.0, 4.0});
        join(last, bend);
        chains.back().push_back(bend);
        last = bend;
      }
      join(last, to);
    }
  }

  // Sweeps back and forth, sorting each layer by the mean position of its neighbours; keeps the
  // order with the fewest crossings.
  void order() {
    auto best = layers;
    std::size_t fewest = crossings();
    for (int sweep = 0; sweep < 12 && fewest > 0; ++sweep) {
      const bool forward = sweep % 2 == 0;
      for (Index k = 0; k < layers.size(); ++k) {
        auto& layer = layers[forward ? k : layers.size() - 1 - k];
        const std::vector<Index> place = places();
        const auto mean = [&](Index i) {
          const auto& near = forward ? items[i].before : items[i].after;
          if (near.empty()) return static_cast<double>(place[i]);
          double sum = 0.0;
          for (Index j : near) sum += static_cast<double>(place[j]);
          return sum / static_cast<double>(near.size());
        };
        std::stable_sort(layer.begin(), layer.end(),
                         [&](Index a, Index b) { return mean(a) < mean(b); });
      }
      if (const std::size_t now = crossings(); now < fewest) {
        fewest = now;
        best = layers;
      }
    }
    layers = best;
  }

  // Moves each item towards the mean of its neighbours as far as its own neighbours in the layer
  // let it; the last rounds decide.
  void place_across(double gap) {
    for (auto& layer : layers) {
      double at = 0.0;
      for (Index i : layer) {
        items[i].across = at + items[i].breadth / 2;
        at += items[i].breadth + gap;
      }
    }
    for (int round = 0; round < 24; ++round)
      for (Index k = 0; k < layers.size(); ++k) {
        auto& layer = layers[round % 2 == 0 ? k : layers.size() - 1 - k];
        std::vector<double> wish;
        for (Index i : layer) {
          double sum = 0.0, count = 0.0;
          for (const auto* near : {&items[i].before, &items[i].after})
            for (Index j : *near) {
              sum += items[j].across;
              count += 1.0;
            }
          wish.push_back(count > 0 ? sum / count : items[i].across);
        }
        settle(layer, wish, gap);
      }
  }

  std::vector<Item> items;
  std::vector<std::vector<Index>> layers;  // items in their order
  std::vector<std::vector<Index>> chains;  // for each edge its bends

 private:
  Index add(Item item) {
    if (layers.size() <= item.layer) layers.resize(item.layer + 1);
    layers[item.layer].push_back(items.size());
    items.push_back(std::move(item));
    return items.size() - 1;
  }

  void join(Index a, Index b) {
    items[a].after.push_back(b);
    items[b].before.push_back(a);
  }

  std::vector<Index> places() const {
    std::vector<Index> place(items.size());
    for (const auto& layer : layers)
      for (Index k = 0; k < layer.size(); ++k) place[layer[k]] = k;
    return place;
  }

  std::size_t crossings() const {
    const std::vector<Index> place = places();
    std::size_t count = 0;
    for (const auto& layer : layers) {
      std::vector<std::pair<Index, Index>> edges;
      for (Index i : layer)
        for (Index j : items[i].after) edges.emplace_back(place[i], place[j]);
      for (Index a = 0; a < edges.size(); ++a)
        for (Index b = a + 1; b < edges.size(); ++b)
          if ((edges[a].first < edges[b].first && edges[a].second > edges[b].second) ||
              (edges[a].first > edges[b].first && edges[a].second < edges[b].second))
            ++count;
    }
    return count;
  }

  // The places closest to the wishes (in the sense of least squares) that keep order and distance:
  // neighbours whose wishes collide form a block that moves to its mean wish.
  void settle(const std::vector<Index>& layer, const std::vector<double>& wish, double gap) {
    struct Cluster {
      double sum, count;  // of the wishes for the place of the first item of the layer
      Index first;
    };
    std::vector<double> offset(layer.size(), 0.0);  // distance from the first item
    for (Index k = 1; k < layer.size(); ++k)
      offset[k] = offset[k - 1] + gap + (items[layer[k - 1]].breadth + items[layer[k]].breadth) / 2;
    std::vector<Cluster> clusters;
    for (Index k = 0; k < layer.size(); ++k) {
      clusters.push_back({wish[k] - offset[k], 1.0, k});
      while (clusters.size() > 1) {
        const Cluster last = clusters.back();
        Cluster& before = clusters[clusters.size() - 2];
        if (before.sum / before.count <= last.sum / last.count) break;
        before.sum += last.sum;
        before.count += last.count;
        clusters.pop_back();
      }
    }
    for (Index c = 0; c < clusters.size(); ++c) {
      const Index end = c + 1 < clusters.size() ? clusters[c + 1].first : layer.size();
      for (Index k = clusters[c].first; k < end; ++k)
        items[layer[k]].across = clusters[c].sum / clusters[c].count + offset[k];
    }
  }
};

}  // namespace

void layered_layout(LayeredGraph& graph, double layer_gap, double node_gap) {
  graph.bends.assign(graph.edges.size(), {});
  if (graph.nodes.empty()) return;
  Drawing drawing(graph);
  drawing.order();
  drawing.place_across(node_gap);

  double least = 1e300, most = -1e300;
  for (const Item& item : drawing.items) {
    least = std::min(least, item.across - item.breadth / 2);
    most = std::max(most, item.across + item.breadth / 2);
  }
  std::vector<double> middle;  // of each layer
  double at = 0.0;
  for (const auto& layer : drawing.layers) {
    double thickness = 0.0;
    for (Index i : layer) thickness = std::max(thickness, drawing.items[i].length);
    middle.push_back(at + thickness / 2);
    at += thickness + layer_gap;
  }
  graph.length = at - layer_gap;
  graph.breadth = most - least;
  for (Index i = 0; i < graph.nodes.size(); ++i) {
    graph.nodes[i].along = middle[drawing.items[i].layer];
    graph.nodes[i].across = drawing.items[i].across - least;
  }
  for (Index e = 0; e < graph.edges.size(); ++e)
    for (Index bend : drawing.chains[e])
      graph.bends[e].emplace_back(middle[drawing.items[bend].layer],
                                  drawing.items[bend].across - least);
}

}  // namespace labgrad::labs
