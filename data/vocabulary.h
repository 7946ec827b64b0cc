#pragma once
// Words and their ids.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/tensor.h"

namespace labgrad::data {

class Vocabulary {
 public:
  // The specials take the first ids, in their order; unknown words get the id of specials[unknown].
  // Error: a special given twice; no special `unknown`.
  explicit Vocabulary(const std::vector<std::string>& specials = {"<pad>", "<unk>"},
                      std::size_t unknown = 1);

  // The word's id; a new word gets the next one.
  std::int64_t add(const std::string& word);
  // The word's id, or that of the unknown word.
  std::int64_t id(const std::string& word) const;
  bool contains(const std::string& word) const { return ids_.contains(word); }
  // Error: no word has this id.
  const std::string& word(std::int64_t id) const;
  // All words, by id.
  const std::vector<std::string>& words() const { return words_; }
  // With the specials.
  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::int64_t> ids_;
  std::int64_t unknown_;
};

// Ids of each sentence in a row of (n, length) of i64, cut at `length` or padded with id 0.
// Error: length is negative.
Tensor encode(std::span<const std::vector<std::string>> sentences, const Vocabulary& vocabulary,
              std::int64_t length);

// ---- vocabularies for translation: four specials, then words by falling frequency ----

inline constexpr std::int64_t unk_id = 0, pad_id = 1, sos_id = 2, eos_id = 3;

// <unk> <pad> <sos> <eos>, then the words that occur at least `min_count` times: the most frequent
// first, equally frequent ones by their code points. Error: min_count < 1.
Vocabulary vocabulary_by_frequency(std::span<const std::vector<std::string>> sentences,
                                   std::int64_t min_count = 2);

// The same specials, then the given words in their order: a saved vocabulary, without its first
// four words() or with them.
Vocabulary translation_vocabulary(std::span<const std::string> words);

// <sos>, the words' ids, <eos>. For a vocabulary with the four specials.
std::vector<std::int64_t> encode(const std::vector<std::string>& words,
                                 const Vocabulary& vocabulary);

// The words before the first <eos>, without <sos> and <pad>. Error: an id that no word has.
std::vector<std::string> decode(std::span<const std::int64_t> ids, const Vocabulary& vocabulary);

}  // namespace labgrad::data
