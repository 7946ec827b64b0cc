#include "engine/io/utf8.h"

#include <doctest/doctest.h>

#include "tests/engine/io/files.h"

using labgrad::append_utf8;
using labgrad::decode_utf8;
using labgrad::first_invalid_utf8;

TEST_CASE("utf8: code points of one to four bytes, there and back") {
  CHECK(decode_utf8("aß€😀") == U"aß€😀");
  CHECK(decode_utf8("").empty());
  for (const char32_t c :
       {0x0u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xd7ffu, 0xe000u, 0xffffu, 0x10000u, 0x10ffffu}) {
    std::string text;
    append_utf8(text, c);
    CHECK(first_invalid_utf8(text) == text.size());
    CHECK(decode_utf8(text) == std::u32string(1, c));
  }
}

TEST_CASE("utf8: what is not valid, and where") {
  for (const char* tail : {"\xff", "\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                           "\xf4\x90\x80\x80", "\xf0\x82\x82\xac", "\xc3", "\xe2\x82", "\xc3("}) {
    const std::string text = std::string("ä") + tail;
    CHECK(first_invalid_utf8(text) == 2);
    CHECK(files::has(files::problem([&] { decode_utf8(text); }), "byte 2 "));
  }
}
