#include "data/idx.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "data/mnist.h"
#include "engine/io/file.h"
#include "tests/engine/io/files.h"

using files::has;
using files::problem;
using files::Scratch;
using labgrad::data::load_mnist;
using labgrad::data::read_idx;
using labgrad::data::Split;

namespace {

std::string be32(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

// An IDX file with this header, whatever stands behind it.
std::string idx(const std::vector<std::uint32_t>& sizes, const std::string& elements,
                unsigned char type = 8) {
  std::string text = {'\0', '\0', static_cast<char>(type), static_cast<char>(sizes.size())};
  for (const std::uint32_t size : sizes) text += be32(size);
  return text + elements;
}

std::string problem_of(const Scratch& scratch, const std::string& contents, int rank = 2) {
  files::write(scratch.file("x"), contents);
  return problem([&] { read_idx(scratch.file("x"), rank); });
}

void write_set(const Scratch& scratch, const std::string& images, const std::string& labels) {
  files::write(scratch.file("t10k-images-idx3-ubyte"), images);
  files::write(scratch.file("t10k-labels-idx1-ubyte"), labels);
}

std::string problem_of_set(const Scratch& scratch) {
  return problem([&] { load_mnist(scratch.folder(), Split::test); });
}

}  // namespace

TEST_CASE("idx: sizes and bytes are read") {
  const Scratch scratch("idx");
  files::write(scratch.file("x"), idx({2, 3}, std::string("\x00\x01\x02\xfd\xfe\xff", 6)));
  const auto x = read_idx(scratch.file("x"), 2);
  CHECK(x.sizes == std::vector<std::int64_t>{2, 3});
  CHECK(x.bytes == std::vector<std::uint8_t>{0, 1, 2, 0xfd, 0xfe, 0xff});
  files::write(scratch.file("x"), idx({0, 28, 28}, ""));
  CHECK(read_idx(scratch.file("x"), 3).bytes.empty());
}

TEST_CASE("idx: every error says where and what") {
  const Scratch scratch("idx");
  const std::string good = idx({2, 3}, "abcdef");
  CHECK(problem_of(scratch, good) == "no error");
  CHECK(has(problem_of(scratch, good), "no error"));
  for (std::size_t length = 0; length < good.size(); ++length) {
    CAPTURE(length);
    const std::string text = problem_of(scratch, good.substr(0, length));
    CHECK(has(text, scratch.file("x").string()));
    CHECK(has(text, "byte"));
    CHECK(has(text, length < 12 ? "ends within its header" : "cut off"));
  }
  CHECK(has(problem_of(scratch, good + "g"), "byte 18: 1 bytes after the end of the 2 x 3"));
  CHECK(has(problem_of(scratch, "\x1f\x8b\x08\x08" + good), "gzip"));
  CHECK(has(problem_of(scratch, "PK\x03\x04" + good), "byte 0: not an IDX file"));
  CHECK(has(problem_of(scratch, idx({2, 3}, "abcdef", 0x0d)), "byte 2: type 0x0d, single"));
  CHECK(has(problem_of(scratch, idx({2, 3}, "abcdef", 0x42)), "no type"));
  CHECK(has(problem_of(scratch, good, 3), "byte 3: 2 dimensions, expected 3"));
}

TEST_CASE("idx: sizes whose product is beyond 64 bits are an error, not an allocation") {
  const Scratch scratch("idx");
  const std::uint32_t most = 0xffffffff;
  CHECK(has(problem_of(scratch, idx({most, most, most}, "abc"), 3), "byte 4"));
  CHECK(has(problem_of(scratch, idx({3, 0x80000000, 2}, "abc"), 3), "byte 8"));
  CHECK(has(problem_of(scratch, idx({0, most, most}, "abc"), 3), "3 bytes after the end"));
}

TEST_CASE("mnist: missing files name `make data`, packed ones gzip") {
  const Scratch scratch("mnist");
  CHECK_FALSE(labgrad::data::has_mnist(scratch.folder()));
  CHECK_THROWS_AS(load_mnist(scratch.folder(), Split::test), labgrad::MissingFile);
  CHECK(has(problem_of_set(scratch), "make data"));
  files::write(scratch.file("t10k-images-idx3-ubyte.gz"), "");
  CHECK(has(problem_of_set(scratch), "gzip -dk"));
}

TEST_CASE("mnist: images and labels must fit one another") {
  const Scratch scratch("mnist");
  std::string pixels(2 * 28 * 28, '\0');
  pixels[28 * 28 + 1] = '\x80';
  write_set(scratch, idx({2, 28, 28}, pixels), idx({2}, std::string("\x09\x00", 2)));
  const auto set = load_mnist(scratch.folder(), Split::test);
  CHECK(set.size() == 2);
  CHECK(set.labels[0] == 9);
  CHECK(set.image(1)[1] == 0x80);
  CHECK(set.image(0)[1] == 0);
  write_set(scratch, idx({2, 28, 28}, pixels), idx({3}, "\x01\x02\x03"));
  CHECK(has(problem_of_set(scratch), "2 pictures"));
  write_set(scratch, idx({2, 28, 28}, pixels), idx({2}, "\x01\x0a"));
  CHECK(has(problem_of_set(scratch), "byte 9: the label 10"));
  write_set(scratch, idx({2, 14, 56}, pixels), idx({2}, "\x01\x02"));
  CHECK(has(problem_of_set(scratch), "14 x 56"));
}

TEST_CASE("mnist: the real files, where they are") {
  if (!labgrad::data::has_mnist("data/files/mnist")) {
    MESSAGE("skipped: data/files/mnist has no MNIST; `make data` gets it");
    return;
  }
  const auto train = load_mnist("data/files/mnist", Split::train);
  CHECK(train.size() == 60000);
  const auto test = load_mnist("data/files/mnist", Split::test);
  CHECK(test.size() == 10000);
  // The first test digit is a seven.
  CHECK(test.labels[0] == 7);
}
