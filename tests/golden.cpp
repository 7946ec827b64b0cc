#include "tests/golden.h"

#include <bit>
#include <charconv>
#include <map>

#include "engine/error.h"
#include "engine/io/sha256.h"

namespace golden {
namespace {

using labgrad::Json;

template <typename T>
T parsed(std::string_view text, int base) {
  T value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (problem != std::errc() || end != text.data() + text.size()) {
    labgrad::fail("golden file: no integer: " + std::string(text));
  }
  return value;
}

template <typename Bits>
void append_little(std::string& out, Bits bits) {
  for (std::size_t i = 0; i < sizeof bits; ++i) out += static_cast<char>(bits >> (8 * i));
}

}  // namespace

const Json& file(const std::string& name) {
  static std::map<std::string, Json> files;
  const auto found = files.find(name);
  if (found != files.end()) return found->second;
  return files.emplace(name, labgrad::read_json("tests/golden/" + name)).first->second;
}

std::int64_t integer(const Json& json) {
  return json.is_string() ? parsed<std::int64_t>(json.as_string(), 10) : json.as_int();
}

std::uint64_t unsigned_integer(const Json& json) {
  if (!json.is_string()) return static_cast<std::uint64_t>(json.as_int());
  const std::string_view text = json.as_string();
  if (text.starts_with("0x")) return parsed<std::uint64_t>(text.substr(2), 16);
  return parsed<std::uint64_t>(text, 10);
}

std::vector<std::int64_t> integers(const Json& json) {
  std::vector<std::int64_t> values;
  for (const Json& value : json.as_array()) values.push_back(integer(value));
  return values;
}

std::vector<double> doubles(const Json& json) {
  std::vector<double> values;
  for (const Json& value : json.as_array()) values.push_back(value.as_double());
  return values;
}

std::vector<float> floats(const Json& json) {
  std::vector<float> values;
  for (const Json& value : json.as_array()) values.push_back(static_cast<float>(value.as_double()));
  return values;
}

std::string sha256(std::span<const std::int64_t> values) {
  std::string bytes;
  for (const std::int64_t value : values) append_little(bytes, static_cast<std::uint32_t>(value));
  return labgrad::sha256(bytes);
}

std::string sha256(std::span<const float> values) {
  std::string bytes;
  for (const float value : values) append_little(bytes, std::bit_cast<std::uint32_t>(value));
  return labgrad::sha256(bytes);
}

std::string sha256(std::span<const double> values) {
  std::string bytes;
  for (const double value : values) append_little(bytes, std::bit_cast<std::uint64_t>(value));
  return labgrad::sha256(bytes);
}

}  // namespace golden
