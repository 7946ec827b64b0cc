#include "data/vocabulary.h"

#include <algorithm>

namespace labgrad::data {

Vocabulary::Vocabulary(const std::vector<std::string>& specials, std::size_t unknown)
    : unknown_(static_cast<std::int64_t>(unknown)) {
  if (unknown >= specials.size())
    fail("Vocabulary: the unknown word is special " + std::to_string(unknown) + " of " +
         std::to_string(specials.size()));
  for (const std::string& word : specials) {
    if (contains(word)) fail("Vocabulary: the special '" + word + "' is given twice");
    add(word);
  }
}

std::int64_t Vocabulary::add(const std::string& word) {
  const auto [place, is_new] = ids_.emplace(word, size());
  if (is_new) words_.push_back(word);
  return place->second;
}

std::int64_t Vocabulary::id(const std::string& word) const {
  const auto place = ids_.find(word);
  return place == ids_.end() ? unknown_ : place->second;
}

const std::string& Vocabulary::word(std::int64_t id) const {
  if (id < 0 || id >= size())
    fail("Vocabulary: there is no word with id " + std::to_string(id) + ", the ids are 0 to " +
         std::to_string(size() - 1));
  return words_[static_cast<std::size_t>(id)];
}

Tensor encode(std::span<const std::vector<std::string>> sentences, const Vocabulary& vocabulary,
              std::int64_t length) {
  Tensor ids = empty({static_cast<std::int64_t>(sentences.size()), length}, i64, Device::cpu);
  ids.zero_();
  const auto out = ids.writable_span<std::int64_t>();
  const auto width = static_cast<std::size_t>(length);
  for (std::size_t i = 0; i < sentences.size(); ++i)
    for (std::size_t j = 0; j < std::min(width, sentences[i].size()); ++j)
      out[i * width + j] = vocabulary.id(sentences[i][j]);
  return moved(ids, default_device());
}

Vocabulary translation_vocabulary(std::span<const std::string> words) {
  Vocabulary vocabulary({"<unk>", "<pad>", "<sos>", "<eos>"}, unk_id);
  for (const std::string& word : words) vocabulary.add(word);
  return vocabulary;
}

Vocabulary vocabulary_by_frequency(std::span<const std::vector<std::string>> sentences,
                                   std::int64_t min_count) {
  if (min_count < 1)
    fail("vocabulary_by_frequency: min_count must be at least 1, got " + std::to_string(min_count));
  std::unordered_map<std::string, std::int64_t> counts;
  for (const std::vector<std::string>& sentence : sentences)
    for (const std::string& word : sentence) ++counts[word];
  std::vector<std::pair<std::string, std::int64_t>> frequent;
  for (const auto& [word, count] : counts)
    if (count >= min_count) frequent.emplace_back(word, count);
  // The bytes of UTF-8 sort as the code points do.
  std::sort(frequent.begin(), frequent.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  Vocabulary vocabulary = translation_vocabulary({});
  for (const auto& [word, count] : frequent) vocabulary.add(word);
  return vocabulary;
}

std::vector<std::int64_t> encode(const std::vector<std::string>& words,
                                 const Vocabulary& vocabulary) {
  std::vector<std::int64_t> ids = {sos_id};
  for (const std::string& word : words) ids.push_back(vocabulary.id(word));
  ids.push_back(eos_id);
  return ids;
}

std::vector<std::string> decode(std::span<const std::int64_t> ids, const Vocabulary& vocabulary) {
  std::vector<std::string> words;
  for (const std::int64_t id : ids) {
    if (id == eos_id) break;
    if (id != sos_id && id != pad_id) words.push_back(vocabulary.word(id));
  }
  return words;
}

}  // namespace labgrad::data
