#include "engine/io/npy.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/io/file.h"
#include "tests/engine/io/files.h"

using files::has;
using files::same;
using files::Scratch;
using files::tensor;
using labgrad::load_npy;
using labgrad::save_npy;
using labgrad::Tensor;

namespace {

// A file of version `major` with this dictionary and data, right or wrong.
std::string file_of(const std::string& dictionary, const std::string& data, int major = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(major);
  text += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    text += static_cast<char>(dictionary.size() >> (8 * i));
  }
  return text + dictionary + data;
}

std::string dictionary_of(const std::string& descr, const std::string& shape,
                          const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

Tensor load(const Scratch& scratch, const std::string& contents) {
  files::write(scratch.file("x"), contents);
  return load_npy(scratch.file("x"));
}

}  // namespace

TEST_CASE("npy: tensors of every kind and layout come back bit for bit") {
  const Scratch scratch("npy");
  const Tensor matrix = tensor<float>({2, 3}, {1, -0.0f, std::nanf(""), 4, 5.5f, -1e30f});
  const auto min = std::numeric_limits<std::int64_t>::min();
  for (const Tensor& x :
       {matrix, alias(matrix, {3, 2}, {1, 3}), alias(matrix, {4, 3}, {0, 1}),
        tensor<double>({}, {0.1}), tensor<double>({1, 1, 2}, {0.1, -2.5}),
        tensor<std::int64_t>({2}, {min, 7}), tensor<bool>({3}, {true, false, true}),
        tensor<float>({2, 0, 3}, {}), tensor<float>({0}, {})}) {
    save_npy(scratch.file("a"), x);
    CHECK(same(load_npy(scratch.file("a")), x));
  }
}

TEST_CASE("npy: bytes keep their type in the file and are read as i64") {
  const Scratch scratch("npy");
  const std::vector<std::uint8_t> bytes = {0, 1, 127, 128, 254, 255};
  save_npy(scratch.file("a"), bytes, {2, 3});
  CHECK(has(labgrad::read_file(scratch.file("a")), "'descr': '|u1'"));
  CHECK(
      same(load_npy(scratch.file("a")), tensor<std::int64_t>({2, 3}, {0, 1, 127, 128, 254, 255})));
  CHECK(has(files::problem([&] { save_npy(scratch.file("b"), bytes, {7}); }), "6 bytes"));
  CHECK(scratch.entries() == 1);
}

// Byte for byte what numpy.save writes.
TEST_CASE("npy: the bytes of a small file") {
  const Scratch scratch("npy");
  save_npy(scratch.file("a"), tensor<float>({2}, {1.0f, -2.0f}));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  header.resize(128 - 10 - 1, ' ');
  header += '\n';
  CHECK(labgrad::read_file(scratch.file("a")) ==
        file_of(header, std::string("\0\0\x80\x3f\0\0\0\xc0", 8)));
  CHECK(labgrad::read_file(scratch.file("a")).substr(6, 4) == std::string("\1\0\x76\0", 4));
}

TEST_CASE("npy: versions, quotes, order of members, Fortran order") {
  const Scratch scratch("npy");
  const std::string two = std::string("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16);
  const Tensor want = tensor<std::int64_t>({2}, {1, 2});
  for (const int major : {1, 2, 3}) {
    CHECK(same(load(scratch, file_of(dictionary_of("<i8", "(2,)"), two, major)), want));
  }
  CHECK(same(load(scratch, file_of("{\"shape\":(2,),'fortran_order':False,'descr':'<i8'}", two)),
             want));
  CHECK(same(load(scratch, file_of(dictionary_of("|u1", "(2, 3)", "True"), "\1\2\3\4\5\6")),
             tensor<std::int64_t>({2, 3}, {1, 3, 5, 2, 4, 6})));
  std::string bytes;
  for (char i = 0; i < 24; ++i) bytes += i;
  const Tensor cube = load(scratch, file_of(dictionary_of("|u1", "(2, 3, 4)", "True"), bytes));
  CHECK(cube.is_contiguous());
  CHECK(cube.at({1, 2, 3}) == 1 + 2 * 2 + 3 * 6);
}

TEST_CASE("npy: all number types of both byte orders") {
  const Scratch scratch("npy");
  const auto read = [&](const std::string& descr, const std::string& data) {
    return load(scratch, file_of(dictionary_of(descr, "(1,)"), data));
  };
  using I = std::int64_t;
  CHECK(same(read("<f2", std::string("\x00\xc0", 2)), tensor<float>({1}, {-2})));
  CHECK(same(read(">f2", std::string("\xc0\x00", 2)), tensor<float>({1}, {-2})));
  CHECK(same(read(">f4", std::string("\xc0\0\0\0", 4)), tensor<float>({1}, {-2})));
  CHECK(same(read(">f8", std::string("\xc0\0\0\0\0\0\0\0", 8)), tensor<double>({1}, {-2})));
  CHECK(same(read("|i1", "\xfe"), tensor<I>({1}, {-2})));
  CHECK(same(read("<i2", "\xfe\xff"), tensor<I>({1}, {-2})));
  CHECK(same(read(">i2", "\xff\xfe"), tensor<I>({1}, {-2})));
  CHECK(same(read("<u2", "\xfe\xff"), tensor<I>({1}, {65534})));
  CHECK(same(read("<i4", "\xfe\xff\xff\xff"), tensor<I>({1}, {-2})));
  CHECK(same(read(">i8", "\xff\xff\xff\xff\xff\xff\xff\xfe"), tensor<I>({1}, {-2})));
  CHECK(same(read(">u4", "\xff\xff\xff\xfe"), tensor<I>({1}, {4294967294})));
  CHECK(same(read("<u8", std::string("\x05\0\0\0\0\0\0\0", 8)), tensor<I>({1}, {5})));
  CHECK(same(read("|b1", "\x01"), tensor<bool>({1}, {true})));
}

TEST_CASE("npy: files that lie are errors that say what and where") {
  const Scratch scratch("npy");
  const auto problem = [&](const std::string& contents) {
    return files::problem([&] { load(scratch, contents); });
  };
  const auto of_header = [&](const std::string& dictionary) {
    return problem(file_of(dictionary, std::string(4, '\0')));
  };
  CHECK(of_header(dictionary_of("<f4", "(1,)")) == "no error");
  CHECK(of_header(dictionary_of("<f4", "()")) == "no error");
  CHECK(has(of_header(dictionary_of("<f4", "(2,)")), "needs 8 bytes, from byte"));
  CHECK(has(of_header(dictionary_of("|u1", "(3,)")), "needs 3 bytes, from byte"));
  CHECK(has(of_header(dictionary_of("<f4", "(-1,)")), "expected a size"));
  CHECK(has(of_header(dictionary_of("<f4", "(1)")), "',' after the only size"));
  CHECK(has(of_header(dictionary_of("<f4", "(1, 1 1)")), "expected ')'"));
  CHECK(has(of_header(dictionary_of("<f4", "(,)")), "expected a size"));
  CHECK(has(of_header(dictionary_of("<f4", "(99999999999999999999,)")), "expected a size"));
  CHECK(has(of_header(dictionary_of("<f4", "(4294967296, 4294967296)")), "more elements than"));
  CHECK(has(of_header(dictionary_of("<f4", "(1,1,1,1,1,1,1,1,1)")), "9 dimensions"));
  CHECK(has(of_header(dictionary_of("<f4", "(1,)", "Maybe")), "True or False"));
  for (const char* descr : {"<c8", "|O", "<U4", "|S3", "<f16", "=f4", "|f4", "f4", "<f3", ""}) {
    CAPTURE(descr);
    CHECK(has(of_header(dictionary_of(descr, "(1,)")), "cannot be read; possible are"));
  }
  CHECK(has(of_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"),
            "not a record"));
  CHECK(has(of_header("{'descr': '<f4', 'shape': (1,)}"), "'fortran_order'"));
  CHECK(has(of_header("{'descr': '<f4', 'descr': '<f4'}"), "once, and nothing else"));
  CHECK(has(of_header("{'other': '<f4'}"), "once, and nothing else"));
  CHECK(has(of_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x"),
            "the end of the header"));
  CHECK(has(of_header("{'descr"), "closing quote"));
  CHECK(has(of_header(""), "byte 10: expected '{'"));
  CHECK(has(problem(""), "not a NumPy file"));
  CHECK(has(problem("PK\3\4 this is an .npz"), "not a NumPy file"));
  CHECK(has(problem(file_of(dictionary_of("<f4", "(1,)"), "1234", 4)), "version 4.0"));
  CHECK(has(problem(std::string("\x93NUMPY\2\0\xff\xff\xff\xff{}", 14)), "header of 4294967295"));
  CHECK(problem("").starts_with(scratch.file("x").string() + ": "));
  CHECK_THROWS_AS(load_npy(scratch.file("none")), labgrad::MissingFile);
  CHECK(has(files::problem([&] { save_npy(scratch.file("y"), Tensor()); }), "undefined"));
}

TEST_CASE("npy: every truncation is an error, no changed byte of the header a crash") {
  const Scratch scratch("npy");
  const std::string whole = file_of(dictionary_of("<f4", "(2, 1)"), "12345678");
  const Tensor want = load(scratch, whole);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    CAPTURE(n);
    CHECK(files::problem([&] { load(scratch, whole.substr(0, n)); }) != "no error");
  }
  std::size_t refused = 0;
  for (std::size_t i = 0; i < whole.size() - 8; ++i) {
    for (const int mask : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ mask);
      try {
        load(scratch, changed);
      } catch (const labgrad::Error&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 5 * whole.size());
}
