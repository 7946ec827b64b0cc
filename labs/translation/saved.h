#pragma once
// A trained model in a file: its weights, and what it takes to translate with them.

#include <filesystem>
#include <memory>
#include <string>

#include "data/vocabulary.h"
#include "labs/translation/seq2seq.h"

namespace labgrad::labs::translation {

struct SavedModel {
  std::string data;  // what it was trained on
  bool attention;
  ModelSizes sizes;
  data::Vocabulary source, target;
  std::unique_ptr<Seq2Seq> model;
};

// One safetensors file; sizes and vocabularies are its metadata. Written whole or not at all.
void save_model(const std::filesystem::path& path, Seq2Seq& model, const std::string& data,
                const ModelSizes& sizes, bool attention, const data::Vocabulary& source,
                const data::Vocabulary& target);
// Throws MissingFile if there is none, Error if it is no such file.
SavedModel load_model(const std::filesystem::path& path);

}  // namespace labgrad::labs::translation
