#include "labs/translation/saved.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "engine/io/json.h"
#include "engine/io/safetensors.h"

namespace labgrad::labs::translation {
namespace {

// The words without the four specials, one a line: none of them contains white space.
std::string lines_of(const data::Vocabulary& vocabulary) {
  std::string text;
  for (std::int64_t id = data::eos_id + 1; id < vocabulary.size(); ++id)
    text += vocabulary.word(id) + "\n";
  return text;
}

data::Vocabulary vocabulary_of(const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::string> words;
  for (std::string word; std::getline(lines, word);) words.push_back(word);
  return data::translation_vocabulary(words);
}

}  // namespace

void save_model(const std::filesystem::path& path, Seq2Seq& model, const std::string& data,
                const ModelSizes& sizes, bool attention, const data::Vocabulary& source,
                const data::Vocabulary& target) {
  const Json config = Json::object({{"data", data},
                                    {"attention", attention},
                                    {"embedding", sizes.embedding},
                                    {"hidden", sizes.hidden},
                                    {"layers", sizes.layers},
                                    {"dropout", sizes.dropout},
                                    {"word_dropout", sizes.word_dropout},
                                    {"reads_padding", model.enc.reads_padding}});
  save_safetensors(path, model.state_dict(),
                   {{"translation", config.dump()},
                    {"source_words", lines_of(source)},
                    {"target_words", lines_of(target)}});
}

SavedModel load_model(const std::filesystem::path& path) {
  const Safetensors file = load_safetensors(path);
  const auto text = [&](const std::string& key) -> const std::string& {
    const auto found = std::find_if(file.metadata.begin(), file.metadata.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    if (found == file.metadata.end())
      fail(fmt::format("{}: there is no '{}' in its metadata; it was not written by this lab",
                       path.string(), key));
    return found->second;
  };
  const Json config = Json::parse(text("translation"));
  SavedModel saved{.data = config.at("data").as_string(),
                   .attention = config.at("attention").as_bool(),
                   .sizes = {},
                   .source = vocabulary_of(text("source_words")),
                   .target = vocabulary_of(text("target_words")),
                   .model = nullptr};
  saved.sizes = {.source_words = saved.source.size(),
                 .target_words = saved.target.size(),
                 .embedding = config.at("embedding").as_int(),
                 .hidden = config.at("hidden").as_int(),
                 .layers = config.at("layers").as_int(),
                 .dropout = config.at("dropout").as_double(),
                 .word_dropout = config.at("word_dropout").as_double()};
  saved.model = std::make_unique<Seq2Seq>(saved.sizes, saved.attention);
  saved.model->load_state_dict(file.tensors);
  saved.model->enc.reads_padding = config.at("reads_padding").as_bool();
  saved.model->eval();
  return saved;
}

}  // namespace labgrad::labs::translation
