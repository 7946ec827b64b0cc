#pragma once
// The command line of a lab: typed options with defaults, ranges, a manual and clear errors.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/error.h"

namespace labgrad::labs {

// What the caller typed cannot be meant: an unknown option, a value out of range. Exit status 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Bounds of a number, both allowed.
template <class T>
struct Bounds {
  T min = std::numeric_limits<T>::lowest();
  T max = std::numeric_limits<T>::max();
};

// Options are registered by name (without the two dashes), then `parse` reads the command line and
// the getters answer. An option without a default has no value until it is given. The last of two
// values counts. Asking for an option that was not registered, or with another type, is an Error.
class Options {
 public:
  // Options registered from here on stand under this heading in the manual.
  void group(std::string title);

  void add_flag(std::string name, std::string help);
  void add_int(std::string name, std::string metavar, std::string help,
               std::optional<std::int64_t> initial = {}, Bounds<std::int64_t> bounds = {});
  void add_double(std::string name, std::string metavar, std::string help,
                  std::optional<double> initial = {}, Bounds<double> bounds = {});
  void add_string(std::string name, std::string metavar, std::string help,
                  std::optional<std::string> initial = {});
  void add_choice(std::string name, std::vector<std::string> choices, std::string help,
                  std::string initial);
  // May be given several times; each time adds a value.
  void add_list(std::string name, std::string metavar, std::string help);

  // Reads `--name value`, `--name=value` and `--flag`; argv[0] is skipped. Throws UsageError.
  void parse(int argc, const char* const* argv);

  // Was it on the command line?
  bool given(std::string_view name) const;
  bool flag(std::string_view name) const;
  // Without a value and without a default these three are Errors: use the form with a fallback.
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  std::string text(std::string_view name) const;  // also of a choice
  std::int64_t integer_or(std::string_view name, std::int64_t fallback) const;
  double number_or(std::string_view name, double fallback) const;
  std::string text_or(std::string_view name, std::string fallback) const;
  std::vector<std::string> list(std::string_view name) const;

  // The manual: usage line, `about` as a paragraph, the options in aligned columns.
  std::string manual(std::string_view program, std::string_view about) const;

  // Every option that has a value, as text, in the order of registration (flags: "true", "false").
  std::vector<std::pair<std::string, std::string>> values() const;

 private:
  enum class Kind { flag, integer, number, text, choice, list };
  struct Option {
    std::string name, metavar, help, group;
    Kind kind = Kind::flag;
    std::optional<std::string> initial;
    std::vector<std::string> choices;
    // Throws UsageError if the text is no value of this option.
    std::function<void(const Option&, const std::string&)> check;
    bool given = false;
    std::vector<std::string> values;
  };

  void add(Option option);
  const Option& find(std::string_view name) const;
  const Option& find(std::string_view name, Kind kind) const;
  Option& named_on_command_line(const std::string& name);
  static std::optional<std::string> value_of(const Option& option);

  std::vector<Option> options_;
  std::string group_ = "Options";
};

}  // namespace labgrad::labs
