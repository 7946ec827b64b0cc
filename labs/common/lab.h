#pragma once
// A lab program: options, sections that tell and check the lesson, results and report.
//
//   int main(int argc, char** argv) {
//     labgrad::labs::Lab lab({.name = "attention", .title = "Attention from scratch"});
//     lab.options().add_int("heads", "N", "attention heads", 4, {.min = 1});
//     lab.section("example", "Experiment 12: a worked example", [&](Lab& l) {
//       l.say("The weights sum to {}.", sum);
//       l.check_close("weights sum to 1", sum, 1.0, 1e-6);
//     });
//     return lab.run(argc, argv);
//   }

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "labs/common/ask.h"
#include "labs/common/document.h"
#include "labs/common/options.h"
#include "labs/common/table.h"

namespace labgrad::labs {

struct LabInfo {
  std::string name = {};     // of the folder and the program
  std::string title = {};    // the heading of the report
  std::string summary = {};  // a sentence or two: what the lab shows
  std::int64_t seed = 0;
};

// How much time the student gives: 20 seconds, about 3 minutes, the course's own budget.
enum class Budget { quick, standard, full };

class Lab {
 public:
  using Body = std::function<void(Lab&)>;

  explicit Lab(LabInfo info);
  // With other streams than the terminal's.
  Lab(LabInfo info, std::ostream& out, std::ostream& err, std::istream& in);

  // The common options are registered already; the lab adds its own before `run`.
  Options& options() { return options_; }
  const Options& options() const { return options_; }

  // Runs before the first section, whichever that is: what data is used, and how to get the real.
  void start(Body body);
  // Sections run in the order in which they are added; `name` is what --section takes. Each starts
  // with the default generator at --seed, so that it draws the same numbers when it runs alone.
  void section(std::string name, std::string title, Body body);

  // Reads the command line, runs the sections, writes results.json and report.html after each.
  // Returns the exit status: 0 all checks passed, 1 a check or a section failed, 2 usage, 3 a
  // missing file, 130 stopped by Ctrl-C.
  int run(int argc, const char* const* argv);

  // ---- what the student asked for; valid while sections run
  Budget budget() const;
  // The value for the budget.
  template <class T>
  T by_budget(T quick, T standard, T full) const {
    return budget() == Budget::quick ? quick : budget() == Budget::full ? full : standard;
  }
  // --epochs and --batch if given, else the value for the budget.
  std::int64_t epochs(std::int64_t quick, std::int64_t standard, std::int64_t full) const;
  std::int64_t batch(std::int64_t quick, std::int64_t standard, std::int64_t full) const;
  std::int64_t seed() const { return options_.integer("seed"); }
  bool resume() const { return options_.flag("resume"); }
  // --out, or build/out/<lab>; the folder exists.
  std::filesystem::path out_dir() const;
  // Where the real data may be: --data, else $LABGRAD_DATA, else data/files. Throws MissingFile if
  // one of the first two is named and does not exist.
  std::filesystem::path data_dir() const;

  // ---- telling: to the terminal and into the document
  // A paragraph with numbers put in as by fmt; wrapped to the page.
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    add_paragraph(fmt::format(format, std::forward<Args>(args)...));
  }
  void add_paragraph(std::string text);
  // `id` as in docs/equations.md, or "".
  void equation(std::string id, std::string text);
  // Letter by letter, as it stands.
  void show(std::string text);
  void table(Table table);
  // Also writes <out>/<name>.svg.
  void picture(std::string name, std::string caption, std::string svg);

  // ---- checking: prints one line, counts, returns whether it held. NaN never passes.
  bool check(std::string what, Cell measured, std::string bound, bool ok);
  bool check_true(std::string what, bool measured);
  bool check_equal(std::string what, std::int64_t got, std::int64_t want);
  bool check_close(std::string what, double got, double want, double tolerance);  // absolute
  bool check_less(std::string what, double got, double bound);
  bool check_greater(std::string what, double got, double bound);
  bool check_between(std::string what, double got, double low, double high);

  // ---- predicting: prints the question now, with --ask waits for the answer; `reveal` says later
  // how it came out and scores it.
  struct Prediction {
    std::size_t section, block;
  };
  Prediction predict(std::string question);  // the answer is a number
  Prediction predict(std::string question, std::vector<std::string> choices);
  void reveal(Prediction prediction, double actual, double tolerance);
  void reveal(Prediction prediction, std::size_t actual_choice);

  const Document& document() const { return document_; }

 private:
  struct Entry {
    std::string name, title;
    Body body;
  };

  void add_common_options();
  std::string manual() const;
  void configure();  // checks the command line as a whole and sets up what it names
  std::vector<const Entry*> chosen() const;
  int run_sections();
  int run_entry(const Entry& entry);  // exit status that the entry asks for: 0 to go on
  void write_files() const;
  void finish() const;
  template <class T>
  void add(T block, const std::string& text);
  void print_score() const;
  Question& question(Prediction prediction);
  void settle(Question& question, std::string actual, bool right);

  LabInfo info_;
  std::ostream& out_;
  std::ostream& err_;
  std::istream& in_;
  Options options_;
  std::vector<Entry> starts_, entries_;
  Document document_;
  Examiner examiner_;
};

}  // namespace labgrad::labs
