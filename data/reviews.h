#pragma once
// Synthetic film reviews for labs/attention: neutral words and, in each, exactly one decisive word.
// Since the decisive word is known, what a model attended to can be scored.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace labgrad::data {

struct Review {
  std::vector<std::string> words;
  std::int64_t label;     // 1 positive, 0 negative
  std::int64_t decisive;  // position of the word that decides
};

std::span<const std::string_view> positive_words();
std::span<const std::string_view> negative_words();
std::span<const std::string_view> neutral_words();

// n reviews of 10 to 18 words. Per review these numbers are drawn, each next() % n of SplitMix64:
// the label, the length, the decisive word's place, that word, the neutral words from left to
// right. Error: n < 0.
std::vector<Review> reviews(std::int64_t n, std::uint64_t seed = 42);

// A second task, for which the order decides: each review has one positive and one negative word,
// and the label is 1 if the positive one stands first; `decisive` is the place of that first one.
// Half of the labels are 1.
std::vector<Review> ordered_reviews(std::int64_t n, std::uint64_t seed = 42);

}  // namespace labgrad::data
