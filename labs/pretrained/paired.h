#pragma once
// Two spaces asked the same questions: who is right where, and whether the difference means much.

#include <cstdint>
#include <vector>

namespace labgrad::labs::pretrained {

struct Paired {
  std::int64_t both = 0, only_first = 0, only_second = 0, neither = 0;

  // If either were as likely to be right where only one is, so uneven a split, to either side,
  // would have this probability: the sign test, exact.
  double probability() const;
};

// Error: counts differ.
Paired paired(const std::vector<bool>& first, const std::vector<bool>& second);

// What a random order of N entries, n of them right, scores on average.
struct Chance {
  double top1 = 0, top5 = 0, average_precision = 0;
};
Chance chance_of(std::int64_t right, std::int64_t entries);
// Its mean over the queries.
Chance mean_chance(const std::vector<std::int64_t>& queries,
                   const std::vector<std::int64_t>& database);

}  // namespace labgrad::labs::pretrained
