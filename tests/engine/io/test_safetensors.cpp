#include "engine/io/safetensors.h"

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
using labgrad::Error;
using labgrad::load_safetensors;
using labgrad::NamedTensors;
using labgrad::SafetensorsReader;
using labgrad::save_safetensors;
using labgrad::Tensor;

namespace {

// A file with this header and data, right or wrong.
std::string file_of(const std::string& header, const std::string& data) {
  std::string length;
  for (int shift = 0; shift < 64; shift += 8) length += static_cast<char>(header.size() >> shift);
  return length + header + data;
}

std::string problem_of(const Scratch& scratch, const std::string& contents) {
  files::write(scratch.file("bad"), contents);
  return files::problem([&] { load_safetensors(scratch.file("bad")); });
}

NamedTensors some_tensors() {
  const float nan = std::nanf("");
  const Tensor matrix = tensor<float>({2, 3}, {1, -0.0f, nan, 4, 5.5f, -1e30f});
  return {{"flags", tensor<bool>({3}, {true, false, true})},
          {"weight", matrix},
          {"transposed", alias(matrix, {3, 2}, {1, 3})},
          {"row \"é\"", alias(matrix, {3}, {1}, 3)},
          {"repeated", alias(matrix, {4, 3}, {0, 1})},
          {"ids", tensor<std::int64_t>({2}, {std::numeric_limits<std::int64_t>::min(), 7})},
          {"double", tensor<double>({1, 1}, {0.1})},
          {"scalar", tensor<double>({}, {-2.5})},
          {"empty", tensor<float>({2, 0, 3}, {})}};
}

}  // namespace

TEST_CASE("safetensors: tensors of every kind and layout come back bit for bit") {
  const Scratch scratch("safetensors");
  const NamedTensors tensors = some_tensors();
  save_safetensors(scratch.file("a"), tensors, {{"epoch", "3"}, {"name", "né\n"}});
  const auto all = load_safetensors(scratch.file("a"));
  REQUIRE(all.tensors.size() == tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    CAPTURE(tensors[i].first);
    CHECK(all.tensors[i].first == tensors[i].first);
    CHECK(same(all.tensors[i].second, tensors[i].second));
  }
  CHECK(all.metadata == labgrad::Metadata{{"epoch", "3"}, {"name", "né\n"}});
  // Written again it is the same file.
  save_safetensors(scratch.file("b"), all.tensors, all.metadata);
  CHECK(labgrad::read_file(scratch.file("a")) == labgrad::read_file(scratch.file("b")));
}

TEST_CASE("safetensors: the bytes of a small file") {
  const Scratch scratch("safetensors");
  save_safetensors(scratch.file("a"),
                   {{"b", tensor<bool>({1}, {true})}, {"x", tensor<float>({1, 2}, {1.0f, -2.0f})}});
  const std::string header = R"({"b":{"dtype":"BOOL","shape":[1],"data_offsets":[8, 9]},)"
                             R"("x":{"dtype":"F32","shape":[1, 2],"data_offsets":[0, 8]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  CHECK(labgrad::read_file(scratch.file("a")) ==
        file_of(header + padding, std::string("\0\0\x80\x3f\0\0\0\xc0\1", 9)));
}

TEST_CASE("safetensors: no tensor at all, and a tensor that requires grad") {
  const Scratch scratch("safetensors");
  save_safetensors(scratch.file("a"), {});
  CHECK(load_safetensors(scratch.file("a")).tensors.empty());
  Tensor x = tensor<float>({1}, {3});
  x.requires_grad_();
  save_safetensors(scratch.file("b"), {{"x", x}});
  CHECK(!load_safetensors(scratch.file("b")).tensors[0].second.requires_grad());
}

TEST_CASE("safetensors: single tensors are read by name") {
  const Scratch scratch("safetensors");
  const NamedTensors tensors = some_tensors();
  save_safetensors(scratch.file("a"), tensors);
  const SafetensorsReader reader(scratch.file("a"));
  CHECK(same(reader.read("weight"), tensors[1].second));
  CHECK(reader.contains("ids"));
  CHECK(!reader.contains("Ids"));
  CHECK(reader.entries()[1].shape == labgrad::Shape{2, 3});
  CHECK(has(files::problem([&] { reader.read("none"); }), "tensor \"none\" is not in the file"));
}

TEST_CASE("safetensors: narrower types are widened exactly") {
  const Scratch scratch("safetensors");
  const auto read = [&](const std::string& dtype, const std::string& data, std::size_t count) {
    const std::string n = std::to_string(count);
    const std::string header = R"({"x":{"dtype":")" + dtype + R"(","shape":[)" + n +
                               R"(],"data_offsets":[0,)" + std::to_string(data.size()) + "]}}";
    files::write(scratch.file("x"), file_of(header, data));
    return load_safetensors(scratch.file("x")).tensors[0].second;
  };
  // 1, -2, 65504, 2^-24, -0, infinity, 2^-14, 1 + 2^-10
  const Tensor half =
      read("F16",
           std::string("\x00\x3c\x00\xc0\xff\x7b\x01\x00\x00\x80\x00\x7c\x00\x04\x01\x3c", 16), 8);
  CHECK(half.dtype() == labgrad::f32);
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(
      same(half, tensor<float>({8}, {1, -2, 65504, 0x1p-24f, -0.0f, inf, 0x1p-14f, 1 + 0x1p-10f})));
  CHECK(std::isnan(read("F16", std::string("\x01\x7e", 2), 1).item()));
  const Tensor brain = read("BF16", std::string("\x80\x3f\x00\xc0\x80\x7f", 6), 3);
  CHECK(same(brain, tensor<float>({3}, {1, -2, inf})));
  using I = std::int64_t;
  CHECK(same(read("U8", "\xff\x01", 2), tensor<I>({2}, {255, 1})));
  CHECK(same(read("I8", "\xff\x01", 2), tensor<I>({2}, {-1, 1})));
  CHECK(same(read("I16", "\xfe\xff", 1), tensor<I>({1}, {-2})));
  CHECK(same(read("U16", "\xfe\xff", 1), tensor<I>({1}, {65534})));
  CHECK(same(read("I32", "\xfe\xff\xff\xff", 1), tensor<I>({1}, {-2})));
  CHECK(same(read("U32", "\xfe\xff\xff\xff", 1), tensor<I>({1}, {4294967294})));
  CHECK(same(read("U64", std::string("\x05\0\0\0\0\0\0\0", 8), 1), tensor<I>({1}, {5})));
  CHECK(has(files::problem([&] { read("U64", std::string(8, '\xff'), 1); }), "above 2^63 - 1"));
  CHECK(has(files::problem([&] { read("BOOL", "\x01\x02", 2); }), "must be 0 or 1"));
}

TEST_CASE("safetensors: files that lie are errors that say what and where") {
  const Scratch scratch("safetensors");
  const auto problem = [&](const std::string& header, const std::string& data) {
    return problem_of(scratch, file_of(header, data));
  };
  const std::string four(4, '\0');
  const std::string eight(8, '\0');
  const auto entry = [](const std::string& name, const std::string& rest) {
    return "\"" + name + "\":{\"dtype\":\"F32\"," + rest + "}";
  };
  const std::string x = entry("x", R"("shape":[1],"data_offsets":[0,4])");
  CHECK(problem("{" + x + "}   ", four) == "no error");

  CHECK(has(problem("{" + x + "}", four + "z"), "the file has 5 bytes of data"));
  CHECK(has(problem("{" + x + "}", "abc"), "cut off"));
  CHECK(has(problem("{}", four), "the file has 4 bytes of data"));
  CHECK(has(problem("{" + x + "," + x + "}", four), "\"x\" appears twice"));
  CHECK(has(problem("{" + x + "," + entry("y", R"("shape":[1],"data_offsets":[0,4])") + "}", four),
            "inside the tensor"));
  CHECK(has(problem("{" + x + "," + entry("y", R"("shape":[1],"data_offsets":[2,6])") + "}", eight),
            "inside the tensor"));
  CHECK(has(problem("{" + entry("y", R"("shape":[1],"data_offsets":[4,8])") + "}", eight),
            "tensor \"y\": begins at byte 4 of the data, leaving a hole"));
  CHECK(has(problem("{" + entry("y", R"("shape":[2],"data_offsets":[0,4])") + "}", four),
            "shape (2,) of F32 needs 8 bytes"));
  CHECK(has(problem("{" + entry("y", R"("shape":[1],"data_offsets":[0,8])") + "}", eight),
            "shape (1,) of F32 needs 4 bytes"));
  CHECK(has(
      problem("{" + entry("y", R"("shape":[0,4294967296,4294967296],"data_offsets":[0,0])") + "}",
              ""),
      "more elements than 64 bits"));
  CHECK(has(problem("{" + entry("y", R"("shape":[1],"data_offsets":[4,0])") + "}", four),
            "data_offsets 4 to 0"));
  CHECK(has(problem("{" + entry("y", R"("shape":[-1],"data_offsets":[0,4])") + "}", four),
            "size of -1"));
  CHECK(has(problem("{" + entry("y", R"("shape":[1.0],"data_offsets":[0,4])") + "}", four),
            "tensor \"y\", shape: expected an integer"));
  CHECK(has(problem("{" + entry("y", R"("shape":[1],"data_offsets":[0])") + "}", four),
            "two numbers"));
  CHECK(has(problem("{" + entry("y", R"("shape":[1],"data_offsets":[-4,0])") + "}", four),
            "not negative"));
  CHECK(has(problem("{" + entry("y", R"("shape":[1])") + "}", four), "needs dtype, shape and"));
  CHECK(has(problem("{" + entry("y", R"("shape":[1],"data_offsets":[0,4],"z":0)") + "}", four),
            "unknown member \"z\""));
  CHECK(
      has(problem("{" + entry("y", R"("shape":[4294967296,4294967296],"data_offsets":[0,0])") + "}",
                  ""),
          "more elements than 64 bits"));
  CHECK(has(
      problem("{" + entry("y", R"("shape":[4294967296,4294967296,0],"data_offsets":[0,0])") + "}",
              ""),
      "more elements than 64 bits"));
  CHECK(has(
      problem("{" + entry("y", R"("shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4])") + "}", four),
      "9 dimensions"));
  CHECK(has(problem(R"({"y":{"dtype":"F8","shape":[4],"data_offsets":[0,4]}})", four),
            "dtype \"F8\" is not one of F16"));
  CHECK(has(problem(R"({"__metadata__":{"a":1}})", ""), "expected a string"));
  CHECK(has(problem(R"({"__metadata__":[]})", ""), "expected an object"));
  CHECK(has(problem(R"({"y":1})", ""), "tensor \"y\": expected an object"));
  CHECK(has(problem("[]", ""), "does not begin with '{'"));
  CHECK(has(problem(" {}", ""), "does not begin with '{'"));
  CHECK(has(problem("{} x", ""), "JSON, line 1"));
  CHECK(has(problem_of(scratch, "abc"), "no safetensors file"));
  CHECK(has(problem_of(scratch, std::string(8, '\xff') + "{}"), "header of 18446744073709551615"));
  CHECK(has(problem_of(scratch, std::string("\3\0\0\0\0\0\0\0{}", 10)), "header of 3 bytes"));
  for (const std::string& message :
       {problem("{}", four), problem("[]", ""), problem_of(scratch, "")}) {
    CHECK(message.starts_with(scratch.file("bad").string() + ": "));
  }
  CHECK_THROWS_AS(load_safetensors(scratch.file("none")), labgrad::MissingFile);
}

TEST_CASE("safetensors: every truncation is an error, no changed byte of the header a crash") {
  const Scratch scratch("safetensors");
  const auto path = scratch.file("a");
  save_safetensors(path, {{"x", tensor<float>({2}, {1, 2})}, {"b", tensor<bool>({1}, {true})}},
                   {{"k", "v"}});
  const std::string whole = labgrad::read_file(path);
  REQUIRE(problem_of(scratch, whole) == "no error");
  for (std::size_t n = 0; n < whole.size(); ++n) {
    CAPTURE(n);
    CHECK(problem_of(scratch, whole.substr(0, n)) != "no error");
  }
  std::size_t refused = 0;
  for (std::size_t i = 0; i < whole.size() - 9; ++i) {
    for (const int mask : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ mask);
      files::write(scratch.file("bad"), changed);
      try {
        // What is still a file of this format holds as many bytes as before.
        std::size_t bytes = 0;
        for (const auto& [name, x] : load_safetensors(scratch.file("bad")).tensors) {
          bytes += static_cast<std::size_t>(x.numel()) * size_of(x.dtype());
        }
        CHECK(bytes >= 9);
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  CHECK(refused > whole.size());
}

TEST_CASE("safetensors: what cannot be written is an error, and the old file stays") {
  const Scratch scratch("safetensors");
  const auto path = scratch.file("a");
  const Tensor x = tensor<float>({1}, {1});
  save_safetensors(path, {{"x", x}});
  const std::string before = labgrad::read_file(path);
  CHECK(has(files::problem([&] { save_safetensors(path, {{"x", x}, {"x", x}}); }), "two tensors"));
  CHECK(has(files::problem([&] { save_safetensors(path, {{"__metadata__", x}}); }), "reserved"));
  CHECK(has(files::problem([&] { save_safetensors(path, {{"x", Tensor()}}); }), "undefined"));
  CHECK(has(files::problem([&] { save_safetensors(path, {{"\xff", x}}); }), "UTF-8"));
  CHECK(labgrad::read_file(path) == before);
}
