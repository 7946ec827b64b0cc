#pragma once
// What attention looked at while a translation was written.

#include <string>
#include <vector>

#include "data/parallel.h"

namespace labgrad::labs::translation {

// A picture: a row for each word of the translation and its end, a column for each word of the
// source with its beginning and its end. weights [row][column].
std::string draw_alignment(const data::Sentence& source, const data::Sentence& translation,
                           const std::vector<std::vector<double>>& weights);

// The same for a terminal: each word of the translation with the source words that have at least a
// fifth of its weight, the heaviest first.
std::string alignment_text(const data::Sentence& source, const data::Sentence& translation,
                           const std::vector<std::vector<double>>& weights);

}  // namespace labgrad::labs::translation
