#include "data/image.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/create.h"
#include "engine/io/file.h"
#include "engine/ops.h"
#include "engine/random.h"
#include "tests/check_close.h"
#include "tests/engine/io/files.h"

using namespace labgrad;
using namespace labgrad::data;
using files::has;
using files::problem;
using files::Scratch;

namespace {

Tensor picture(const Scratch& scratch, const std::string& contents) {
  files::write(scratch.file("x.ppm"), contents);
  return read_image(scratch.file("x.ppm"));
}

std::string problem_of(const Scratch& scratch, const std::string& contents) {
  return problem([&] { picture(scratch, contents); });
}

Tensor table(const std::vector<double>& values, const Shape& shape) {
  return from_values(values, shape);
}

const tests::Tolerance exact{.rtol = 1e-7, .atol = 0};

}  // namespace

TEST_CASE("image: the four formats say the same") {
  const Scratch scratch("image");
  const Tensor grey = table({0, 10 / 255.0, 1, 32 / 255.0, 35 / 255.0, 200 / 255.0}, {1, 2, 3});
  CHECK(tests::difference(
            picture(scratch, "P2 # a comment\n3\t2\n#another 7\n255\n0 10 255\r\n32 35 200 #end"),
            grey, exact) == "");
  // The bytes of white space and # among the samples are samples.
  CHECK(tests::difference(picture(scratch, std::string("P5\n3 2 255\n") + '\0' + "\n\xff #\xc8"),
                          grey, exact) == "");
  // Red, green and blue of a pixel lie together in the file, and a plane apart in the tensor.
  const Tensor colour = table({0.1, 0.4, 0.2, 0.5, 0.3, 0.6}, {3, 1, 2});
  CHECK(tests::difference(picture(scratch, "P3 2 1 10 1 2 3 4 5 6"), colour, exact) == "");
  CHECK(tests::difference(picture(scratch, "P6 2 1 10 \x01\x02\x03\x04\x05\x06"), colour, exact) ==
        "");
}

TEST_CASE("image: a largest value above 255 makes two bytes of a sample, the high one first") {
  const Scratch scratch("image");
  CHECK(tests::difference(picture(scratch, std::string("P5 2 1 65535\n\x01\x02\xff\xff", 17)),
                          table({258 / 65535.0, 1}, {1, 1, 2}), exact) == "");
  CHECK(tests::difference(picture(scratch, std::string("P5 2 1 256\n\x01\x00\x00\x80", 15)),
                          table({1, 0.5}, {1, 1, 2}), exact) == "");
  CHECK(has(problem_of(scratch, std::string("P5 2 1 256\n\x01\x00\x01\x01", 15)),
            "byte 13: the sample 257 is above the largest value 256"));
  CHECK(tests::difference(picture(scratch, "P2 2 1 65535 65535 258"),
                          table({1, 258 / 65535.0}, {1, 1, 2}), exact) == "");
}

TEST_CASE("image: cut off anywhere, or longer, it is an error with file and byte") {
  const Scratch scratch("image");
  for (const std::string& good :
       {std::string("P6\n2 1\n255\nabcdef"), std::string("P3\n2 1\n255\n1 2 3 4 5 6"),
        std::string("P5\n1 2\n300\n\0a\0b", 15)}) {
    CHECK(problem_of(scratch, good) == "no error");
    for (std::size_t length = 0; length < good.size(); ++length) {
      CAPTURE(length);
      const std::string text = problem_of(scratch, good.substr(0, length));
      CHECK(has(text, scratch.file("x.ppm").string() + ": byte "));
    }
    CHECK(has(problem_of(scratch, good + " 7"), "bytes after the last sample"));
  }
  CHECK(has(problem_of(scratch, "P6\n2 1\n255\nabcde"),
            "byte 16: the file is cut off, or its header wrong: 2 x 1 pixels need 6 bytes after "
            "the header, there are 5"));
}

TEST_CASE("image: headers that lie are found out before memory is taken") {
  const Scratch scratch("image");
  CHECK(has(problem_of(scratch, "P6 1000000 1000000 65535\nabc"), "need 6000000000000 bytes"));
  CHECK(has(problem_of(scratch, "P3 1000000 1000000 255\n1 2 3"), "at least 5999999999999"));
  CHECK(has(problem_of(scratch, "P6 99999999999999999999 1 255\nabc"),
            "byte 3: the width is 99999999999999999999, expected 1 to 1000000"));
  CHECK(has(problem_of(scratch, "P6 1 0 255\nabc"), "the height is 0"));
  CHECK(has(problem_of(scratch, "P6 1 1 0\nabc"), "the largest value is 0"));
  CHECK(has(problem_of(scratch, "P6 1 1 65536\nabc"), "the largest value is 65536"));
  CHECK(has(problem_of(scratch, "P6 1 -1 255\nabc"), "byte 5: expected the height, a decimal"));
  CHECK(has(problem_of(scratch, "P6 1 1 255x\nabc"), "byte 10: expected one white space"));
  CHECK(has(problem_of(scratch, "P2 2 1 15 3 16"), "byte 12: a sample is 16, expected 0 to 15"));
  CHECK(has(problem_of(scratch, "P2 2 1 15 3 x"), "expected a sample"));
  CHECK(has(problem_of(scratch, std::string("P5 1 1 15\n\x10")), "the sample 16 is above"));
}

TEST_CASE("image: other formats are named, with what helps") {
  const Scratch scratch("image");
  for (const auto& [begin, name] :
       std::vector<std::pair<std::string, std::string>>{{"\x89PNG\r\n", "PNG"},
                                                        {"\xff\xd8\xff", "JPEG"},
                                                        {"GIF89a", "GIF"},
                                                        {"P4 1 1\n\x80", "PBM"},
                                                        {"P7\nWIDTH 1", "PAM"},
                                                        {"BM", "begins with P2"},
                                                        {"", "begins with P2"}}) {
    const std::string text = problem_of(scratch, begin);
    CHECK(has(text, name));
    CHECK(has(text, "magick"));
  }
  CHECK_THROWS_AS(read_image(scratch.file("none.ppm")), MissingFile);
}

TEST_CASE("image: any damaged file is a picture or an error") {
  const Scratch scratch("image");
  Mt19937 g(1);
  const std::string good[] = {"P6\n4 3\n255\nabcdefghijklmnopqrstuvwxyz0123456789",
                              "P3 2 2 300\n1 2 3 4 5 6 7 8 9 10 11 300"};
  int read = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bad = good[round % 2];
    for (int changes = 0; changes <= round % 3; ++changes)
      bad[g() % bad.size()] = static_cast<char>(g());
    const std::string text = problem_of(scratch, bad);
    CHECK((text == "no error" || has(text, "byte ")));
    read += text == "no error" ? 1 : 0;
  }
  CHECK(read > 0);
  CHECK(read < 400);
}

TEST_CASE("image: what is written is read again, rounded to 1/255 and cut off at 0 and 1") {
  const Scratch scratch("image");
  const Tensor image = table({0, 0.4999 / 255, 0.5001 / 255, 1, 1.5, -3}, {3, 1, 2});
  write_image(scratch.file("a.ppm"), image);
  CHECK(read_file(scratch.file("a.ppm")) ==
        std::string("P6\n2 1\n255\n") + std::string("\x00\x01\xff\x00\xff\x00", 6));
  const Tensor grey = reshape(arange(0, 256, 1, {.dtype = f32}) / 255.0, {1, 16, 16});
  write_image(scratch.file("b.pgm"), transpose(grey, 1, 2));
  CHECK(tests::bit_difference(read_image(scratch.file("b.pgm")),
                              contiguous(transpose(grey, 1, 2))) == "");
  CHECK(scratch.entries() == 2);
  CHECK(has(problem([&] { write_image(scratch.file("c"), zeros({2, 3, 4})); }), "(2, 3, 4)"));
  CHECK(has(problem([&] {
              write_image(scratch.file("c"), full({1, 1, 1}, std::nan("")));
            }),
            "not a number"));
  CHECK(scratch.entries() == 2);
}

TEST_CASE("image: resize has half-pixel centres and does not smooth") {
  const Tensor row = table({0, 1, 2, 3}, {1, 1, 4});
  CHECK(tests::difference(resize(row, {1, 8}),
                          table({0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3}, {1, 1, 8}),
                          exact) == "");
  // To 2: between pixels 0 and 1, and between 2 and 3. To 1 of 4: pixels 1 and 2 alone.
  CHECK(tests::difference(resize(row, {1, 2}), table({0.5, 2.5}, {1, 1, 2}), exact) == "");
  CHECK(tests::difference(resize(table({9, 1, 2, 7}, {1, 1, 4}), 1), table({1.5}, {1, 1, 1}),
                          exact) == "");
  CHECK(resize(zeros({2, 3, 4, 5}), {7, 6}).shape() == Shape{2, 3, 7, 6});
  CHECK_THROWS_AS(resize(zeros({4, 5}), 2), Error);
}

TEST_CASE("image: crop, normalise, three channels") {
  const Tensor x = reshape(arange(0, 40, 1, {.dtype = f32}), {2, 4, 5});
  CHECK(tests::difference(centre_crop(x, {2, 2}), table({6, 7, 11, 12, 26, 27, 31, 32}, {2, 2, 2}),
                          exact) == "");
  CHECK(tests::bit_difference(centre_crop(x, {4, 5}), x) == "");
  CHECK_THROWS_WITH_AS(centre_crop(x, {5, 5}), doctest::Contains("(5, 5)"), Error);
  const Tensor y = table({0, 0.5, 1, 0.25}, {2, 1, 2});
  CHECK(tests::difference(normalise(y, {0.5, 1}, {0.5, 0.25}), table({-1, 0, 0, -3}, {2, 1, 2}),
                          exact) == "");
  CHECK(tests::bit_difference(normalise(y, {0.5}, {0.5}), y * 2 - 1) == "");
  CHECK(normalise(zeros({5, 2, 3, 3}), {0, 1}, {1}).shape() == Shape{5, 2, 3, 3});
  CHECK_THROWS_WITH_AS(normalise(y, {0, 0, 0}, {1}), doctest::Contains("3 means"), Error);
  CHECK_THROWS_AS(normalise(y, {0}, {0}), Error);
  CHECK(three_channels(zeros({1, 2, 3})).shape() == Shape{3, 2, 3});
  CHECK(three_channels(zeros({4, 3, 2, 3})).shape() == Shape{4, 3, 2, 3});
  CHECK_THROWS_AS(three_channels(zeros({2, 2, 3})), Error);
}
