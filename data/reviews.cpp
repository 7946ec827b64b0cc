#include "data/reviews.h"

#include <array>

#include "engine/error.h"
#include "engine/random.h"

namespace labgrad::data {
namespace {

constexpr std::array<std::string_view, 8> positive = {
    "excellent", "wonderful", "superb", "brilliant", "delightful", "fantastic", "great", "lovely"};
constexpr std::array<std::string_view, 8> negative = {
    "terrible", "awful", "dreadful", "horrible", "disappointing", "poor", "boring", "bad"};
constexpr std::array<std::string_view, 50> neutral = {
    "the",     "a",      "this",  "that",   "film",     "movie",   "story",   "scene",  "plot",
    "actor",   "camera", "music", "script", "director", "ending",  "opening", "was",    "is",
    "it",      "we",     "they",  "saw",    "watched",  "with",    "and",     "of",     "in",
    "on",      "at",     "for",   "to",     "from",     "about",   "during",  "after",  "before",
    "while",   "city",   "house", "family", "friend",   "evening", "weekend", "ticket", "screen",
    "minutes", "hours",  "part",  "first",  "second"};

// Small, exact and easy to repeat in any language.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  std::int64_t below(std::size_t n) {
    const std::uint64_t x = splitmix64(state_);
    state_ += 0x9e3779b97f4a7c15u;
    return static_cast<std::int64_t>(x % n);
  }
  std::string word(std::span<const std::string_view> words) {
    return std::string(words[static_cast<std::size_t>(below(words.size()))]);
  }

 private:
  std::uint64_t state_;
};

void check_count(std::int64_t n, const char* function) {
  if (n < 0) fail(std::string(function) + ": " + std::to_string(n) + " reviews asked for");
}

}  // namespace

std::span<const std::string_view> positive_words() { return positive; }
std::span<const std::string_view> negative_words() { return negative; }
std::span<const std::string_view> neutral_words() { return neutral; }

std::vector<Review> reviews(std::int64_t n, std::uint64_t seed) {
  check_count(n, "reviews");
  Draws draw(seed);
  std::vector<Review> all;
  for (std::int64_t i = 0; i < n; ++i) {
    Review r;
    r.label = draw.below(2);
    const std::int64_t length = 10 + draw.below(9);
    r.decisive = draw.below(static_cast<std::size_t>(length));
    const std::string word = draw.word(r.label == 1 ? positive : negative);
    for (std::int64_t j = 0; j < length; ++j)
      r.words.push_back(j == r.decisive ? word : draw.word(neutral));
    all.push_back(std::move(r));
  }
  return all;
}

std::vector<Review> ordered_reviews(std::int64_t n, std::uint64_t seed) {
  check_count(n, "ordered_reviews");
  Draws draw(seed);
  std::vector<Review> all;
  for (std::int64_t i = 0; i < n; ++i) {
    Review r;
    r.label = i % 2;
    const std::int64_t length = 10 + draw.below(9);
    // Two different places; the smaller one holds the word that decides.
    std::int64_t first = draw.below(static_cast<std::size_t>(length));
    std::int64_t second = draw.below(static_cast<std::size_t>(length - 1));
    if (second >= first) ++second;
    if (first > second) std::swap(first, second);
    r.decisive = first;
    for (std::int64_t j = 0; j < length; ++j) {
      const bool good = (j == first) == (r.label == 1);
      r.words.push_back(j == first || j == second ? draw.word(good ? positive : negative)
                                                  : draw.word(neutral));
    }
    all.push_back(std::move(r));
  }
  return all;
}

}  // namespace labgrad::data
