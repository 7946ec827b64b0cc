#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace labgrad::data {

// An array of unsigned bytes from an IDX file.
struct Idx {
  std::vector<std::int64_t> sizes;  // of each dimension
  std::vector<std::uint8_t> bytes;  // row-major
};

// Reads the format in which MNIST is published: two zero bytes, a type (0x08: unsigned bytes, the
// only one read here), the number of dimensions, the size of each as a big-endian 32-bit number,
// the elements. `rank` is the number of dimensions that the caller expects.
// Throws MissingFile (engine/io/file.h), or Error with the file and the byte for another type or
// rank, a file that is still packed by gzip, one that is cut off and one with bytes after the end.
Idx read_idx(const std::filesystem::path& path, int rank);

}  // namespace labgrad::data
