#include "labs/common/ask.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <ostream>

namespace labgrad::labs {
namespace {

constexpr int attempts = 3;

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

std::optional<double> parse_number_answer(const std::string& text) {
  std::string digits = trimmed(text);
  const bool percent = !digits.empty() && digits.back() == '%';
  if (percent) digits = trimmed(digits.substr(0, digits.size() - 1));
  double value = 0.0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, status] = std::from_chars(digits.data(), end, value);
  if (status != std::errc{} || stop != end || !std::isfinite(value)) return {};
  return percent ? value / 100.0 : value;
}

std::optional<std::size_t> parse_choice_answer(const std::string& text,
                                               const std::vector<std::string>& choices) {
  const std::string word = lower(trimmed(text));
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const std::string letter(1, static_cast<char>('a' + static_cast<char>(i % 26)));
    if (word == letter || word == letter + ")" || word == std::to_string(i + 1) ||
        word == lower(choices[i]))
      return i;
  }
  return {};
}

template <class Parse>
auto Examiner::answer(const char* prompt, const char* complaint, Parse parse) {
  decltype(parse(std::string())) result;
  for (int attempt = 0; attempt < attempts && in_; ++attempt) {
    out_ << prompt << std::flush;
    std::string line;
    if (!std::getline(in_, line)) {
      out_ << "(no more input: the remaining questions are not scored)\n";
      break;
    }
    if (trimmed(line).empty()) break;
    result = parse(line);
    if (result) break;
    out_ << complaint << '\n';
  }
  return result;
}

std::optional<double> Examiner::number() {
  return answer("  your prediction (a number, Enter skips): ", "  That is no number, such as 0.25.",
                parse_number_answer);
}

std::optional<std::size_t> Examiner::choice(const std::vector<std::string>& choices) {
  return answer("  your prediction (a letter, Enter skips): ", "  That is none of the choices.",
                [&](const std::string& text) { return parse_choice_answer(text, choices); });
}

}  // namespace labgrad::labs
