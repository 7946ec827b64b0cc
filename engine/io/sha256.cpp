#include "engine/io/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/error.h"
#include "engine/io/file.h"

namespace labgrad {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using std::rotr;

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void Sha256::block(const std::uint8_t* bytes) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t t = 0; t < 16; ++t) {
    w[t] = 0;
    for (std::size_t i = 0; i < 4; ++i) w[t] = (w[t] << 8) | bytes[4 * t + i];
  }
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const std::uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t s1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[t] + w[t];
    const std::uint32_t s0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> added = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += added[i];
}

void Sha256::update(std::span<const std::byte> bytes) {
  update(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void Sha256::update(std::string_view text) {
  while (!text.empty()) {
    const std::size_t used = length_ % 64;
    const std::size_t count = std::min(text.size(), 64 - used);
    std::copy_n(text.begin(), count, pending_.begin() + static_cast<std::ptrdiff_t>(used));
    text.remove_prefix(count);
    length_ += count;
    if (length_ % 64 == 0) block(pending_.data());
  }
}

Sha256::Digest Sha256::digest() const {
  Sha256 last = *this;
  // A one bit, zeros, and the length in bits in the last eight bytes of a block.
  const std::uint64_t bits = 8 * length_;
  last.update(std::string_view("\x80", 1));
  while (last.length_ % 64 != 56) last.update(std::string_view("\0", 1));
  for (int shift = 56; shift >= 0; shift -= 8) {
    const char byte = static_cast<char>(bits >> shift);
    last.update(std::string_view(&byte, 1));
  }
  Digest result;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<std::uint8_t>(last.state_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return result;
}

std::string sha256(std::string_view bytes) {
  Sha256 sum;
  sum.update(bytes);
  return to_hex(sum.digest());
}

std::string sha256_of_file(const std::filesystem::path& path) {
  const InputFile file(path);
  Sha256 sum;
  std::vector<std::byte> piece(std::size_t{1} << 16);
  for (std::uint64_t at = 0; at < file.size(); at += piece.size()) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), file.size() - at)));
    file.read(at, piece);
    sum.update(piece);
  }
  return to_hex(sum.digest());
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  result.reserve(2 * bytes.size());
  for (const unsigned byte : bytes) {
    result += digits[byte >> 4];
    result += digits[byte & 15];
  }
  return result;
}

std::vector<std::uint8_t> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) {
    fail(fmt::format("hexadecimal text: {} digits, expected an even number", digits.size()));
  }
  std::vector<std::uint8_t> bytes(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const int value = digit_value(digits[i]);
    if (value < 0) fail(fmt::format("hexadecimal text: character {} is no digit", i));
    bytes[i / 2] = static_cast<std::uint8_t>(bytes[i / 2] * 16 + value);
  }
  return bytes;
}

}  // namespace labgrad
