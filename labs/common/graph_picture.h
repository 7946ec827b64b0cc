#pragma once
// Directed graphs without cycles, drawn in layers: the computation graphs of labs/autograd.

#include <string>
#include <vector>

namespace labgrad::labs {

enum class NodeKind { input, parameter, op, result };

struct GraphNode {
  std::string id = {};
  std::vector<std::string> lines = {};  // what stands in the node; the first is bold
  NodeKind kind = NodeKind::op;
};

struct GraphEdge {
  std::string from = {}, to = {};  // ids
  std::string label = {};
};

struct GraphPicture {
  std::string title = {};
  std::vector<GraphNode> nodes = {};
  std::vector<GraphEdge> edges = {};
  bool left_to_right = true;  // else from top to bottom
};

// As SVG. Throws Error if an edge names an unknown node, if an id comes twice, or for a cycle.
std::string draw_graph(const GraphPicture& graph);

// The same graph in the language of Graphviz, for `dot -Tsvg`.
std::string to_dot(const GraphPicture& graph);

}  // namespace labgrad::labs
