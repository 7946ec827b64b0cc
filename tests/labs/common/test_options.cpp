#include <doctest/doctest.h>

#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "labs/common/options.h"
#include "labs/common/text.h"

using namespace labgrad;
using labs::Options;
using labs::UsageError;

namespace {

Options sample() {
  Options o;
  o.group("Common");
  o.add_flag("quick", "a short run");
  o.add_int("epochs", "N", "passes over the data", {}, {.min = 1});
  o.add_int("seed", "N", "start of the random streams", 7, {.min = 0, .max = 1000});
  o.add_choice("device", {"cpu", "cuda", "naive"}, "where to compute", "cpu");
  o.add_list("section", "NAME", "run this section only");
  o.group("This lab");
  o.add_double("rate", "X", "step size", 0.003, {.min = 0.0});
  o.add_string("out", "DIR", "folder for the results");
  return o;
}

void parse(Options& o, std::initializer_list<const char*> words) {
  std::vector<const char*> argv{"lab"};
  argv.insert(argv.end(), words);
  o.parse(static_cast<int>(argv.size()), argv.data());
}

std::string complaint(std::initializer_list<const char*> words) {
  Options o = sample();
  try {
    parse(o, words);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("options: defaults hold until a value is given") {
  Options o = sample();
  parse(o, {});
  CHECK_FALSE(o.flag("quick"));
  CHECK(o.integer("seed") == 7);
  CHECK(o.number("rate") == 0.003);
  CHECK(o.text("device") == "cpu");
  CHECK(o.integer_or("epochs", 12) == 12);
  CHECK(o.text_or("out", "here") == "here");
  CHECK(o.list("section").empty());
  CHECK_FALSE(o.given("seed"));
  CHECK_THROWS_AS(o.integer("epochs"), Error);
}

TEST_CASE("options: both spellings of a value, repeated options, negative numbers") {
  Options o = sample();
  o.add_int("shift", "N", "may be negative", 0);
  parse(o, {"--quick", "--epochs=3", "--seed", "1", "--seed", "2", "--section", "a", "--section=b",
            "--rate=1e-2", "--device", "cuda", "--out=x=y", "--shift", "-4"});
  CHECK(o.flag("quick"));
  CHECK(o.integer("epochs") == 3);
  CHECK(o.integer("seed") == 2);
  CHECK(o.given("seed"));
  CHECK(o.list("section") == std::vector<std::string>{"a", "b"});
  CHECK(o.number("rate") == 0.01);
  CHECK(o.text("device") == "cuda");
  CHECK(o.text("out") == "x=y");
  CHECK(o.integer("shift") == -4);
}

TEST_CASE("options: every kind of mistake is one clear line") {
  CHECK(complaint({"--epoch", "3"}).find("did you mean --epochs?") != std::string::npos);
  CHECK(complaint({"--zzz"}) == "unknown option --zzz; --help lists them all");
  CHECK(complaint({"quick"}).find("unexpected argument 'quick'") != std::string::npos);
  CHECK(complaint({"-q"}).find("two dashes") != std::string::npos);
  CHECK(complaint({"--epochs"}) == "--epochs needs a value: --epochs N");
  CHECK(complaint({"--epochs", "--quick"}) == "--epochs needs a value: --epochs N");
  CHECK(complaint({"--epochs="}) == "--epochs needs a value: --epochs N");
  CHECK(complaint({"--epochs", "many"}).find("expected a whole number") != std::string::npos);
  CHECK(complaint({"--epochs", "3x"}).find("expected a whole number") != std::string::npos);
  CHECK(complaint({"--epochs", "2.5"}).find("expected a whole number") != std::string::npos);
  CHECK(complaint({"--epochs", "0"}).find("at least 1") != std::string::npos);
  CHECK(complaint({"--seed", "1001"}).find("between 0 and 1000") != std::string::npos);
  CHECK(complaint({"--seed", "99999999999999999999"}).find("too large") != std::string::npos);
  CHECK(complaint({"--rate", "-1"}).find("at least 0") != std::string::npos);
  CHECK(complaint({"--rate", "nan"}).find("must be at least 0") != std::string::npos);
  CHECK(complaint({"--rate", "inf"}) != "");
  CHECK(complaint({"--rate", "0.1.2"}).find("expected a number") != std::string::npos);
  CHECK(complaint({"--quick=yes"}).find("takes no value") != std::string::npos);
  CHECK(complaint({"--device", "cdua"}) ==
        "--device cdua: expected cpu, cuda or naive; did you mean cuda?");
  for (const auto words : {std::initializer_list<const char*>{"--epochs"}, {"--zzz"}, {"-q"}})
    CHECK(complaint(words).find('\n') == std::string::npos);
}

TEST_CASE("options: wrong use by the lab is an error, not a usage error") {
  Options o = sample();
  CHECK_THROWS_AS(o.flag("nothing"), Error);
  CHECK_THROWS_AS(o.integer("rate"), Error);
  CHECK_THROWS_AS(o.add_flag("quick", "again"), Error);
  CHECK_THROWS_AS(o.add_choice("kind", {"a", "b"}, "", "c"), UsageError);
}

TEST_CASE("options: the manual fits the page, is aligned and names every option") {
  Options o = sample();
  o.add_string("long", "TEXT",
               "a sentence that goes on for so long that it can't stand on one line of the page "
               "and has to be continued in the same column on the next one",
               "x");
  const std::string manual = o.manual("build/bin/lab", "What the lab is about.");
  std::istringstream lines(manual);
  std::size_t column = 0;
  for (std::string line; std::getline(lines, line);) {
    CHECK(labs::display_width(line) <= labs::page_width);
    for (const char* help : {"a short run", "passes over", "where to compute", "a sentence"})
      if (const std::size_t at = line.find(help); at != std::string::npos) {
        if (column == 0) column = at;
        CHECK(at == column);
      }
  }
  CHECK(column > 0);
  for (const auto& name : {"quick", "epochs N", "device cpu|cuda|naive", "section NAME", "rate X"})
    CHECK(manual.find(std::string("--") + name) != std::string::npos);
  CHECK(manual.find("(default 0.003)") != std::string::npos);
  CHECK(manual.find("Common:") < manual.find("This lab:"));
}

TEST_CASE("options: values() lists what the run was made with") {
  Options o = sample();
  parse(o, {"--section", "a", "--section", "b", "--quick"});
  const std::vector<std::pair<std::string, std::string>> expected{
      {"quick", "true"}, {"seed", "7"}, {"device", "cpu"}, {"section", "a,b"}, {"rate", "0.003"}};
  CHECK(o.values() == expected);
}
