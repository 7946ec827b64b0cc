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
  explicit Vocabulary(std::vector<std::string> specials = {"<pad>", "<unk>"},
                      std::size_t unknown = 1);

  // The word's id; a new word gets the next one.
  std::int64_t add(const std::string& word);
  // The word's id, or that of the unknown word.
  std::int64_t id(const std::string& word) const;
  bool contains(const std::string& word) const { return ids_.contains(word); }
  // Error: no word has this id.
  const std::string& word(std::int64_t id) const;
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

}  // namespace labgrad::data
