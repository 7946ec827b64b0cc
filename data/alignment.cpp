#include "data/alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "engine/error.h"

namespace labgrad::data {
namespace {

// The place of the first of the largest; -1 if there is a NaN.
std::int64_t largest(std::span<const double> row) {
  if (std::any_of(row.begin(), row.end(), [](double w) { return std::isnan(w); })) return -1;
  return std::max_element(row.begin(), row.end()) - row.begin();
}

double ratio(double a, std::int64_t b) {
  return b == 0 ? std::numeric_limits<double>::quiet_NaN() : a / static_cast<double>(b);
}

}  // namespace

void AlignmentScore::add(const Tensor& weights, const Alignment& gold, std::int64_t source_words) {
  if (weights.rank() != 2 || !is_floating(weights.dtype()))
    fail(fmt::format("AlignmentScore: expected floating weights (T, S), got shape {}",
                     weights.shape().str()));
  const std::int64_t T = weights.size(0), S = weights.size(1);
  if (source_words < 1 || source_words >= S)
    fail(
        fmt::format("AlignmentScore: weights over {} columns need a source of 1 to {} words and "
                    "<sos>, got {} words",
                    S, S - 1, source_words));
  std::vector<std::set<std::int64_t>> sources(static_cast<std::size_t>(T));
  for (const auto& [from, to] : gold) {
    if (from < 0 || from >= source_words || to < 0 || to >= T)
      fail(
          fmt::format("AlignmentScore: the gold pair ({}, {}) lies outside of {} source words and "
                      "{} rows of weights",
                      from, to, source_words, T));
    sources[static_cast<std::size_t>(to)].insert(from);
  }
  const std::vector<double> w = weights.to_vector();
  const auto width = static_cast<std::size_t>(S);
  for (std::size_t t = 0; t < sources.size(); ++t) {
    if (sources[t].empty()) continue;
    ++words;
    hits += sources[t].contains(largest(std::span(w).subspan(t * width, width)) - 1);
    by_chance += ratio(static_cast<double>(sources[t].size()), source_words);
  }
}

double AlignmentScore::share() const { return ratio(static_cast<double>(hits), words); }
double AlignmentScore::chance_share() const { return ratio(by_chance, words); }

}  // namespace labgrad::data
