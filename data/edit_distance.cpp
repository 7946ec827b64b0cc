#include "data/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace labgrad::data {

std::int64_t edit_distance(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  // row[j] is the distance from the symbols of a so far to the first j of b.
  std::vector<std::int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (const std::int64_t symbol : a) {
    std::int64_t diagonal = row[0]++;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::int64_t substituted = diagonal + (symbol != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace labgrad::data
