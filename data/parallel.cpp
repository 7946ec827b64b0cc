#include "data/parallel.h"

#include <fmt/format.h>

#include <string_view>

#include "engine/error.h"
#include "engine/io/file.h"
#include "engine/io/utf8.h"

namespace labgrad::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::string_view gzip_magic = "\x1f\x8b";

std::vector<std::string_view> lines_of(std::string_view text) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string read_text(const fs::path& path) {
  std::string text = read_file(path);
  if (text.starts_with(gzip_magic))
    fail(
        fmt::format("{}: this file is packed by gzip; give it a name that ends in .gz and unpack "
                    "it with gzip -d",
                    path.string()));
  if (const std::size_t at = first_invalid_utf8(text); at < text.size()) {
    std::size_t line = 1;
    for (const char c : std::string_view(text).substr(0, at)) line += c == '\n';
    fail(
        fmt::format("{}: line {}, byte {} of the file: 0x{:02x} is not valid UTF-8 there; is the "
                    "file in another encoding, or cut off?",
                    path.string(), line, at, static_cast<unsigned char>(text[at])));
  }
  return text;
}

}  // namespace

ParallelCorpus read_parallel(const fs::path& source, const fs::path& target,
                             const std::string& name, const ParallelOptions& options) {
  const std::string source_text = read_text(source), target_text = read_text(target);
  const auto source_lines = lines_of(source_text), target_lines = lines_of(target_text);
  if (source_lines.size() != target_lines.size())
    fail(
        fmt::format("{} has {} lines, but {} has {}; line i of one must be the translation of "
                    "line i of the other",
                    source.string(), source_lines.size(), target.string(), target_lines.size()));
  ParallelCorpus corpus;
  corpus.name = name;
  const auto longest = static_cast<std::size_t>(options.max_words);
  for (std::size_t i = 0; i < source_lines.size(); ++i) {
    Sentence from = tokenize(source_lines[i], options.source);
    Sentence to = tokenize(target_lines[i], options.target);
    if (from.empty() || to.empty()) {
      ++corpus.dropped_empty;
    } else if (from.size() > longest || to.size() > longest) {
      ++corpus.dropped_long;
    } else {
      corpus.source.push_back(std::move(from));
      corpus.target.push_back(std::move(to));
    }
  }
  if (corpus.size() == 0)
    fail(
        fmt::format("{} and {}: no pair of sentences is left ({} with an empty side, {} with more "
                    "than {} words)",
                    source.string(), target.string(), corpus.dropped_empty, corpus.dropped_long,
                    options.max_words));
  return corpus;
}

}  // namespace labgrad::data
