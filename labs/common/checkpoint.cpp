#include "labs/common/checkpoint.h"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "engine/error.h"

namespace labgrad::labs {
namespace {

constexpr const char* state_key = "labgrad.checkpoint";

}  // namespace

void Checkpoint::put(std::string_view prefix, const NamedTensors& named) {
  for (const auto& [name, tensor] : named)
    tensors.emplace_back(fmt::format("{}.{}", prefix, name), tensor);
}

NamedTensors Checkpoint::take(std::string_view prefix) const {
  NamedTensors out;
  const std::string start = std::string(prefix) + ".";
  for (const auto& [name, tensor] : tensors)
    if (name.rfind(start, 0) == 0) out.emplace_back(name.substr(start.size()), tensor);
  return out;
}

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  save_safetensors(path, checkpoint.tensors, {{state_key, checkpoint.state.dump()}});
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  Safetensors file = load_safetensors(path);
  for (const auto& [key, text] : file.metadata)
    if (key == state_key) return {std::move(file.tensors), Json::parse(text)};
  fail(
      fmt::format("{}: this file holds tensors but no state of a training, expected '{}' in its "
                  "metadata",
                  path.string(), state_key));
}

std::string generator_text(const Generator& generator) {
  std::string out;
  for (std::uint8_t byte : generator.get_state()) out += fmt::format("{:02x}", byte);
  return out;
}

void restore_generator(Generator& generator, std::string_view text) {
  const auto digit = [&](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    fail(fmt::format("state of a generator: '{}' is no hexadecimal digit", c));
  };
  if (text.size() % 2 != 0) fail("state of a generator: half a byte at its end");
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(digit(text[i]) * 16 + digit(text[i + 1])));
  generator.set_state(bytes);
}

}  // namespace labgrad::labs
