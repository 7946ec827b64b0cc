#include "labs/autograd/tape.h"

#include <algorithm>
#include <map>

#include "engine/autograd.h"
#include "engine/error.h"

namespace labgrad::labs::autograd {
namespace {

// An edge ends in the node of an op or in a leaf; either is known by its address.
const void* target_of(const Edge& edge) {
  return edge.node ? static_cast<const void*>(edge.node.get()) : edge.leaf.get();
}

const void* target_of(const Tensor& x) { return target_of(edge_to(x)); }

struct Found {
  std::vector<Node*> nodes;
  std::vector<const void*> leaves;
};

// Every node and leaf that y was computed from: a walk without recursion.
Found walk(const Tensor& y) {
  Found found;
  std::map<const void*, bool> seen;
  const auto visit = [&](const Edge& edge) {
    if (!edge.needed() || !seen.emplace(target_of(edge), true).second) return;
    if (edge.node) found.nodes.push_back(static_cast<Node*>(edge.node.get()));
    if (edge.leaf) found.leaves.push_back(edge.leaf.get());
  };
  visit(edge_to(y));
  for (std::size_t i = 0; i < found.nodes.size(); ++i)
    for (const Edge& edge : found.nodes[i]->edges()) visit(edge);
  std::sort(found.nodes.begin(), found.nodes.end(),
            [](const Node* a, const Node* b) { return a->sequence() < b->sequence(); });
  return found;
}

}  // namespace

std::vector<TapeEntry> read_tape(const Tensor& y, const std::vector<Named>& names) {
  if (!y.requires_grad()) fail("read_tape: the tensor was not computed from anything recorded");
  const Found found = walk(y);
  std::vector<TapeEntry> tape;
  std::map<const void*, std::size_t> place;
  const auto add = [&](const void* target, TapeEntry entry) {
    entry.name = "#" + std::to_string(tape.size());
    for (const Named& named : names)
      if (target_of(named.tensor) == target) entry.name = named.name;
    place.emplace(target, tape.size());
    tape.push_back(std::move(entry));
  };
  // Leaves in the order of the names, then those without one.
  std::vector<const void*> leaves;
  for (const Named& named : names)
    if (std::find(found.leaves.begin(), found.leaves.end(), target_of(named.tensor)) !=
        found.leaves.end())
      leaves.push_back(target_of(named.tensor));
  for (const void* leaf : found.leaves)
    if (std::find(leaves.begin(), leaves.end(), leaf) == leaves.end()) leaves.push_back(leaf);
  for (const void* leaf : leaves) add(leaf, {});
  for (Node* node : found.nodes) {
    TapeEntry entry{.name = {}, .op = node->op(), .sequence = node->sequence()};
    for (const Edge& edge : node->edges())
      if (edge.needed()) entry.inputs.push_back(place.at(target_of(edge)));
    add(node, std::move(entry));
  }
  return tape;
}

GraphPicture tape_graph(const std::vector<TapeEntry>& tape, const std::string& title,
                        const std::vector<std::vector<std::string>>& lines) {
  GraphPicture graph{.title = title};
  for (std::size_t i = 0; i < tape.size(); ++i) {
    const TapeEntry& entry = tape[i];
    GraphNode node{.id = entry.name};
    node.lines.push_back(entry.op.empty() ? entry.name : entry.name + " = " + entry.op);
    if (i < lines.size()) node.lines.insert(node.lines.end(), lines[i].begin(), lines[i].end());
    node.kind = entry.op.empty()       ? NodeKind::parameter
                : i + 1 == tape.size() ? NodeKind::result
                                       : NodeKind::op;
    graph.nodes.push_back(std::move(node));
    for (const std::size_t input : entry.inputs)
      graph.edges.push_back({.from = tape[input].name, .to = entry.name});
  }
  return graph;
}

}  // namespace labgrad::labs::autograd
