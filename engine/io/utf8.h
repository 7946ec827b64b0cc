#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace labgrad {

// The place of the first byte at which `text` stops being UTF-8 as RFC 3629 defines it (no
// overlong forms, no surrogates, nothing above U+10FFFF); text.size() if all of it is.
std::size_t first_invalid_utf8(std::string_view text);

// Appends the UTF-8 form of a code point, which must be at most U+10FFFF and no surrogate.
void append_utf8(std::string& out, std::uint32_t code_point);

// The code points of a text. Error: it is not UTF-8; names the byte.
std::u32string decode_utf8(std::string_view text);

}  // namespace labgrad
