#pragma once

#include <cstdint>
#include <span>

namespace labgrad::data {

// The fewest substitutions, deletions and insertions that turn a into b (Levenshtein 1966): the
// table of Wagner and Fischer, Journal of the ACM 21 (1974), one row at a time.
std::int64_t edit_distance(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

}  // namespace labgrad::data
