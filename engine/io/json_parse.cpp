#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "engine/error.h"
#include "engine/io/json.h"
#include "engine/io/utf8.h"

namespace labgrad {
namespace {

constexpr int deepest = 1000;  // keeps the recursion below far from the end of any stack

// Recursive descent over RFC 8259's grammar; one function for each of its rules.
class Parser {
 public:
  Parser(std::string_view text, int max_depth) : text_(text), max_depth_(max_depth) {}

  Json document() {
    if (const std::size_t bad = first_invalid_utf8(text_); bad != text_.size()) {
      fail_at(bad, "the text is not UTF-8");
    }
    skip_space();
    Json result = value();
    skip_space();
    if (at_ != text_.size()) fail_here("the end of the text");
    return result;
  }

 private:
  Json value() {
    if (at_ == text_.size()) fail_here("a value");
    switch (text_[at_]) {
      case '{':
        return object();
      case '[':
        return array();
      case '"':
        return Json(string());
      case 't':
        return literal("true", Json(true));
      case 'f':
        return literal("false", Json(false));
      case 'n':
        return literal("null", Json());
      default:
        return number();
    }
  }

  Json literal(std::string_view word, Json result) {
    if (text_.substr(at_, word.size()) != word) fail_here("a value");
    at_ += word.size();
    return result;
  }

  Json array() {
    enter();
    Json::Array values;
    skip_space();
    if (!take(']')) {
      do {
        skip_space();
        values.push_back(value());
        skip_space();
      } while (take(','));
      if (!take(']')) fail_here("',' or ']' after an element of an array");
    }
    --depth_;
    return Json(std::move(values));
  }

  Json object() {
    enter();
    Json result = Json::object();
    skip_space();
    if (!take('}')) {
      std::unordered_set<std::string> names;
      Json::Object members;
      do {
        skip_space();
        const std::size_t start = at_;
        if (at_ == text_.size() || text_[at_] != '"') fail_here("the name of a member, in quotes");
        std::string name = string();
        if (!names.insert(name).second) {
          fail_at(start, fmt::format("the name \"{}\" appears twice in one object", name));
        }
        skip_space();
        if (!take(':')) fail_here("':' after the name of a member");
        skip_space();
        members.push_back({std::move(name), value()});
        skip_space();
      } while (take(','));
      if (!take('}')) fail_here("',' or '}' after a member of an object");
      result = Json(std::move(members));
    }
    --depth_;
    return result;
  }

  std::string string() {
    const std::size_t start = at_++;
    std::string result;
    while (true) {
      if (at_ == text_.size()) fail_at(start, "this string has no closing quote");
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) {
        fail_at(at_, "a control character in a string must be written as \\u00xx");
      }
      ++at_;
      if (c == '"') return result;
      if (c == '\\') {
        escape(result);
      } else {
        result += c;
      }
    }
  }

  // The part of an escape after the backslash.
  void escape(std::string& out) {
    if (at_ == text_.size()) fail_here("a character after \\");
    switch (text_[at_++]) {
      case '"':
        out += '"';
        return;
      case '\\':
        out += '\\';
        return;
      case '/':
        out += '/';
        return;
      case 'b':
        out += '\b';
        return;
      case 'f':
        out += '\f';
        return;
      case 'n':
        out += '\n';
        return;
      case 'r':
        out += '\r';
        return;
      case 't':
        out += '\t';
        return;
      case 'u':
        append_utf8(out, code_point());
        return;
      default:
        --at_;
        fail_here("one of \" \\ / b f n r t u after \\");
    }
  }

  // After \u: four digits, or a surrogate pair, which is two such escapes for one code point.
  std::uint32_t code_point() {
    const std::size_t start = at_ - 2;
    const std::uint32_t high = four_digits();
    if (high < 0xd800 || high > 0xdfff) return high;
    const bool paired = high < 0xdc00 && text_.substr(at_, 2) == "\\u";
    if (paired) {
      at_ += 2;
      const std::uint32_t low = four_digits();
      if (low >= 0xdc00 && low <= 0xdfff) {
        return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
      }
    }
    fail_at(start, "half of a surrogate pair without the other half");
  }

  std::uint32_t four_digits() {
    std::uint32_t result = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : ' ';
      std::uint32_t digit = 0;
      if (c >= '0' && c <= '9') {
        digit = static_cast<std::uint32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        digit = static_cast<std::uint32_t>(c - 'a' + 10);
      } else if (c >= 'A' && c <= 'F') {
        digit = static_cast<std::uint32_t>(c - 'A' + 10);
      } else {
        fail_here("four hexadecimal digits after \\u");
      }
      result = result * 16 + digit;
    }
    return result;
  }

  Json number() {
    const std::size_t start = at_;
    const bool negative = take('-');
    const char first = at_ < text_.size() ? text_[at_] : ' ';
    if (first < '0' || first > '9') {
      if (negative) fail_here("a digit after -");
      fail_here("a value");
    }
    if (first == '0') {
      ++at_;
      if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
        fail_at(start, "a number does not start with 0 and another digit");
      }
    } else {
      digits("a digit");
    }
    bool integer = true;
    if (take('.')) {
      integer = false;
      digits("a digit after the decimal point");
    }
    if (take('e') || take('E')) {
      integer = false;
      if (!take('-')) take('+');
      digits("a digit in the exponent");
    }
    const char* begin = text_.data() + start;
    const char* end = text_.data() + at_;
    std::int64_t whole = 0;
    // -0 is a double: as an integer it would lose its sign.
    if (integer && std::from_chars(begin, end, whole).ec == std::errc() &&
        !(negative && whole == 0)) {
      return Json(whole);
    }
    return Json(real(start, std::string_view(begin, at_ - start)));
  }

  double real(std::size_t start, std::string_view digits_of_it) {
    double result = 0;
    const auto outcome =
        std::from_chars(digits_of_it.data(), digits_of_it.data() + digits_of_it.size(), result);
    if (outcome.ec == std::errc::result_out_of_range) {
      // from_chars reports both ends of the range alike and stores nothing. A number that is too
      // small is zero; whether it is shows in its decimal exponent.
      if (decimal_exponent(digits_of_it) > 0) {
        fail_at(start, "this number is too large for a double");
      }
      return digits_of_it.front() == '-' ? -0.0 : 0.0;
    }
    return result;
  }

  // The e of d.ddd * 10^e with a digit d that is not 0, limited to +-10^9.
  static long decimal_exponent(std::string_view number) {
    const std::size_t mark = number.find_first_of("eE");
    const std::string_view mantissa = number.substr(0, mark);
    const long point = static_cast<long>(std::min(mantissa.find('.'), mantissa.size()));
    const long first = static_cast<long>(mantissa.find_first_of("123456789"));
    const long shift = first < point ? point - first - 1 : point - first;
    if (mark == number.npos) return shift;
    std::string_view exponent = number.substr(mark + 1);
    if (exponent.front() == '+') exponent.remove_prefix(1);
    long value = 0;
    if (std::from_chars(exponent.data(), exponent.data() + exponent.size(), value).ec !=
            std::errc() ||
        value > 1'000'000'000 || value < -1'000'000'000) {
      value = exponent.front() == '-' ? -1'000'000'000 : 1'000'000'000;
    }
    return value + shift;
  }

  void digits(const char* expected) {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    if (at_ == start) fail_here(expected);
  }

  void enter() {
    if (depth_ == max_depth_) {
      fail_at(at_, fmt::format("more than {} arrays and objects inside one another", max_depth_));
    }
    ++depth_;
    ++at_;
  }

  bool take(char c) {
    const bool there = at_ < text_.size() && text_[at_] == c;
    if (there) ++at_;
    return there;
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != text_.npos) ++at_;
  }

  [[noreturn]] void fail_here(std::string_view expected) {
    std::string found = "the end of the text";
    if (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      found =
          c >= 0x21 && c < 0x7f ? fmt::format("'{}'", text_[at_]) : fmt::format("byte {:#x}", c);
    }
    fail_at(at_, fmt::format("expected {}, found {}", expected, found));
  }

  // Line and column count from 1; the column counts characters, so it is what an editor shows.
  [[noreturn]] void fail_at(std::size_t at, std::string_view problem) {
    std::size_t line = 1;
    std::size_t column = 1;
    for (std::size_t i = 0; i < at; ++i) {
      if (text_[i] == '\n') {
        ++line;
        column = 1;
      } else if ((static_cast<unsigned char>(text_[i]) & 0xc0u) != 0x80) {
        ++column;
      }
    }
    fail(fmt::format("JSON, line {}, column {} (byte {}): {}", line, column, at, problem));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int max_depth_;
  int depth_ = 0;
};

}  // namespace

Json Json::parse(std::string_view text, const JsonLimits& limits) {
  if (limits.max_depth < 0 || limits.max_depth > deepest) {
    fail(fmt::format("JSON: max_depth must be 0 to {}, not {}", deepest, limits.max_depth));
  }
  if (text.size() > limits.max_bytes) {
    fail(fmt::format("JSON: the text has {} bytes, at most {} are accepted", text.size(),
                     limits.max_bytes));
  }
  return Parser(text, limits.max_depth).document();
}

}  // namespace labgrad
