#include "labs/translation/alignment_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "labs/common/heat_map.h"
#include "labs/common/text.h"

namespace labgrad::labs::translation {
namespace {

data::Sentence columns_of(const data::Sentence& source) {
  data::Sentence columns = {"<sos>"};
  columns.insert(columns.end(), source.begin(), source.end());
  columns.push_back("<eos>");
  return columns;
}

// As many as there are weights: a translation that was cut off has no end.
data::Sentence rows_of(const data::Sentence& translation, std::size_t count) {
  data::Sentence rows = translation;
  rows.push_back("<eos>");
  rows.resize(std::min(count, rows.size()));
  return rows;
}

}  // namespace

std::string draw_alignment(const data::Sentence& source, const data::Sentence& translation,
                           const std::vector<std::vector<double>>& weights) {
  return draw_heat_map({.title = "Weights over the source",
                        .values = weights,
                        .row_labels = rows_of(translation, weights.size()),
                        .column_labels = columns_of(source),
                        .row_title = "written",
                        .column_title = "read",
                        .min = 0,
                        .max = 1});
}

std::string alignment_text(const data::Sentence& source, const data::Sentence& translation,
                           const std::vector<std::vector<double>>& weights) {
  const data::Sentence rows = rows_of(translation, weights.size()), columns = columns_of(source);
  std::size_t width = 0;
  for (const std::string& word : rows) width = std::max(width, display_width(word));
  std::string text;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    std::vector<std::size_t> order(weights[t].size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return weights[t][a] > weights[t][b]; });
    std::string line = pad(rows[t], width) + "  <-";
    for (const std::size_t i : order)
      if (weights[t][i] >= 0.2 || i == order.front())
        line += fmt::format(" {} {:.2f}", columns[i], weights[t][i]);
    text += line + "\n";
  }
  return text;
}

}  // namespace labgrad::labs::translation
