#pragma once
// The nodes of a sweep that have got a gradient and wait for their turn, the youngest first.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/tensor.h"

namespace labgrad {

// A node that arrives is nearly always among the youngest: it has just been reached from one that
// is younger still. So the youngest lie in order, the last first to go, and an arrival moves up
// from the end; one that would have to move further than `reach` waits in a heap instead.
class NodeQueue {
 public:
  NodeQueue() = default;
  NodeQueue(const NodeQueue&) = delete;
  NodeQueue& operator=(const NodeQueue&) = delete;
  ~NodeQueue() {
    while (!empty()) pop();
  }

  bool empty() const { return young_.empty() && heap_.empty(); }

  // `sequence` says how young it is; no two have the same.
  void push(std::uint64_t sequence, Ref<GraphNode> node) {
    const Waiting w{sequence, node.give()};
    const std::size_t nearest = young_.size() > reach ? young_.size() - reach : 0;
    if (nearest > 0 && w < young_[nearest]) {
      heap_.push_back(w);
      std::push_heap(heap_.begin(), heap_.end());
      return;
    }
    std::size_t place = young_.size();
    young_.push_back(w);
    for (; place > nearest && w < young_[place - 1]; --place) young_[place] = young_[place - 1];
    young_[place] = w;
  }

  Ref<GraphNode> pop() {
    const bool from_heap = young_.empty() || (!heap_.empty() && young_.back() < heap_.front());
    if (from_heap) std::pop_heap(heap_.begin(), heap_.end());
    std::vector<Waiting>& waiting = from_heap ? heap_ : young_;
    GraphNode* node = waiting.back().node;
    waiting.pop_back();
    return Ref<GraphNode>::take(node);
  }

 private:
  static constexpr std::size_t reach = 64;

  // Holds its node as a Ref does, but can be moved without counting.
  struct Waiting {
    std::uint64_t sequence;
    GraphNode* node;
    bool operator<(const Waiting& other) const { return sequence < other.sequence; }
  };

  std::vector<Waiting> young_;  // ascending
  std::vector<Waiting> heap_;   // the youngest on top
};

}  // namespace labgrad
