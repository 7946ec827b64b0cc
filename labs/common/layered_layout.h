#pragma once
// Places for the nodes of a graph without cycles (Sugiyama's method): each node gets a layer, long
// edges get a bend in each layer that they cross, and the order within the layers is chosen so that
// few edges cross.

#include <cstddef>
#include <utility>
#include <vector>

namespace labgrad::labs {

struct LayeredNode {
  double length = 0, breadth = 0;  // extent along and across the direction of the edges
  double along = 0, across = 0;    // its middle, set by layered_layout
};

struct LayeredGraph {
  std::vector<LayeredNode> nodes;
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  // For each edge the points (along, across) that it passes on its way from node to node.
  std::vector<std::vector<std::pair<double, double>>> bends = {};
  double length = 0, breadth = 0;  // of the whole drawing, which starts at (0, 0)
};

// Throws Error if the graph has a cycle. `layer_gap` and `node_gap` keep layers and neighbours
// apart.
void layered_layout(LayeredGraph& graph, double layer_gap, double node_gap);

}  // namespace labgrad::labs
