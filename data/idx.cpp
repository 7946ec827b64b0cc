#include "data/idx.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "engine/error.h"
#include "engine/io/file.h"

namespace labgrad::data {
namespace {

constexpr unsigned unsigned_bytes = 0x08;

[[noreturn]] void fail_at(const InputFile& file, std::uint64_t byte, const std::string& problem) {
  fail(fmt::format("{}: byte {}: {}", file.path().string(), byte, problem));
}

std::uint32_t big_endian(const InputFile& file, std::uint64_t offset) {
  std::array<std::byte, 4> bytes;
  if (file.size() < offset + bytes.size())
    fail_at(file, file.size(),
            fmt::format("the file ends within its header, before byte {}", offset + bytes.size()));
  file.read(offset, bytes);
  std::uint32_t value = 0;
  for (const std::byte b : bytes) value = value << 8 | std::to_integer<std::uint32_t>(b);
  return value;
}

std::string type_name(unsigned type) {
  switch (type) {
    case 0x09:
      return "signed bytes";
    case 0x0b:
      return "16-bit integers";
    case 0x0c:
      return "32-bit integers";
    case 0x0d:
      return "single-precision numbers";
    case 0x0e:
      return "double-precision numbers";
    default:
      return "no type that IDX knows";
  }
}

void check_magic(const InputFile& file, std::uint32_t magic, int rank) {
  if (magic >> 16 == 0x1f8b)
    fail_at(file, 0,
            file.path().extension() == ".gz"
                ? "this file is packed by gzip; unpack it with: gzip -d " + file.path().string()
                : "this file is packed by gzip; give it a name that ends in .gz and unpack it with "
                  "gzip -d");
  if (magic >> 16 != 0)
    fail_at(file, 0,
            fmt::format("not an IDX file, which begins with two zero bytes and not with "
                        "0x{:02x} 0x{:02x}",
                        magic >> 24, magic >> 16 & 0xff));
  if (const unsigned type = magic >> 8 & 0xff; type != unsigned_bytes)
    fail_at(file, 2,
            fmt::format("type 0x{:02x}, {}; expected 0x08, unsigned bytes", type, type_name(type)));
  if (const auto found = static_cast<int>(magic & 0xff); found != rank)
    fail_at(file, 3,
            fmt::format("{} dimensions, expected {}; images have 3 (count, height, width), "
                        "labels 1: are the two files exchanged?",
                        found, rank));
}

}  // namespace

Idx read_idx(const std::filesystem::path& path, int rank) {
  const InputFile file(path);
  check_magic(file, big_endian(file, 0), rank);
  Idx result;
  std::uint64_t expected = 1;
  std::string shape;
  const auto start = 4 + 4 * static_cast<std::uint64_t>(rank);
  for (std::uint64_t at = 4; at < start; at += 4) {
    const std::uint32_t size = big_endian(file, at);
    // The file bounds the product before it can overflow.
    if (size != 0 && expected > file.size() / size && expected != 0)
      fail_at(file, at,
              fmt::format("the sizes {}{} need more bytes than the {} of the file; it "
                          "may be cut off",
                          shape, size, file.size()));
    expected *= size;
    shape += fmt::format("{} x ", size);
    result.sizes.push_back(size);
  }
  shape.resize(shape.size() - 3);
  const std::uint64_t present = file.size() - start;
  if (present < expected)
    fail_at(file, file.size(),
            fmt::format("the file is cut off: {} need {} bytes after the "
                        "header, there are {}",
                        shape, expected, present));
  if (present > expected)
    fail_at(file, start + expected,
            fmt::format("{} bytes after the end of the {} elements", present - expected, shape));
  result.bytes.resize(expected);
  file.read(start, std::as_writable_bytes(std::span(result.bytes)));
  return result;
}

}  // namespace labgrad::data
