#pragma once
// The state of a training in one file: tensors (parameters, the optimiser's averages) and anything
// else as JSON (position, random streams), so that a stopped run goes on bit for bit.

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/io/json.h"
#include "engine/io/safetensors.h"
#include "engine/random.h"

namespace labgrad::labs {

struct Checkpoint {
  NamedTensors tensors = {};
  Json state = Json::object();

  // Adds the tensors under names that begin with "prefix.".
  void put(std::string_view prefix, const NamedTensors& named);
  // The tensors whose names begin with "prefix.", without it.
  NamedTensors take(std::string_view prefix) const;
};

// A safetensors file with the JSON in its metadata, written whole or not at all.
void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);
// Throws MissingFile if there is none, Error if it is no checkpoint.
Checkpoint load_checkpoint(const std::filesystem::path& path);

// The whole state of a generator as text, and back. Throws Error if it is no such text.
std::string generator_text(const Generator& generator);
void restore_generator(Generator& generator, std::string_view text);

}  // namespace labgrad::labs
