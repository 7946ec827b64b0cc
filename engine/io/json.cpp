#include "engine/io/json.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/error.h"
#include "engine/io/file.h"
#include "engine/io/utf8.h"

namespace labgrad {
namespace {

void dump_string(std::string& out, std::string_view text) {
  if (const std::size_t bad = first_invalid_utf8(text); bad != text.size()) {
    fail(
        fmt::format("JSON: a string to be written is not UTF-8 (byte {} of {})", bad, text.size()));
  }
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void dump_double(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "\"nan\"";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"inf\"" : "\"-inf\"";
  } else {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
    out += text;
    // "3" would come back as an integer.
    if (text.find_first_of(".e") == text.npos) out += ".0";
  }
}

void new_line(std::string& out, int indent, int level) {
  if (indent == 0) return;
  out += '\n';
  out.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(level), ' ');
}

void dump_value(std::string& out, const Json& value, int indent, int level);

void dump_array(std::string& out, const Json::Array& values, int indent, int level) {
  bool plain = true;
  for (const Json& value : values) plain = plain && !value.is_array() && !value.is_object();
  if (plain) indent = 0;
  const char* comma = plain ? ", " : ",";
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += comma;
    new_line(out, indent, level + 1);
    dump_value(out, values[i], indent, level + 1);
  }
  if (!values.empty()) new_line(out, indent, level);
  out += ']';
}

void dump_object(std::string& out, const Json::Object& members, int indent, int level) {
  out += '{';
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i > 0) out += ',';
    new_line(out, indent, level + 1);
    dump_string(out, members[i].key);
    out += indent == 0 ? ":" : ": ";
    dump_value(out, members[i].value, indent, level + 1);
  }
  if (!members.empty()) new_line(out, indent, level);
  out += '}';
}

void dump_value(std::string& out, const Json& value, int indent, int level) {
  if (value.is_null()) {
    out += "null";
  } else if (value.is_bool()) {
    out += value.as_bool() ? "true" : "false";
  } else if (value.is_integer()) {
    out += fmt::format("{}", value.as_int());
  } else if (value.is_number()) {
    dump_double(out, value.as_double());
  } else if (value.is_string()) {
    dump_string(out, value.as_string());
  } else if (value.is_array()) {
    dump_array(out, value.as_array(), indent, level);
  } else {
    dump_object(out, value.as_object(), indent, level);
  }
}

}  // namespace

Json::Json() : value_(nullptr) {}
Json::Json(std::nullptr_t) : value_(nullptr) {}
Json::Json(double value) : value_(value) {}
Json::Json(float value) : value_(static_cast<double>(value)) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
Json::Json(const char* value) : value_(std::string(value)) {}
Json::Json(Array value) : value_(std::move(value)) {}
Json::Json(Object members) : value_(std::move(members)) {}

bool operator==(const Json& a, const Json& b) { return a.value_ == b.value_; }

Json Json::array(std::initializer_list<Json> values) { return Json(Array(values)); }

Json Json::object(std::initializer_list<std::pair<std::string_view, Json>> members) {
  Json result;
  result.value_ = Object();
  for (const auto& [key, value] : members) result.set(key, value);
  return result;
}

std::string Json::dump(int indent) const {
  if (indent < 0 || indent > 16) fail(fmt::format("JSON: indent must be 0 to 16, not {}", indent));
  std::string out;
  dump_value(out, *this, indent, 0);
  return out;
}

bool Json::is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
bool Json::is_bool() const { return std::holds_alternative<bool>(value_); }
bool Json::is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
bool Json::is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
bool Json::is_string() const { return std::holds_alternative<std::string>(value_); }
bool Json::is_array() const { return std::holds_alternative<Array>(value_); }
bool Json::is_object() const { return std::holds_alternative<Object>(value_); }

const char* Json::kind() const {
  constexpr std::array names = {"null", "bool", "integer", "double", "string", "array", "object"};
  return names[value_.index()];
}

void Json::fail_integer_range() { fail("JSON: an integer above 2^63 - 1 cannot be stored"); }

void Json::fail_kind(const char* expected, std::string_view what) const {
  std::string found = kind();
  if (is_bool() || is_number()) found += " " + dump();
  if (is_string()) found += " " + dump().substr(0, 40);
  fail(fmt::format("JSON: {}{}expected {}, found {}", what, what.empty() ? "" : ": ", expected,
                   found));
}

bool Json::as_bool(std::string_view what) const {
  const bool* value = std::get_if<bool>(&value_);
  if (!value) fail_kind("true or false", what);
  return *value;
}

std::int64_t Json::as_int(std::string_view what) const {
  const std::int64_t* value = std::get_if<std::int64_t>(&value_);
  if (!value) fail_kind("an integer of 64 bits", what);
  return *value;
}

double Json::as_double(std::string_view what) const {
  if (is_integer()) return static_cast<double>(std::get<std::int64_t>(value_));
  if (const double* value = std::get_if<double>(&value_)) return *value;
  if (const std::string* text = std::get_if<std::string>(&value_)) {
    if (*text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (*text == "inf") return std::numeric_limits<double>::infinity();
    if (*text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  fail_kind("a number", what);
}

const std::string& Json::as_string(std::string_view what) const {
  const std::string* value = std::get_if<std::string>(&value_);
  if (!value) fail_kind("a string", what);
  return *value;
}

const Json::Array& Json::as_array(std::string_view what) const {
  const Array* value = std::get_if<Array>(&value_);
  if (!value) fail_kind("an array", what);
  return *value;
}

const Json::Object& Json::as_object(std::string_view what) const {
  const Object* value = std::get_if<Object>(&value_);
  if (!value) fail_kind("an object", what);
  return *value;
}

std::size_t Json::size() const {
  if (is_object()) return as_object().size();
  if (!is_array()) fail_kind("an array or an object", {});
  return as_array().size();
}

const Json& Json::at(std::size_t index) const {
  const Array& values = as_array();
  if (index >= values.size()) {
    fail(fmt::format("JSON: there is no element {} in an array of {}", index, values.size()));
  }
  return values[index];
}

const Json& Json::at(int index) const {
  if (index < 0) fail(fmt::format("JSON: an array has no element {}", index));
  return at(static_cast<std::size_t>(index));
}

const Json& Json::at(std::string_view key) const {
  if (!is_object()) fail_kind("an object", fmt::format("looking for \"{}\"", key));
  if (const Json* value = find(key)) return *value;
  std::string names;
  const Object& members = as_object();
  for (std::size_t i = 0; i < members.size() && i < 12; ++i) names += " \"" + members[i].key + "\"";
  if (members.size() > 12) names += " ...";
  fail(fmt::format("JSON: there is no member \"{}\"; the object has {} members:{}", key,
                   members.size(), names));
}

const Json* Json::find(std::string_view key) const {
  for (const JsonMember& member : as_object()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

Json& Json::push_back(Json value) {
  if (is_null()) value_ = Array();
  as_array();
  return std::get<Array>(value_).emplace_back(std::move(value));
}

Json& Json::set(std::string_view key, Json value) {
  if (is_null()) value_ = Object();
  as_object();
  Object& members = std::get<Object>(value_);
  for (JsonMember& member : members) {
    if (member.key == key) return member.value = std::move(value);
  }
  members.push_back({std::string(key), std::move(value)});
  return members.back().value;
}

Json read_json(const std::filesystem::path& path, const JsonLimits& limits) {
  const std::string text = read_file(path, limits.max_bytes);
  try {
    return Json::parse(text, limits);
  } catch (const Error& error) {
    fail(fmt::format("{}: {}", path.string(), error.what()));
  }
}

void write_json(const std::filesystem::path& path, const Json& value, int indent) {
  write_file_atomic(path, value.dump(indent) + "\n");
}

}  // namespace labgrad
