#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace labgrad {

// What a reader accepts at most, so that a hostile or broken file ends in an error and not in an
// exhausted stack or memory.
struct JsonLimits {
  int max_depth = 64;                            // nested arrays and objects, 1000 at most
  std::size_t max_bytes = std::size_t{1} << 28;  // length of the text
};

struct JsonMember;

// One JSON value (RFC 8259). Numbers written without fraction or exponent that fit 64 bits are kept
// exactly as integers; all others are doubles. Objects keep the order of their members.
//
//   Json row = Json::object({{"epoch", 3}, {"loss", 0.25}});
//   row.set("tags", Json::array({"small", true}));
//   double loss = row.at("loss").as_double();
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;

  Json();  // null
  Json(std::nullptr_t);
  template <std::same_as<bool> T>  // a template, so that no pointer becomes true
  Json(T value) : value_(value) {}
  Json(double value);
  Json(float value);
  Json(std::string value);
  Json(std::string_view value);
  Json(const char* value);
  Json(Array value);
  // Names must differ: set() and parse() see to it.
  explicit Json(Object members);
  // Any other integer type. Throws Error for an unsigned value above 2^63 - 1.
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T value) : value_(checked(value)) {}

  static Json array(std::initializer_list<Json> values = {});
  static Json object(std::initializer_list<std::pair<std::string_view, Json>> members = {});

  // Reads exactly one value with nothing but white space around it. Throws Error with line, column
  // and byte offset for anything RFC 8259 does not allow, and for what it leaves open: a name that
  // appears twice in one object, text that is not UTF-8, a number too large for a double.
  static Json parse(std::string_view text, const JsonLimits& limits = {});

  // The text of the value: on one line for indent = 0, else with `indent` spaces a level and arrays
  // of plain values on one line. Doubles have the fewest digits that read back to the same bits;
  // JSON has no word for those that are not finite, so they become "nan", "inf" and "-inf", which
  // as_double() reads. Throws Error for a string that is not UTF-8.
  std::string dump(int indent = 0) const;

  bool is_null() const;
  bool is_bool() const;
  bool is_integer() const;
  bool is_number() const;  // integer or double
  bool is_string() const;
  bool is_array() const;
  bool is_object() const;
  const char* kind() const;  // "null", "bool", "integer", "double", "string", "array", "object"

  // The value as a C++ type. Each throws Error that says what was expected and what is there;
  // `what` names the value in that sentence ("shape of weight").
  bool as_bool(std::string_view what = {}) const;
  std::int64_t as_int(std::string_view what = {}) const;  // integers only, never a rounded double
  double as_double(std::string_view what = {}) const;     // integers, doubles, "nan", "inf", "-inf"
  const std::string& as_string(std::string_view what = {}) const;
  const Array& as_array(std::string_view what = {}) const;
  const Object& as_object(std::string_view what = {}) const;

  // Elements of an array or members of an object; throws Error for other kinds.
  std::size_t size() const;
  // Element of an array. Throws Error if this is no array or has no such element.
  const Json& at(std::size_t index) const;
  // Member of an object. Throws Error that lists the names that are there.
  const Json& at(std::string_view key) const;
  const Json& at(const char* key) const { return at(std::string_view(key)); }
  const Json& at(int index) const;
  // Member of an object or nullptr. Throws Error if this is no object.
  const Json* find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != nullptr; }

  // Adds to an array (a null becomes one first). Returns the new element.
  Json& push_back(Json value);
  // Adds a member to an object, or replaces it (a null becomes an object first). Returns it.
  Json& set(std::string_view key, Json value);

  // Equal kind and value; the order of an object's members counts. NaN differs from itself.
  friend bool operator==(const Json& a, const Json& b);

 private:
  template <std::integral T>
  static std::int64_t checked(T value) {
    if (!std::in_range<std::int64_t>(value)) fail_integer_range();
    return static_cast<std::int64_t>(value);
  }
  [[noreturn]] static void fail_integer_range();
  [[noreturn]] void fail_kind(const char* expected, std::string_view what) const;

  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value_;
};

// A member of an object: for (const auto& [key, value] : json.as_object()) ...
struct JsonMember {
  std::string key;
  Json value;
  friend bool operator==(const JsonMember&, const JsonMember&) = default;
};

// Reads a file; its errors begin with the path. Throws MissingFile (engine/io/file.h) if there is
// none.
Json read_json(const std::filesystem::path& path, const JsonLimits& limits = {});
// Writes value.dump(indent) and a line end, whole or not at all (write_file_atomic).
void write_json(const std::filesystem::path& path, const Json& value, int indent = 2);

}  // namespace labgrad
