#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/io/json.h"

// Access to tests/golden/*.json, whose form tests/golden/README.md describes.
namespace golden {

// The file of that name ("ops.json"), read once. The tests run in the root of the repository.
const labgrad::Json& file(const std::string& name);

// An integer, which is a decimal string where it is too large for a double.
std::int64_t integer(const labgrad::Json& json);
std::uint64_t unsigned_integer(const labgrad::Json& json);  // also "0x..." of up to 64 bits
std::vector<std::int64_t> integers(const labgrad::Json& json);
std::vector<double> doubles(const labgrad::Json& json);
std::vector<float> floats(const labgrad::Json& json);

// SHA-256 of the values as the files take it: little-endian, integers in 32 bits.
std::string sha256(std::span<const std::int64_t> values);
std::string sha256(std::span<const float> values);
std::string sha256(std::span<const double> values);

}  // namespace golden
