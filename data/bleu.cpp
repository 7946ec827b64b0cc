#include "data/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "engine/error.h"

namespace labgrad::data {
namespace {

using Words = Bleu::Words;
using Ngram = std::span<const std::string>;

struct ByWords {
  bool operator()(Ngram a, Ngram b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
};
using Counts = std::map<Ngram, std::int64_t, ByWords>;

// How often each run of n words occurs.
Counts ngrams(const Words& words, std::size_t n) {
  Counts counts;
  for (std::size_t i = 0; i + n <= words.size(); ++i) ++counts[Ngram(words).subspan(i, n)];
  return counts;
}

}  // namespace

void Bleu::add(const Words& translation, std::span<const Words> references) {
  if (references.empty()) fail("Bleu: a translation needs at least one reference");
  for (std::size_t n = 1; n <= matches.size(); ++n) {
    // An n-gram may match as often as the reference that has it most often.
    Counts allowed;
    for (const Words& reference : references)
      for (const auto& [ngram, count] : ngrams(reference, n))
        allowed[ngram] = std::max(allowed[ngram], count);
    for (const auto& [ngram, count] : ngrams(translation, n)) {
      const auto found = allowed.find(ngram);
      if (found != allowed.end()) matches[n - 1] += std::min(count, found->second);
      totals[n - 1] += count;
    }
  }
  const std::int64_t c = std::ssize(translation);
  const auto closest =
      std::min_element(references.begin(), references.end(), [&](const Words& a, const Words& b) {
        const std::int64_t da = std::abs(std::ssize(a) - c), db = std::abs(std::ssize(b) - c);
        return da != db ? da < db : a.size() < b.size();
      });
  length += c;
  reference_length += std::ssize(*closest);
}

double Bleu::brevity_penalty() const {
  if (length > reference_length) return 1;
  if (length == 0) return 0;
  return std::exp(1 - static_cast<double>(reference_length) / static_cast<double>(length));
}

double Bleu::precision(int n) const {
  if (n < 1 || n > 4) fail(fmt::format("Bleu: precision of n-grams for n = 1 to 4, got {}", n));
  const auto i = static_cast<std::size_t>(n - 1);
  return totals[i] == 0 ? 0 : static_cast<double>(matches[i]) / static_cast<double>(totals[i]);
}

double Bleu::score() const {
  if (matches[0] == 0) return 0;
  double sum = 0;
  for (int n = 1; n <= 4; ++n) {
    const double p = precision(n);
    sum += std::log(p > 0 ? p : std::numeric_limits<double>::min()) / 4;
  }
  return brevity_penalty() * std::exp(sum);
}

double sentence_bleu(const Words& translation, const Words& reference) {
  Bleu bleu;
  bleu.add(translation, reference);
  return bleu.score();
}

double corpus_bleu(std::span<const Words> translations, std::span<const Words> references) {
  if (translations.size() != references.size())
    fail(fmt::format("corpus_bleu: {} translations but {} references", translations.size(),
                     references.size()));
  Bleu bleu;
  for (std::size_t i = 0; i < translations.size(); ++i) bleu.add(translations[i], references[i]);
  return bleu.score();
}

}  // namespace labgrad::data
