#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "engine/error.h"
#include "engine/io/file.h"
#include "engine/io/json.h"
#include "tests/engine/io/files.h"

using labgrad::Error;
using labgrad::Json;

namespace {

// The message of the Error that parsing `text` must end in.
std::string problem(const std::string& text) {
  try {
    Json::parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("json: values of every kind are read") {
  const Json json = Json::parse(R"( {"a": [1, -2.5, 1e3, true, false, null], "b": {"c": "x"}} )");
  CHECK(json.at("a").at(0).as_int() == 1);
  CHECK(json.at("a").at(1).as_double() == -2.5);
  CHECK(json.at("a").at(2).as_double() == 1000.0);
  CHECK(!json.at("a").at(2).is_integer());
  CHECK(json.at("a").at(3).as_bool());
  CHECK(!json.at("a").at(4).as_bool());
  CHECK(json.at("a").at(5).is_null());
  CHECK(json.at("b").at("c").as_string() == "x");
  CHECK(json.size() == 2);
  CHECK(json.as_object()[0].key == "a");
  CHECK(json.find("z") == nullptr);
}

TEST_CASE("json: integers of 64 bits are exact") {
  CHECK(Json::parse("9223372036854775807").as_int() == std::numeric_limits<std::int64_t>::max());
  CHECK(Json::parse("-9223372036854775808").as_int() == std::numeric_limits<std::int64_t>::min());
  CHECK(Json::parse("9007199254740993").as_int() == 9007199254740993);
  CHECK(Json::parse("9223372036854775808").as_double() == 9223372036854775808.0);
  CHECK_THROWS_AS(Json::parse("9223372036854775808").as_int(), Error);
  CHECK_THROWS_AS(Json(std::uint64_t{1} << 63), Error);
  CHECK(std::signbit(Json::parse("-0").as_double()));
}

TEST_CASE("json: doubles survive writing and reading bit for bit") {
  for (const double x : {0.1, 1.0 / 3, 5e-324, -2.2250738585072014e-308, 1.7976931348623157e308,
                         3.0, 1e22, -0.0, 123456789012345680.0}) {
    const std::string text = Json(x).dump();
    const Json back = Json::parse(text);
    CHECK(!back.is_integer());
    CHECK(back.as_double() == x);
    CHECK(std::signbit(back.as_double()) == std::signbit(x));
  }
  CHECK(Json(0.1).dump() == "0.1");
  CHECK(Json(3.0).dump() == "3.0");
  CHECK(Json::parse("1e-400").as_double() == 0.0);
  CHECK(Json::parse("0.000001e-400").as_double() == 0.0);
  CHECK(Json::parse("1e-99999999999999999999").as_double() == 0.0);
  CHECK(Json::parse("0e99999999999999999999").as_double() == 0.0);
  CHECK(has(problem("1e400"), "too large"));
  CHECK(has(problem("-100000000e301"), "too large"));
}

TEST_CASE("json: numbers that are not finite are written as words") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(Json::array({inf, -inf, std::nan("")}).dump() == R"(["inf", "-inf", "nan"])");
  CHECK(Json("inf").as_double() == inf);
  CHECK(Json("-inf").as_double() == -inf);
  CHECK(std::isnan(Json("nan").as_double()));
  CHECK_THROWS_AS(Json("infinity").as_double(), Error);
}

TEST_CASE("json: strings and escapes") {
  CHECK(Json::parse(R"("\"\\\/\b\f\n\r\t\u0041")").as_string() == "\"\\/\b\f\n\r\tA");
  CHECK(Json::parse(R"("\u00e9\u20ac\ud83d\ude00")").as_string() == "é€😀");
  CHECK(Json::parse("\"é€😀\"").as_string() == "é€😀");
  CHECK(Json("a\"\\\n\x01é").dump() == "\"a\\\"\\\\\\n\\u0001é\"");
  CHECK(Json::parse(R"("a\u0000b")").as_string() == std::string("a\0b", 3));
  CHECK(has(problem(R"("\ud83d")"), "surrogate"));
  CHECK(has(problem(R"("\ud83dx")"), "surrogate"));
  CHECK(has(problem(R"("\ud83d\u0041")"), "surrogate"));
  CHECK(has(problem(R"("\ude00")"), "surrogate"));
  CHECK(has(problem(R"("\u12g4")"), "hexadecimal"));
  CHECK(has(problem(R"("\x41")"), "after \\"));
  CHECK(has(problem("\"a\nb\""), "control character"));
  CHECK(has(problem("\"abc"), "no closing quote"));
  CHECK(has(problem("\"abc\\"), "after \\"));
}

TEST_CASE("json: text that is not UTF-8 is refused") {
  for (const char* bytes :
       {"\"\x80\"", "\"\xc0\xaf\"", "\"\xe0\x80\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"",
        "\"\xff\"", "\"\xe2\x82\"", "\"\xf0\x80\x80\x80\""}) {
    CHECK(has(problem(bytes), "UTF-8"));
  }
  CHECK_THROWS_AS(Json("\xff").dump(), Error);
}

TEST_CASE("json: what RFC 8259 does not allow is an error that says where") {
  CHECK(has(problem("[1,\n 2,]"), "line 2, column 4 (byte 7): expected a value, found ']'"));
  CHECK(has(problem("{\"é\" 1}"), "column 6 (byte 6): expected ':'"));
  CHECK(has(problem("[1 2]"), "expected ',' or ']'"));
  CHECK(has(problem("{\"a\":1 \"b\":2}"), "expected ',' or '}'"));
  CHECK(has(problem("{\"a\":1,}"), "name of a member"));
  CHECK(has(problem("{a:1}"), "name of a member"));
  CHECK(has(problem("{\"a\":1,\"a\":2}"), "\"a\" appears twice"));
  CHECK(has(problem("1 2"), "expected the end of the text, found '2'"));
  for (const char* text : {"",
                           " ",
                           "[",
                           "{",
                           "[1",
                           "{\"a\"",
                           "{\"a\":",
                           "NaN",
                           "Infinity",
                           "-Infinity",
                           "nul",
                           "True",
                           "+1",
                           ".5",
                           "1.",
                           "01",
                           "-",
                           "1e",
                           "1e+",
                           "0x10",
                           "'a'",
                           "[1]]",
                           "// c\n1",
                           "[,1]",
                           "\v1",
                           "-01",
                           "--1",
                           "1.e3",
                           "\xef\xbb\xbf"
                           "1"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(Json::parse(text), Error);
  }
  CHECK_THROWS_AS(Json::parse(std::string("1\0", 2)), Error);
}

TEST_CASE("json: depth and size have limits") {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  CHECK_NOTHROW(Json::parse(nested(64)));
  CHECK(has(problem(nested(65)), "more than 64"));
  CHECK(has(problem(std::string(1'000'000, '[')), "more than 64"));
  CHECK_NOTHROW(Json::parse(nested(1000), {.max_depth = 1000}));
  CHECK_THROWS_AS(Json::parse("[]", {.max_depth = 100'000}), Error);
  CHECK_NOTHROW(Json::parse("[1]", {.max_bytes = 3}));
  CHECK_THROWS_AS(Json::parse("[1] ", {.max_bytes = 3}), Error);
}

TEST_CASE("json: every truncation of a text is an error") {
  const std::string text = R"({"a":[1,2.5e3,"x\u00e9"],"b":{"c":null,"d":true}})";
  CHECK_NOTHROW(Json::parse(text));
  for (std::size_t n = 0; n < text.size(); ++n) {
    CHECK_THROWS_AS(Json::parse(text.substr(0, n)), Error);
  }
}

TEST_CASE("json: building and writing") {
  Json json;
  json.set("name", "x");
  json.set("rows", Json::array()).push_back(Json::array({1, 2}));
  json.set("empty", Json::object());
  json.set("name", "y");
  CHECK(json.dump() == R"({"name":"y","rows":[[1, 2]],"empty":{}})");
  CHECK(json.dump(2) ==
        "{\n  \"name\": \"y\",\n  \"rows\": [\n    [1, 2]\n  ],\n  \"empty\": {}\n}");
  CHECK(Json::parse(json.dump(3)) == json);
  CHECK(!(Json::parse("[1]") == Json::parse("[1.0]")));
}

TEST_CASE("json: a wrong kind is named") {
  const auto message = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const Json json = Json::parse(R"({"a": 1.5, "b": [1]})");
  CHECK(has(message([&] { json.at("a").as_int("epoch"); }),
            "epoch: expected an integer of 64 bits, found double 1.5"));
  CHECK(has(message([&] { json.at("c"); }),
            "no member \"c\"; the object has 2 members: \"a\" \"b\""));
  CHECK(has(message([&] { json.at("b").at(1); }), "no element 1 in an array of 1"));
  CHECK(has(message([&] { json.at("b").at("x"); }), "expected an object, found array"));
  CHECK_THROWS_AS(json.at("b").at(-1), Error);
  CHECK_THROWS_AS(json.as_string(), Error);
  CHECK_THROWS_AS(json.as_bool(), Error);
  CHECK_THROWS_AS(json.as_array(), Error);
  CHECK_THROWS_AS(json.at("a").size(), Error);
  CHECK_THROWS_AS(Json(1).push_back(2), Error);
  CHECK_THROWS_AS(Json(1).set("a", 2), Error);
}

TEST_CASE("json: files") {
  const files::Scratch scratch("json");
  const auto path = scratch.file("a.json");
  labgrad::write_json(path, Json::object({{"x", 0.1}}));
  CHECK(labgrad::read_json(path).at("x").as_double() == 0.1);
  labgrad::write_file_atomic(path, "[1,");
  try {
    labgrad::read_json(path);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(has(error.what(), path.string() + ": JSON, line 1, column 4"));
  }
  std::filesystem::remove(path);
  CHECK_THROWS_AS(labgrad::read_json(path), labgrad::MissingFile);
}
