// What a section says: each function prints a block and keeps it in the document.

#include <cmath>
#include <ostream>

#include "engine/io/file.h"
#include "labs/common/lab.h"

namespace labgrad::labs {
namespace {

// A check line: two blanks, the claim, the measured figure, the bound, the verdict. Claim and
// figure share their columns, so that a long figure fits beside a short claim.
constexpr std::size_t claim_width = 54, left_width = 68, bound_width = 20;

std::string check_line(const Check& check) {
  const std::string verdict = check.ok ? "ok" : "FAIL";
  const std::string measured = check.measured_text();
  const std::vector<std::string> claim = wrap(check.what, claim_width);
  std::string out;
  for (std::size_t i = 0; i + 1 < claim.size(); ++i) out += "  " + claim[i] + '\n';
  const std::size_t used = display_width(claim.back()) + display_width(measured);
  const bool fits =
      used + 2 <= left_width && display_width(check.bound) + left_width + 10 <= page_width;
  if (fits)
    return out + "  " + claim.back() + std::string(left_width - used, ' ') + measured + "  " +
           pad(check.bound, bound_width) + "  " + verdict + '\n';
  // A long bound or figure goes on lines of its own.
  out += "  " + claim.back() + '\n';
  const auto lines = wrap(measured + "; bound: " + check.bound, page_width - 12);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) out += "    " + lines[i] + '\n';
  const std::string last = "    " + lines.back();
  const std::size_t column = 2 + left_width + 2 + bound_width + 2;  // of the verdict
  return out + pad(last, column - 2) + "  " + verdict + '\n';
}

}  // namespace

template <class T>
void Lab::add(T block, const std::string& text) {
  if (document_.sections.empty()) fail("a lab speaks only within its sections");
  auto& blocks = document_.sections.back().blocks;
  const bool goes_on =
      std::is_same_v<T, Check> && !blocks.empty() && std::holds_alternative<Check>(blocks.back());
  out_ << (goes_on ? "" : "\n") << text << std::flush;
  blocks.push_back(std::move(block));
}

void Lab::add_paragraph(std::string text) {
  const std::string shown = paragraph(text);
  add(Paragraph{std::move(text)}, shown);
}

void Lab::equation(std::string id, std::string text) {
  std::string shown;
  const std::string tag = id.empty() ? "" : "(" + id + ")";
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = "    " + text.substr(at, end - at);
    const std::size_t used = display_width(line) + display_width(tag);
    // The id stands at the right margin of the first line.
    if (at == 0 && !tag.empty() && used + 2 <= page_width)
      line += std::string(page_width - used, ' ') + tag;
    shown += line + '\n';
    at = end + 1;
  }
  add(Equation{std::move(id), std::move(text)}, shown);
}

void Lab::show(std::string text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    shown += "    " + text.substr(at, end - at) + '\n';
    at = end + 1;
  }
  add(Preformatted{std::move(text)}, shown);
}

void Lab::table(Table table) {
  const std::string shown = table.text();
  add(std::move(table), shown);
}

void Lab::picture(std::string name, std::string caption, std::string svg) {
  name = file_safe(name);
  const auto path = out_dir() / (name + ".svg");
  write_file_atomic(path, svg);
  const std::string shown = paragraph("Picture " + path.string() + ": " + caption, "  ");
  add(Picture{std::move(name), std::move(caption), std::move(svg)}, shown);
}

bool Lab::check(std::string what, Cell measured, std::string bound, bool ok) {
  Check check{std::move(what), std::move(measured), std::move(bound), ok};
  const std::string line = check_line(check);
  add(std::move(check), line);
  return ok;
}

bool Lab::check_true(std::string what, bool measured) {
  return check(std::move(what), measured, "yes", measured);
}

bool Lab::check_equal(std::string what, std::int64_t got, std::int64_t want) {
  return check(std::move(what), got, "= " + std::to_string(want), got == want);
}

// The comparisons are written so that NaN, and an infinity where a number belongs, fail.
bool Lab::check_close(std::string what, double got, double want, double tolerance) {
  const std::string bound = number_text(want, 6) + " ± " + number_text(tolerance, 2);
  return check(std::move(what), got, bound, std::abs(got - want) <= tolerance);
}

bool Lab::check_less(std::string what, double got, double bound) {
  return check(std::move(what), got, "< " + number_text(bound), got < bound && std::isfinite(got));
}

bool Lab::check_greater(std::string what, double got, double bound) {
  return check(std::move(what), got, "> " + number_text(bound), got > bound && std::isfinite(got));
}

bool Lab::check_between(std::string what, double got, double low, double high) {
  return check(std::move(what), got, number_text(low) + " to " + number_text(high),
               got >= low && got <= high);
}

Lab::Prediction Lab::predict(std::string question) { return predict(std::move(question), {}); }

Lab::Prediction Lab::predict(std::string question, std::vector<std::string> choices) {
  std::string shown = paragraph("Predict first: " + question);
  for (std::size_t i = 0; i < choices.size(); ++i)
    shown +=
        fmt::format("    {}) {}\n", static_cast<char>('a' + static_cast<char>(i % 26)), choices[i]);
  add(Question{.text = std::move(question), .choices = std::move(choices)}, shown);
  const Prediction handle{document_.sections.size() - 1,
                          document_.sections.back().blocks.size() - 1};
  Question& asked = this->question(handle);
  if (!options_.flag("ask")) return handle;
  if (asked.choices.empty()) {
    if (const auto number = examiner_.number()) asked.predicted = number_text(*number, 10);
  } else if (const auto choice = examiner_.choice(asked.choices)) {
    asked.predicted = asked.choices[*choice];
  }
  return handle;
}

Question& Lab::question(Prediction prediction) {
  return std::get<Question>(document_.sections.at(prediction.section).blocks.at(prediction.block));
}

void Lab::settle(Question& asked, std::string actual, bool right) {
  asked.actual = std::move(actual);
  std::string text = "The question was: " + asked.text + " It came out as " + *asked.actual + ".";
  if (asked.predicted) {
    asked.right = right;
    text += " You said " + *asked.predicted + ": " + (right ? "right." : "not right.");
  }
  out_ << '\n' << paragraph(text) << std::flush;
}

void Lab::reveal(Prediction prediction, double actual, double tolerance) {
  Question& asked = question(prediction);
  if (!asked.choices.empty()) fail("'" + asked.text + "' is answered by a choice, not a number");
  const auto guess = parse_number_answer(asked.predicted.value_or(""));
  settle(asked, number_text(actual), guess && std::abs(*guess - actual) <= tolerance);
}

void Lab::reveal(Prediction prediction, std::size_t actual_choice) {
  Question& asked = question(prediction);
  if (actual_choice >= asked.choices.size())
    fail("'" + asked.text + "' has no choice " + std::to_string(actual_choice + 1));
  const std::string& actual = asked.choices[actual_choice];
  settle(asked, actual, asked.predicted == actual);
}

}  // namespace labgrad::labs
