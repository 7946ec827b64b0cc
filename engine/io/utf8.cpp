#include "engine/io/utf8.h"

#include "engine/error.h"

namespace labgrad {
namespace {

// Length of the sequence that starts at text[0], or 0 if it is not a valid one.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;  // 0xc0 and 0xc1 could only start overlong forms
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  if (first == 0xe0 && second < 0xa0) return 0;  // overlong
  if (first == 0xed && second > 0x9f) return 0;  // surrogate
  if (first == 0xf0 && second < 0x90) return 0;  // overlong
  if (first == 0xf4 && second > 0x8f) return 0;  // above U+10FFFF
  return length;
}

}  // namespace

std::size_t first_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

void append_utf8(std::string& out, std::uint32_t code_point) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  const auto tail = [&](std::uint32_t shift) { put(0x80u | ((code_point >> shift) & 0x3fu)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0u | (code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    put(0xe0u | (code_point >> 12));
    tail(6);
    tail(0);
  } else {
    put(0xf0u | (code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::u32string decode_utf8(std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text.substr(at));
    const auto first = static_cast<unsigned char>(text[at]);
    if (length == 0)
      fail("byte " + std::to_string(at) + " of the text, " + std::to_string(first) +
           ", is not valid UTF-8; is the text in another encoding, such as Latin-1?");
    // The first byte of a sequence of 2, 3 or 4 holds 5, 4 or 3 bits, each further one 6.
    std::uint32_t point = length == 1 ? first : first & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i)
      point = point << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fu);
    points += static_cast<char32_t>(point);
    at += length;
  }
  return points;
}

}  // namespace labgrad
