#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <string>

#include "engine/error.h"
#include "engine/io/file.h"
#include "tests/engine/io/files.h"

namespace fs = std::filesystem;
using files::Scratch;
using labgrad::AtomicFile;
using labgrad::Error;
using labgrad::InputFile;
using labgrad::MissingFile;
using labgrad::read_file;
using labgrad::write_file_atomic;

TEST_CASE("file: what is written is read") {
  const Scratch scratch("file");
  const fs::path path = scratch.file("a");
  const std::string contents = std::string("x\0y\n", 4) + std::string(200'000, 'z');
  write_file_atomic(path, contents);
  CHECK(read_file(path) == contents);
  write_file_atomic(path, "");
  CHECK(read_file(path).empty());
  CHECK(scratch.entries() == 1);
}

TEST_CASE("file: without commit nothing changes and nothing is left behind") {
  const Scratch scratch("file");
  const fs::path path = scratch.file("a");
  write_file_atomic(path, "old");
  {
    AtomicFile file(path);
    file.write(std::string(200'000, 'n'));
    CHECK(scratch.entries() == 2);
    CHECK(read_file(path) == "old");
  }
  CHECK(read_file(path) == "old");
  CHECK(scratch.entries() == 1);
  try {
    AtomicFile file(path);
    file.write("half");
    labgrad::fail("in the middle");
  } catch (const Error&) {}
  CHECK(read_file(path) == "old");
  CHECK(scratch.entries() == 1);
}

TEST_CASE("file: two writers of one file do not mix") {
  const Scratch scratch("file");
  const fs::path path = scratch.file("a");
  AtomicFile first(path);
  AtomicFile second(path);
  first.write("first");
  second.write("second");
  first.commit();
  CHECK(read_file(path) == "first");
  second.commit();
  CHECK(read_file(path) == "second");
  CHECK(scratch.entries() == 1);
  CHECK_THROWS_AS(second.write("more"), Error);
  CHECK_THROWS_AS(second.commit(), Error);
}

TEST_CASE("file: a replaced file keeps its permissions, a link its target") {
  const Scratch scratch("file");
  const fs::path path = scratch.file("a");
  write_file_atomic(path, "old");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("a", scratch.file("link"));
  write_file_atomic(scratch.file("link"), "new");
  CHECK(fs::is_symlink(scratch.file("link")));
  CHECK(read_file(path) == "new");
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("file: a missing file has an error of its own") {
  const Scratch scratch("file");
  const fs::path path = scratch.file("none");
  try {
    read_file(path);
    FAIL("no error");
  } catch (const MissingFile& error) {
    CHECK(error.path() == path);
    CHECK(std::string(error.what()).starts_with(path.string()));
  }
  CHECK_THROWS_AS(read_file(scratch.file("none") / "a"), MissingFile);
  CHECK(std::string(MissingFile("a", "run `make data`").what()) ==
        "a: there is no such file; run `make data`");
}

TEST_CASE("file: what cannot be done is an error with the path") {
  const Scratch scratch("file");
  const auto message = [](const auto& call) {
    try {
      call();
    } catch (const MissingFile&) {
      return std::string("missing");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(message([&] { read_file(scratch.folder()); }).find("folder") != std::string::npos);
  CHECK(message([&] { write_file_atomic(scratch.folder(), "x"); }).find("folder") !=
        std::string::npos);
  CHECK(message([&] {
          write_file_atomic(scratch.file("no") / "a", "x");
        }).find("folder does not exist") != std::string::npos);
  CHECK(message([&] { write_file_atomic(scratch.file(""), "x"); }).find("folder") !=
        std::string::npos);
  write_file_atomic(scratch.file("a"), "12345");
  CHECK(message([&] { read_file(scratch.file("a"), 4); }).find("at most 4") != std::string::npos);
  CHECK(scratch.entries() == 1);
}

TEST_CASE("file: parts are read where they are") {
  const Scratch scratch("file");
  write_file_atomic(scratch.file("a"), "0123456789");
  const InputFile file(scratch.file("a"));
  CHECK(file.size() == 10);
  std::array<std::byte, 3> part{};
  file.read(7, part);
  CHECK(part[0] == std::byte{'7'});
  CHECK(part[2] == std::byte{'9'});
  CHECK_THROWS_AS(file.read(8, part), Error);
  CHECK_THROWS_AS(file.read(11, std::span(part).first(0)), Error);
  CHECK_NOTHROW(file.read(10, std::span(part).first(0)));
  // No sum of offset and length that wraps around.
  CHECK_THROWS_AS(file.read(~std::uint64_t{0}, part), Error);
}
