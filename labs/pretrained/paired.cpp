#include "labs/pretrained/paired.h"

#include <algorithm>
#include <cmath>

#include "engine/error.h"

namespace labgrad::labs::pretrained {

double Paired::probability() const {
  const std::int64_t n = only_first + only_second, k = std::min(only_first, only_second);
  if (2 * k == n) return 1;
  // P(X <= k) + P(X >= n - k) for n throws of a coin; lgamma, for the binomials overflow.
  double sum = 0;
  for (std::int64_t i = 0; i <= k; ++i) {
    const auto m = static_cast<double>(n), j = static_cast<double>(i);
    sum += std::exp(std::lgamma(m + 1) - std::lgamma(j + 1) - std::lgamma(m - j + 1) -
                    m * std::log(2.0));
  }
  return std::min(1.0, 2 * sum);
}

Paired paired(const std::vector<bool>& first, const std::vector<bool>& second) {
  if (first.size() != second.size())
    fail("paired: " + std::to_string(first.size()) + " and " + std::to_string(second.size()) +
         " answers");
  Paired out;
  for (std::size_t i = 0; i < first.size(); ++i)
    ++(first[i]    ? second[i] ? out.both : out.only_first
       : second[i] ? out.only_second
                   : out.neither);
  return out;
}

Chance chance_of(std::int64_t right, std::int64_t entries) {
  const auto n = static_cast<double>(right), N = static_cast<double>(entries);
  Chance out{.top1 = n / N};
  double none = 1;  // of the first five is right
  for (double i = 0; i < 5 && i < N; ++i) none *= std::max(0.0, N - n - i) / (N - i);
  out.top5 = 1 - none;
  // At rank r an entry is right with probability n/N, and then (n-1)/(N-1) of the r-1 before it:
  // the mean precision there is (1 + (r-1)(n-1)/(N-1)) / r.
  if (right > 0)
    for (double r = 1; r <= N; ++r)
      out.average_precision += (1 + (N > 1 ? (r - 1) * (n - 1) / (N - 1) : 0)) / r / N;
  return out;
}

Chance mean_chance(const std::vector<std::int64_t>& queries,
                   const std::vector<std::int64_t>& database) {
  Chance sum;
  const std::int64_t labels = 1 + std::max(*std::max_element(queries.begin(), queries.end()),
                                           *std::max_element(database.begin(), database.end()));
  std::vector<Chance> by_label;
  for (std::int64_t label = 0; label < labels; ++label)
    by_label.push_back(
        chance_of(std::count(database.begin(), database.end(), label), std::ssize(database)));
  for (const std::int64_t label : queries) {
    const Chance& c = by_label[static_cast<std::size_t>(label)];
    const auto n = static_cast<double>(queries.size());
    sum.top1 += c.top1 / n;
    sum.top5 += c.top5 / n;
    sum.average_precision += c.average_precision / n;
  }
  return sum;
}

}  // namespace labgrad::labs::pretrained
