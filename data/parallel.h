#pragma once
// Sentences with their translations.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/tokenizer.h"

namespace labgrad::data {

using Sentence = std::vector<std::string>;
// Pairs (word of the source, word of the target), both counted from 0, without <sos> and <eos>.
using Alignment = std::vector<std::pair<int, int>>;

struct ParallelCorpus {
  std::string name;
  std::vector<Sentence> source, target;  // pair i is source[i] and target[i]
  std::vector<Alignment> alignment;      // gold, one for each pair; empty if nobody knows it
  std::int64_t dropped_empty = 0;        // pairs left out because a side has no word
  std::int64_t dropped_long = 0;         // pairs left out because a side has too many words

  std::int64_t size() const { return static_cast<std::int64_t>(source.size()); }
};

struct ParallelSplits {
  ParallelCorpus train, val, test;
};

struct ParallelOptions {
  Language source = Language::german, target = Language::english;
  std::int64_t max_words = 100;  // longer sentences are left out, with their pair
};

// Two text files, line i of one the translation of line i of the other; lines end with \n or \r\n,
// the last one perhaps with nothing, and a byte order mark at the start is skipped. The words are
// tokenize()d. A pair with a side without words, or with more than max_words of them, is left out
// and counted in `dropped_empty` or `dropped_long`.
// Throws MissingFile; Error for invalid UTF-8 (file, line, byte of the file), a file packed by
// gzip, different numbers of lines, or no pair left.
ParallelCorpus read_parallel(const std::filesystem::path& source,
                             const std::filesystem::path& target, const std::string& name,
                             const ParallelOptions& options = {});

}  // namespace labgrad::data
