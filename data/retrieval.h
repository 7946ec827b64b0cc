#pragma once
// Finding pictures by likeness: each query's vector is compared with those of a database, and the
// labels tell whether what comes first is of the query's kind.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/tensor.h"

namespace labgrad::data {

// cos(q, x) = q·x / (|q| |x|)                                                       [retrieval.1]
// of each query with each entry: (Q, D), (N, D) -> (Q, N), outside the graph. A vector of zeros has
// cosine 0 with all others.
// Error: ranks, sizes or dtypes that do not fit.
Tensor cosines(const Tensor& queries, const Tensor& database);

// The k nearest of one query, nearest first: the places of its largest similarities; of equal ones
// the first. Fewer if there are no more. Error: a similarity that is NaN; k below 0.
std::vector<std::int64_t> nearest(std::span<const float> similarities, std::int64_t k);

struct RetrievalScores {
  std::int64_t queries = 0;
  std::int64_t hits = 0;  // queries whose nearest entry has their label
  double top1 = 0;        // hits / queries
  double top5 = 0;        // share of queries with their label among the five nearest
  // Mean over the queries of the average precision: the mean, over all entries with the query's
  // label, of the share of such entries among those ranked down to there. A query whose label the
  // database lacks counts 0.                                                       [retrieval.2]
  double mean_average_precision = 0;
  double chance = 0;  // the mean share of the query's label in the database
  // By label, 0 to the largest: queries, and hits among them.
  std::vector<std::int64_t> class_queries, class_hits;
};

// Scores similarities (Q, N) f32, on the CPU. Equal similarities rank in the database's order.
// Error: another dtype or rank, counts that do not fit, no queries or an empty database, a label
// below 0 or above a million, a NaN.
RetrievalScores score_retrieval(const Tensor& similarities,
                                std::span<const std::int64_t> query_labels,
                                std::span<const std::int64_t> database_labels);

}  // namespace labgrad::data
