#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace labgrad {

// SHA-256 (FIPS 180-4) of bytes that arrive in pieces.
class Sha256 {
 public:
  using Digest = std::array<std::uint8_t, 32>;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  // The digest of all bytes so far; more may follow, as if it had not been asked for.
  Digest digest() const;

 private:
  void block(const std::uint8_t* bytes);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> pending_{};
  std::uint64_t length_ = 0;
};

// The digest of bytes, or of a file, as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);
std::string sha256_of_file(const std::filesystem::path& path);

// Bytes as lower-case hexadecimal digits, and back. from_hex throws Error for an odd number of
// digits and for anything that is no digit.
std::string to_hex(std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> from_hex(std::string_view digits);

}  // namespace labgrad
