#pragma once
// The engine's graph as a list that can be printed and drawn.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/tensor.h"
#include "labs/common/graph_picture.h"

namespace labgrad::labs::autograd {

struct Named {
  std::string name;
  Tensor tensor;
};

// A leaf, or an op that the engine has recorded.
struct TapeEntry {
  std::string name;                      // as given, else "#" and the entry's place in the list
  std::string op;                        // empty for a leaf
  std::uint64_t sequence = 0;            // the engine's count of ops; 0 for a leaf
  std::vector<std::size_t> inputs = {};  // entries, each in front of this one
};

// What the sweep from y will visit, in the order in which it was computed; leaves first. `names`
// says what leaves and results of ops are called. Error: y has no graph.
std::vector<TapeEntry> read_tape(const Tensor& y, const std::vector<Named>& names = {});

// The tape as a graph; `lines` (one list an entry, may be empty) stand below the names.
GraphPicture tape_graph(const std::vector<TapeEntry>& tape, const std::string& title,
                        const std::vector<std::vector<std::string>>& lines = {});

}  // namespace labgrad::labs::autograd
