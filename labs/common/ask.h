#pragma once
// Predict first: reads a student's answers from a stream and scores them.

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace labgrad::labs {

// "0.25", "1e-3", "25%" (a quarter); nothing if `text` is no finite number.
std::optional<double> parse_number_answer(const std::string& text);

// The index of the choice meant by a letter (a), its number (1) or its text, or nothing.
std::optional<std::size_t> parse_choice_answer(const std::string& text,
                                               const std::vector<std::string>& choices);

// Asks at most three times for an answer that `parse` accepts. An empty line skips the question;
// the end of the input skips this one and all later ones without a prompt.
class Examiner {
 public:
  Examiner(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  std::optional<double> number();
  std::optional<std::size_t> choice(const std::vector<std::string>& choices);

 private:
  template <class Parse>
  auto answer(const char* prompt, const char* complaint, Parse parse);

  std::istream& in_;
  std::ostream& out_;
};

}  // namespace labgrad::labs
