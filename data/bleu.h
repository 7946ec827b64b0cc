#pragma once
// BLEU (Papineni, Roukos, Ward and Zhu, 2002): how many n-grams of a translation occur in a
// reference.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace labgrad::data {

// Counts from which BLEU-4 is computed; over one sentence or, added up, over a corpus.
//
//   [bleu.1] p_n  = matches_n / totals_n, an n-gram matching at most as often as in one reference
//   [bleu.2] BP   = 1 if the translations are longer than the references, else exp(1 - r/c)
//   [bleu.3] BLEU = BP exp( (ln p_1 + ln p_2 + ln p_3 + ln p_4) / 4 )
//
// Without smoothing, as NLTK's default: no unigram matches, or no word at all: 0. An order n in
// which nothing matches (a sentence of three words has no 4-gram) has p_n = 2.2e-308, the smallest
// normal double, so that BLEU is some 1e-77 and not 0.
struct Bleu {
  std::array<std::int64_t, 4> matches{}, totals{};  // of n-grams, n = 1 to 4
  std::int64_t length = 0;                          // c: words of the translations
  std::int64_t reference_length = 0;                // r: of the references closest in length

  using Words = std::vector<std::string>;
  // Adds one sentence. Of several references the closest in length counts for BP, the shorter one
  // of two equally close. Error: no reference.
  void add(const Words& translation, std::span<const Words> references);
  void add(const Words& translation, const Words& reference) {
    add(translation, std::span(&reference, 1));
  }

  double brevity_penalty() const;
  double precision(int n) const;  // 0 if there is no n-gram; n is 1 to 4
  double score() const;           // 0 to 1
};

// BLEU of one sentence, as nltk.translate.bleu_score.sentence_bleu([reference], translation).
double sentence_bleu(const Bleu::Words& translation, const Bleu::Words& reference);

// BLEU of a corpus, as corpus_bleu there: counts are added up over all sentences before precisions
// are taken, so this is not the mean of sentence_bleu. 0 for none.
// Error: the numbers of translations and references differ.
double corpus_bleu(std::span<const Bleu::Words> translations,
                   std::span<const Bleu::Words> references);

}  // namespace labgrad::data
