#include "labs/common/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "labs/common/text.h"

namespace labgrad::labs {
namespace {

template <class... Args>
[[noreturn]] void usage_error(fmt::format_string<Args...> format, Args&&... args) {
  throw UsageError(fmt::format(format, std::forward<Args>(args)...));
}

std::string bounds_text(Bounds<std::int64_t> b) {
  const Bounds<std::int64_t> none;
  if (b.min == none.min && b.max == none.max) return "";
  if (b.max == none.max) return fmt::format("at least {}", b.min);
  if (b.min == none.min) return fmt::format("at most {}", b.max);
  return fmt::format("between {} and {}", b.min, b.max);
}

std::string bounds_text(Bounds<double> b) {
  const Bounds<double> none;
  if (b.min == none.min && b.max == none.max) return "";
  if (b.max == none.max) return "at least " + number_text(b.min);
  if (b.min == none.min) return "at most " + number_text(b.max);
  return "between " + number_text(b.min) + " and " + number_text(b.max);
}

// Reads the whole of `text` as a T, or says what is wrong with it.
template <class T>
T read_number(const std::string& name, const std::string& text, Bounds<T> bounds,
              const char* expected) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  const std::string range = bounds_text(bounds);
  if (status == std::errc::result_out_of_range)
    usage_error("--{} {}: the number is too large", name, text);
  if (status != std::errc{} || stop != end)
    usage_error("--{} {}: expected {}{}{}", name, text, expected, range.empty() ? "" : " ", range);
  // Written so that NaN fails; infinity is refused as well.
  if (!(value >= bounds.min && value <= bounds.max))
    usage_error("--{} {}: the value must be {}", name, text,
                range.empty() ? std::string("finite") : range);
  return value;
}

}  // namespace

void Options::group(std::string title) { group_ = std::move(title); }

void Options::add(Option option) {
  for (const Option& other : options_)
    if (other.name == option.name) fail("option --" + option.name + " is registered twice");
  option.group = group_;
  if (option.check && option.initial) option.check(option, *option.initial);
  options_.push_back(std::move(option));
}

void Options::add_flag(std::string name, std::string help) {
  Option option;
  option.name = std::move(name);
  option.help = std::move(help);
  add(std::move(option));
}

void Options::add_int(std::string name, std::string metavar, std::string help,
                      std::optional<std::int64_t> initial, Bounds<std::int64_t> bounds) {
  Option option;
  option.name = std::move(name);
  option.metavar = std::move(metavar);
  option.help = std::move(help);
  option.kind = Kind::integer;
  if (initial) option.initial = std::to_string(*initial);
  option.check = [bounds](const Option& self, const std::string& text) {
    read_number(self.name, text, bounds, "a whole number");
  };
  add(std::move(option));
}

void Options::add_double(std::string name, std::string metavar, std::string help,
                         std::optional<double> initial, Bounds<double> bounds) {
  Option option;
  option.name = std::move(name);
  option.metavar = std::move(metavar);
  option.help = std::move(help);
  option.kind = Kind::number;
  if (initial) option.initial = fmt::format("{}", *initial);
  option.check = [bounds](const Option& self, const std::string& text) {
    read_number(self.name, text, bounds, "a number");
  };
  add(std::move(option));
}

void Options::add_string(std::string name, std::string metavar, std::string help,
                         std::optional<std::string> initial) {
  Option option;
  option.name = std::move(name);
  option.metavar = std::move(metavar);
  option.help = std::move(help);
  option.kind = Kind::text;
  option.initial = std::move(initial);
  add(std::move(option));
}

void Options::add_choice(std::string name, std::vector<std::string> choices, std::string help,
                         std::string initial) {
  Option option;
  option.name = std::move(name);
  option.metavar = fmt::format("{}", fmt::join(choices, "|"));
  option.help = std::move(help);
  option.kind = Kind::choice;
  option.initial = std::move(initial);
  option.choices = std::move(choices);
  option.check = [](const Option& self, const std::string& text) {
    if (std::find(self.choices.begin(), self.choices.end(), text) != self.choices.end()) return;
    const std::string guess = closest(text, self.choices);
    usage_error("--{} {}: expected {}{}", self.name, text, join_names(self.choices, "or"),
                guess.empty() ? "" : "; did you mean " + guess + "?");
  };
  add(std::move(option));
}

void Options::add_list(std::string name, std::string metavar, std::string help) {
  Option option;
  option.name = std::move(name);
  option.metavar = std::move(metavar);
  option.help = std::move(help);
  option.kind = Kind::list;
  add(std::move(option));
}

Options::Option& Options::named_on_command_line(const std::string& name) {
  std::vector<std::string> names;
  for (Option& option : options_) {
    if (option.name == name) return option;
    names.push_back(option.name);
  }
  const std::string guess = closest(name, names);
  usage_error("unknown option --{}; {}", name,
              guess.empty() ? "--help lists them all" : "did you mean --" + guess + "?");
}

void Options::parse(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.size() < 3 || word.compare(0, 2, "--") != 0)
      usage_error("unexpected argument '{}': options start with two dashes; see --help", word);
    const std::size_t equals = word.find('=');
    Option& option =
        named_on_command_line(word.substr(2, equals == std::string::npos ? equals : equals - 2));
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);

    if (option.kind == Kind::flag) {
      if (value) usage_error("--{} takes no value, got '{}'", option.name, *value);
      value = "true";
    } else if (!value && i + 1 < argc && std::string_view(argv[i + 1]).substr(0, 2) != "--") {
      value = argv[++i];
    }
    if (!value || value->empty())
      usage_error("--{} needs a value: --{} {}", option.name, option.name, option.metavar);
    if (option.check) option.check(option, *value);
    if (option.kind != Kind::list) option.values.clear();
    option.values.push_back(*value);
    option.given = true;
  }
}

const Options::Option& Options::find(std::string_view name) const {
  for (const Option& option : options_)
    if (option.name == name) return option;
  fail("option --" + std::string(name) + " was never registered");
}

const Options::Option& Options::find(std::string_view name, Kind kind) const {
  const Option& option = find(name);
  const bool choice_as_text = kind == Kind::text && option.kind == Kind::choice;
  if (option.kind != kind && !choice_as_text)
    fail("option --" + option.name + " is read with another type than it was registered with");
  return option;
}

std::optional<std::string> Options::value_of(const Option& option) {
  if (!option.values.empty()) return option.values.back();
  return option.initial;
}

bool Options::given(std::string_view name) const { return find(name).given; }

bool Options::flag(std::string_view name) const { return find(name, Kind::flag).given; }

std::int64_t Options::integer(std::string_view name) const {
  const auto value = value_of(find(name, Kind::integer));
  if (!value) fail("option --" + std::string(name) + " has no value");
  return read_number<std::int64_t>(std::string(name), *value, {}, "a whole number");
}

double Options::number(std::string_view name) const {
  const auto value = value_of(find(name, Kind::number));
  if (!value) fail("option --" + std::string(name) + " has no value");
  return read_number<double>(std::string(name), *value, {}, "a number");
}

std::string Options::text(std::string_view name) const {
  const auto value = value_of(find(name, Kind::text));
  if (!value) fail("option --" + std::string(name) + " has no value");
  return *value;
}

std::int64_t Options::integer_or(std::string_view name, std::int64_t fallback) const {
  return value_of(find(name, Kind::integer)) ? integer(name) : fallback;
}

double Options::number_or(std::string_view name, double fallback) const {
  return value_of(find(name, Kind::number)) ? number(name) : fallback;
}

std::string Options::text_or(std::string_view name, std::string fallback) const {
  return value_of(find(name, Kind::text)).value_or(std::move(fallback));
}

std::vector<std::string> Options::list(std::string_view name) const {
  return find(name, Kind::list).values;
}

std::string Options::manual(std::string_view program, std::string_view about) const {
  const auto head = [](const Option& o) {
    return "--" + o.name + (o.metavar.empty() ? "" : " " + o.metavar);
  };
  std::size_t column = 0;
  for (const Option& option : options_) column = std::max(column, display_width(head(option)));
  column = std::min<std::size_t>(column, 30);

  std::string out = fmt::format("Usage: {} [options]\n\n{}", program, paragraph(about));
  std::string group;
  for (const Option& option : options_) {
    if (option.group != group) out += fmt::format("\n{}:\n", group = option.group);
    std::string help = option.help;
    if (option.initial) help += fmt::format(" (default {})", *option.initial);
    if (option.kind == Kind::list) help += " (repeatable)";
    const auto lines = wrap(help, page_width - column - 4);
    std::string left = head(option);
    if (display_width(left) > column) {
      out += "  " + left + '\n';
      left.clear();
    }
    for (const std::string& line : lines) {
      out += "  " + pad(left, column) + "  " + line + '\n';
      left.clear();
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> Options::values() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Option& option : options_) {
    if (option.kind == Kind::flag) {
      out.emplace_back(option.name, option.given ? "true" : "false");
    } else if (option.kind == Kind::list) {
      if (option.given)
        out.emplace_back(option.name, fmt::format("{}", fmt::join(option.values, ",")));
    } else if (const auto value = value_of(option)) {
      out.emplace_back(option.name, *value);
    }
  }
  return out;
}

}  // namespace labgrad::labs
