#include "data/retrieval.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/autograd.h"
#include "engine/error.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/matmul.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"

namespace labgrad::data {
namespace {

constexpr std::int64_t largest_label = 1'000'000;  // there is a counter for each

// Rows of length 1; the largest number is taken out first, so that no square overflows.
Tensor unit_rows(const Tensor& x) {
  const Tensor largest = amax(labgrad::abs(x), {1}, true);
  const Tensor y = x / where(largest > 0, largest, 1.0);
  const Tensor length = norm(y, 2, {1}, true);
  return y / where(length > 0, length, 1.0);
}

std::vector<std::int64_t> ranking(std::span<const float> similarities, std::int64_t k) {
  if (k < 0) fail("nearest: k is " + std::to_string(k));
  for (std::size_t i = 0; i < similarities.size(); ++i)
    if (std::isnan(similarities[i]))
      fail("nearest: similarity " + std::to_string(i) + " is not a number");
  std::vector<std::int64_t> order(similarities.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::min<std::ptrdiff_t>(k, std::ssize(order));
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](std::int64_t a, std::int64_t b) {
                      const float x = similarities[static_cast<std::size_t>(a)];
                      const float y = similarities[static_cast<std::size_t>(b)];
                      return x != y ? x > y : a < b;
                    });
  order.resize(static_cast<std::size_t>(count));
  return order;
}

void check(const Tensor& similarities, std::span<const std::int64_t> queries,
           std::span<const std::int64_t> database) {
  if (similarities.rank() != 2 || similarities.dtype() != f32 ||
      similarities.size(0) != std::ssize(queries) || similarities.size(1) != std::ssize(database) ||
      similarities.numel() == 0)
    fail(
        "score_retrieval: needs similarities (Q, N) of f32 with a label for each of at least one "
        "query and one entry, got " +
        std::string(name_of(similarities.dtype())) + " " + similarities.shape().str() + ", " +
        std::to_string(queries.size()) + " and " + std::to_string(database.size()) + " labels");
  for (const auto labels : {queries, database})
    for (const std::int64_t label : labels)
      if (label < 0 || label > largest_label)
        fail("score_retrieval: the label " + std::to_string(label) + " is not one of 0 to " +
             std::to_string(largest_label));
}

}  // namespace

Tensor cosines(const Tensor& queries, const Tensor& database) {
  if (queries.rank() != 2 || database.rank() != 2 || queries.size(1) != database.size(1) ||
      queries.dtype() != database.dtype() || !is_floating(queries.dtype()))
    fail("cosines: needs queries (Q, D) and a database (N, D) of one floating dtype, got " +
         std::string(name_of(queries.dtype())) + " " + queries.shape().str() + " and " +
         name_of(database.dtype()) + " " + database.shape().str());
  NoGrad no_grad;
  return matmul(unit_rows(queries), transpose(unit_rows(database)));
}

std::vector<std::int64_t> nearest(std::span<const float> similarities, std::int64_t k) {
  return ranking(similarities, k);
}

RetrievalScores score_retrieval(const Tensor& similarities,
                                std::span<const std::int64_t> query_labels,
                                std::span<const std::int64_t> database_labels) {
  check(similarities, query_labels, database_labels);
  const auto entries = std::ssize(database_labels);
  const Tensor dense = packed(moved(similarities, Device::cpu));
  RetrievalScores scores;
  scores.queries = std::ssize(query_labels);
  const auto largest = std::max(*std::max_element(query_labels.begin(), query_labels.end()),
                                *std::max_element(database_labels.begin(), database_labels.end()));
  std::vector<std::int64_t> share(static_cast<std::size_t>(largest) + 1);
  for (const std::int64_t label : database_labels) ++share[static_cast<std::size_t>(label)];
  scores.class_queries.resize(share.size());
  scores.class_hits.resize(share.size());

  std::int64_t among_five = 0;
  for (std::size_t q = 0; q < query_labels.size(); ++q) {
    const std::int64_t label = query_labels[q];
    const auto row = dense.span<float>().subspan(q * static_cast<std::size_t>(entries),
                                                 static_cast<std::size_t>(entries));
    const std::vector<std::int64_t> order = ranking(row, entries);
    std::int64_t right = 0;
    double precisions = 0;
    for (std::int64_t i = 0; i < entries; ++i) {
      const std::int64_t entry = order[static_cast<std::size_t>(i)];
      if (database_labels[static_cast<std::size_t>(entry)] == label) {
        ++right;
        precisions += static_cast<double>(right) / static_cast<double>(i + 1);
      }
      if (i == 0) scores.hits += right;
      if (i == 0) scores.class_hits[static_cast<std::size_t>(label)] += right;
      if (i == std::min<std::int64_t>(4, entries - 1)) among_five += right > 0 ? 1 : 0;
    }
    if (right > 0) scores.mean_average_precision += precisions / static_cast<double>(right);
    scores.chance +=
        static_cast<double>(share[static_cast<std::size_t>(label)]) / static_cast<double>(entries);
    ++scores.class_queries[static_cast<std::size_t>(label)];
  }
  const auto count = static_cast<double>(scores.queries);
  scores.top1 = static_cast<double>(scores.hits) / count;
  scores.top5 = static_cast<double>(among_five) / count;
  scores.mean_average_precision /= count;
  scores.chance /= count;
  return scores;
}

}  // namespace labgrad::data
