#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "engine/error.h"
#include "engine/io/file.h"
#include "engine/io/sha256.h"
#include "tests/engine/io/files.h"

using labgrad::sha256;
using labgrad::Sha256;

// The examples of FIPS 180-4's companion document and the one-million-a vector.
TEST_CASE("sha256: published vectors") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256: pieces of any length give the digest of the whole") {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  for (const std::size_t piece : {1u, 3u, 55u, 56u, 63u, 64u, 65u, 128u}) {
    Sha256 sum;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      sum.digest();  // asking in between changes nothing
      sum.update(std::string_view(text).substr(at, piece));
    }
    CHECK(labgrad::to_hex(sum.digest()) == sha256(text));
  }
}

TEST_CASE("sha256: of a file longer than one read") {
  const files::Scratch scratch("sha256");
  const auto path = scratch.file("a");
  const std::string text(200'001, 'x');
  labgrad::write_file_atomic(path, text);
  CHECK(labgrad::sha256_of_file(path) == sha256(text));
  std::filesystem::remove(path);
  CHECK_THROWS_AS(labgrad::sha256_of_file(path), labgrad::MissingFile);
}

TEST_CASE("hexadecimal digits are written and read") {
  const std::vector<std::uint8_t> bytes = {0x00, 0x1f, 0xa0, 0xff};
  CHECK(labgrad::to_hex(bytes) == "001fa0ff");
  CHECK(labgrad::from_hex("001FA0ff") == bytes);
  CHECK_THROWS_AS(labgrad::from_hex("abc"), labgrad::Error);
  CHECK_THROWS_AS(labgrad::from_hex("0g"), labgrad::Error);
}
