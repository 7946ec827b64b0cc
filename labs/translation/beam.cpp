#include "labs/translation/beam.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/error.h"
#include "engine/ops.h"

namespace labgrad::labs::translation {
namespace {

struct Continuation {
  std::size_t row;
  std::int64_t word;
  double log_probability;  // of the whole, with this word
};

// The likeliest continuations of all rows; none of them can need more than `width` of one row.
std::vector<Continuation> best(const std::vector<Hypothesis>& live, const Tensor& log_p,
                               std::int64_t width) {
  const auto [values, indices] = topk(log_p, std::min(width, log_p.size(1)), 1);
  const std::vector<double> p = values.to_vector();
  const std::vector<std::int64_t> words = indices.to_vector<std::int64_t>();
  const std::size_t each = words.size() / live.size();
  std::vector<Continuation> all;
  for (std::size_t i = 0; i < words.size(); ++i)
    all.push_back({i / each, words[i], live[i / each].log_probability + p[i]});
  std::stable_sort(all.begin(), all.end(), [](const Continuation& a, const Continuation& b) {
    return a.log_probability > b.log_probability;
  });
  if (all.size() > static_cast<std::size_t>(width))
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(width), all.end());
  return all;
}

}  // namespace

double Hypothesis::score() const {
  return words.empty() ? 0 : log_probability / static_cast<double>(words.size());
}

Hypothesis beam_search(const Advance& advance, const BeamOptions& o) {
  if (o.width < 1 || o.max_words < 1)
    fail(fmt::format("beam search: width {} and {} words; both must be at least 1", o.width,
                     o.max_words));
  std::vector<Hypothesis> live(1), complete;
  std::vector<std::int64_t> words = {o.sos}, parents = {0};
  for (std::int64_t t = 0; t < o.max_words && !live.empty(); ++t) {
    const std::vector<Continuation> chosen = best(live, advance(words, parents), o.width);
    std::vector<Hypothesis> next;
    words.clear();
    parents.clear();
    for (const Continuation& c : chosen) {
      Hypothesis h = live[c.row];
      h.words.push_back(c.word);
      h.rows.push_back(c.row);
      h.log_probability = c.log_probability;
      h.complete = c.word == o.eos;
      if (h.complete) {
        complete.push_back(std::move(h));
        continue;
      }
      words.push_back(c.word);
      parents.push_back(static_cast<std::int64_t>(c.row));
      next.push_back(std::move(h));
    }
    live = std::move(next);
    if (static_cast<std::int64_t>(complete.size()) >= o.width) break;
  }
  const std::vector<Hypothesis>& from = complete.empty() ? live : complete;
  return *std::max_element(from.begin(), from.end(), [](const Hypothesis& a, const Hypothesis& b) {
    return a.score() < b.score();
  });
}

}  // namespace labgrad::labs::translation
