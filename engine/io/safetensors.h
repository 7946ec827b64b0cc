#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/io/elements.h"
#include "engine/io/file.h"
#include "engine/tensor.h"

namespace labgrad {

// The safetensors format: 8 bytes with the length N of the header, N bytes of JSON that give each
// tensor's name, dtype, shape and place, and then the elements, row-major and little-endian. Such a
// file can be read in part, and can do nothing but hold numbers.
// https://huggingface.co/docs/safetensors (format)

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
using Metadata = std::vector<std::pair<std::string, std::string>>;

// Writes the tensors under their names, with any text as metadata; the file appears whole or not at
// all. Any layout and device; elements keep their dtype. Throws Error for a name that appears
// twice, the name "__metadata__", an undefined tensor, and what AtomicFile throws.
void save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                      const Metadata& metadata = {});

// An open file whose header has been checked, for reading single tensors of it.
//
// The constructor throws MissingFile, or Error with the file, the tensor and the byte for anything
// that is not as the format says: a header longer than the file or than 100 MB, not JSON, with a
// name twice or with unknown members; an unknown dtype; places that overlap, leave a hole, do not
// fit the shape or do not end where the file ends.
//
// Types that the library does not compute with are widened: F16 and BF16 to f32; I8, I16, I32, U8,
// U16, U32 and U64 to i64.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const std::filesystem::path& path);

  struct Entry {
    std::string name;
    FileType type;
    Shape shape;
    std::uint64_t begin;  // from the end of the header
    std::uint64_t bytes;
  };
  const std::vector<Entry>& entries() const { return entries_; }  // in the header's order
  const Metadata& metadata() const { return metadata_; }
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  // The tensor of that name, read from the file, on the default device. Throws Error if there is
  // none, and for a bool that is neither 0 nor 1.
  Tensor read(std::string_view name) const;
  Tensor read(const Entry& entry) const;

 private:
  const Entry* find(std::string_view name) const;
  void read_header();
  void check_places() const;
  std::string where(std::string_view name) const;

  InputFile file_;
  std::uint64_t data_start_ = 0;
  std::vector<Entry> entries_;
  Metadata metadata_;
};

struct Safetensors {
  NamedTensors tensors;  // in the header's order
  Metadata metadata;
};
// All of a file. Throws what SafetensorsReader throws.
Safetensors load_safetensors(const std::filesystem::path& path);

}  // namespace labgrad
