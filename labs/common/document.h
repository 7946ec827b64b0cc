#pragma once
// What a lab has said: sections of paragraphs, equations, tables, checks and pictures. The
// terminal, results.json and report.html all show this one document.

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "labs/common/table.h"

namespace labgrad::labs {

struct Paragraph {
  std::string text = {};  // `code` between backquotes
};

struct Equation {
  std::string id = {};  // as in docs/equations.md: "attention.1"; may be empty
  std::string text = {};
};

// Shown letter by letter, with the width of each letter equal: programs, drawings made of letters.
struct Preformatted {
  std::string text = {};
};

// A claim, what was measured and what bounds it.
struct Check {
  std::string what = {};
  Cell measured = {};
  std::string bound = {};
  bool ok = false;

  std::string measured_text() const;
};

struct Picture {
  std::string name = {};     // of the file, without .svg
  std::string caption = {};  // what is to be seen
  std::string svg = {};
};

// What the student was asked before the result, and how it came out.
struct Question {
  std::string text = {};
  std::vector<std::string> choices = {};      // empty: the answer is a number
  std::optional<std::string> predicted = {};  // nothing: not asked, or not answered
  std::optional<std::string> actual = {};     // nothing: not yet known
  std::optional<bool> right = {};             // nothing: not answered
};

using Block = std::variant<Paragraph, Equation, Preformatted, Table, Check, Picture, Question>;

struct Section {
  std::string name = {};   // as in --section
  std::string title = {};  // as in the heading
  std::vector<Block> blocks = {};
  double seconds = 0.0;
  std::string error = {};  // why the section ended early, if it did
};

struct Document {
  std::string name = {};  // of the lab's folder and program
  std::string title = {};
  std::string summary = {};  // one sentence
  std::vector<std::pair<std::string, std::string>> options = {};
  std::vector<Section> sections = {};

  std::size_t checks(bool ok) const;  // how many passed, how many failed
};

}  // namespace labgrad::labs
