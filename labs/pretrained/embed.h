#pragma once
// Pictures through a network, batch by batch, without a graph; and what is found with the results.

#include "data/retrieval.h"
#include "labs/pretrained/networks.h"
#include "labs/pretrained/task.h"

namespace labgrad::labs::pretrained {

// What a network makes of a set of pictures.
struct Features {
  Tensors pooled;  // after each stage: the mean over the map, (N, C)
  Tensors grid;    // after each stage: the means over 3 x 3 fields of it, (N, 9 C); or none
  double seconds = 0;

  const Tensor& embedding() const { return pooled.back(); }
};

// All stages of the network for all pictures, with or without the fields, which take nine times the
// memory. Shows its progress; throws Interrupted on Ctrl-C.
Features features_of(Network& network, const Tensor& pixels, bool with_grid = false);

// The same for the task's queries and its database, kept for the sections that follow.
const Features& query_features(Lab& lab, Network& network);
const Features& database_features(Lab& lab, Network& network);

// A space in which pictures are compared.
struct Space {
  std::string name;
  Tensor queries, database;  // (Q, D), (N, D)

  std::int64_t dimensions() const { return queries.size(1); }
};

Space embedding_space(Lab& lab, Network& network);
Space pixel_space(Lab& lab);
// Every network's embedding, then raw pixels.
std::vector<Space> spaces(Lab& lab);

// Cosines (Q, N) on the CPU.
Tensor similarities(const Space& space);
data::RetrievalScores scores(const Task& task, const Space& space);
// Which queries have a nearest neighbour of their class.
std::vector<bool> hits(const Tensor& similarities, const Task& task);

}  // namespace labgrad::labs::pretrained
