#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "engine/io/file.h"
#include "engine/io/json.h"
#include "labs/common/interrupt.h"
#include "labs/common/lab.h"
#include "labs/common/report.h"
#include "labs/common/results.h"
#include "tests/labs/common/xml.h"

using namespace labgrad;
using namespace labgrad::labs;
using labgrad::tests::count_of;
namespace fs = std::filesystem;

namespace {

// A lab with its own folder and streams.
struct Bench {
  fs::path dir = fs::temp_directory_path() / ("labgrad-lab-" + std::to_string(::getpid()));
  std::ostringstream out, err;
  std::istringstream in;
  Lab lab{{.name = "sample", .title = "A sample lab", .summary = "Shows nothing."}, out, err, in};

  ~Bench() { fs::remove_all(dir); }

  int run(std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"sample", "--out", dir.string()});
    std::vector<const char*> argv;
    for (const std::string& w : words) argv.push_back(w.c_str());
    return lab.run(static_cast<int>(argv.size()), argv.data());
  }
  Json results() const { return read_json(dir / "results.json"); }
  std::string report() const { return read_file(dir / "report.html"); }
};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("lab: a run with passing checks ends with status 0") {
  Bench b;
  b.lab.start([](Lab& l) { l.say("Generated data."); });
  b.lab.section("one", "Q1: the first", [](Lab& l) {
    l.say("The sum is {:.2f}.", 1.0);
    l.equation("attention.1", "A = softmax(Q Kᵀ / √d)");
    CHECK(l.check_close("the sum", 1.0, 1.0, 1e-6));
    l.table(Table({{"n"}, {"x", ".2f"}}, "Numbers").row(1, 0.5));
  });
  CHECK(b.run() == 0);
  CHECK(b.err.str() == "");
  CHECK(contains(b.out.str(), "\nQ1: the first\n══"));
  CHECK(contains(b.out.str(), "The sum is 1.00."));
  CHECK(contains(b.out.str(), "Data and settings"));
  const std::string text = b.out.str();
  const std::string last = "1 checks passed, 0 failed\n";
  CHECK(text.substr(text.size() - last.size()) == last);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!contains(line, "report.html")) CHECK(display_width(line) <= page_width);

  const Json r = b.results();
  CHECK(r.at("passed").as_int() == 1);
  CHECK(r.at("options").at("seed").as_string() == "0");
  const Json& section = r.at("sections").at(1);
  CHECK(section.at("name").as_string() == "one");
  CHECK(section.at("tables").at(0).at("rows").at(0).at(1).as_double() == 0.5);
  CHECK(section.at("checks").at(0).at("ok").as_bool());
  CHECK(section.at("equations").at(0).at("id").as_string() == "attention.1");
}

TEST_CASE("lab: a failed check is status 1, and nothing is lost") {
  Bench b;
  b.lab.section("a", "A", [](Lab& l) { CHECK_FALSE(l.check_less("small", 3.0, 2.0)); });
  b.lab.section("b", "B", [](Lab& l) { CHECK(l.check_equal("count", 3, 3)); });
  CHECK(b.run() == 1);
  CHECK(contains(b.out.str(), "1 checks passed, 1 failed"));
  CHECK(contains(b.out.str(), "FAIL"));
  CHECK(b.results().at("failed").as_int() == 1);
  CHECK(contains(b.report(), ">FAIL<"));
}

TEST_CASE("lab: NaN and infinity never pass a check") {
  Bench b;
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  b.lab.section("a", "A", [&](Lab& l) {
    CHECK_FALSE(l.check_close("close", nan, 1.0, 1.0));
    CHECK_FALSE(l.check_close("close", 1.0, nan, 1.0));
    CHECK_FALSE(l.check_close("close", inf, inf, 1.0));
    CHECK_FALSE(l.check_less("less", nan, 1.0));
    CHECK_FALSE(l.check_less("less", -inf, 1.0));
    CHECK_FALSE(l.check_greater("greater", nan, 1.0));
    CHECK_FALSE(l.check_greater("greater", inf, 1.0));
    CHECK_FALSE(l.check_between("between", nan, 0.0, 1.0));
    CHECK(l.check_between("between", 1.0, 0.0, 1.0));
  });
  CHECK(b.run() == 1);
  CHECK(b.results().at("failed").as_int() == 8);
  CHECK(b.results().at("sections").at(0).at("checks").at(0).at("measured").as_string() == "nan");
}

TEST_CASE("lab: exit statuses of errors, with one line on stderr and the results so far") {
  SUBCASE("a section that throws") {
    Bench b;
    b.lab.section("a", "A", [](Lab& l) {
      l.check_true("before", true);
      fail("the matrix is singular");
    });
    CHECK(b.run() == 1);
    CHECK(b.err.str() == "sample: section a: the matrix is singular\n");
    CHECK(b.results().at("sections").at(0).at("error").as_string() == "the matrix is singular");
    CHECK(b.results().at("passed").as_int() == 1);
    CHECK(contains(b.report(), "the matrix is singular"));
    CHECK(contains(b.out.str(), "1 checks passed, 0 failed"));
  }
  SUBCASE("a missing file") {
    Bench b;
    b.lab.section("a", "A", [](Lab&) { throw MissingFile("no/such/file"); });
    CHECK(b.run() == 3);
    CHECK(count_of(b.err.str(), "\n") == 1);
  }
  SUBCASE("a missing data folder") {
    Bench b;
    b.lab.section("a", "A", [](Lab&) {});
    CHECK(b.run({"--data", "/no/such/folder"}) == 3);
    CHECK(b.out.str() == "");
  }
  SUBCASE("wrong usage") {
    for (const char* wrong : {"--qick", "--epochs=0", "--device=tpu", "--section=c", "word"}) {
      Bench b;
      b.lab.section("a", "A", [](Lab&) { FAIL("must not run"); });
      CHECK(b.run({wrong}) == 2);
      CHECK(b.out.str() == "");
      CHECK(count_of(b.err.str(), "\n") == 1);
    }
    Bench b;
    CHECK(b.run({"--quick", "--full"}) == 2);
  }
  SUBCASE("stopped by the student") {
    Bench b;
    b.lab.section("a", "A", [](Lab&) { throw Interrupted("stopped"); });
    b.lab.section("b", "B", [](Lab&) { FAIL("must not run"); });
    CHECK(b.run() == 130);
    CHECK(fs::exists(b.dir / "report.html"));
  }
}

TEST_CASE("lab: --section chooses, an unknown one lists the names, --help lists all") {
  std::string ran;
  const auto make = [&](Bench& b) {
    for (const char* name : {"alpha", "beta", "gamma"})
      b.lab.section(name, std::string("Title of ") + name, [&ran, name](Lab&) { ran += name[0]; });
  };
  Bench chosen;
  make(chosen);
  CHECK(chosen.run({"--section", "gamma", "--section", "alpha"}) == 0);
  CHECK(ran == "ag");
  Bench unknown;
  make(unknown);
  CHECK(unknown.run({"--section", "gama"}) == 2);
  CHECK(contains(unknown.err.str(), "did you mean gamma?"));
  CHECK(contains(unknown.err.str(), "alpha, beta and gamma"));
  Bench help;
  make(help);
  CHECK(help.run({"--help"}) == 0);
  CHECK(contains(help.out.str(), "Title of beta"));
  CHECK(contains(help.out.str(), "--threads N"));
  CHECK(ran == "ag");
}

TEST_CASE("lab: budgets") {
  const auto epochs = [](std::vector<std::string> words) {
    Bench b;
    std::int64_t n = 0;
    b.lab.section("a", "A", [&](Lab& l) { n = l.epochs(1, 12, 100); });
    CHECK(b.run(std::move(words)) == 0);
    return n;
  };
  CHECK(epochs({}) == 12);
  CHECK(epochs({"--quick"}) == 1);
  CHECK(epochs({"--full"}) == 100);
  CHECK(epochs({"--full", "--epochs", "7"}) == 7);
}

TEST_CASE("lab: predictions are asked, read, scored; the end of the input is no trap") {
  Bench b;
  b.in.str("nonsense\n0.5\nb\n");
  b.lab.section("a", "A", [](Lab& l) {
    const auto number = l.predict("How large is the weight?");
    const auto choice = l.predict("Which key wins?", {"key 0", "key 1"});
    const auto missed = l.predict("Another number?");
    const auto later = l.predict("And this one?");
    l.reveal(number, 0.45, 0.1);
    l.reveal(choice, 0);
    l.reveal(missed, 1.0, 0.1);
    l.reveal(later, 1.0, 0.1);
  });
  CHECK(b.run({"--ask"}) == 0);
  CHECK(contains(b.out.str(), "1 of 2 predictions right"));
  CHECK(contains(b.out.str(), "You said 0.5: right."));
  CHECK(contains(b.out.str(), "You said key 1: not right."));
  const Json questions = b.results().at("sections").at(0).at("questions");
  CHECK(questions.at(0).at("right").as_bool());
  CHECK(questions.at(1).at("actual").as_string() == "key 0");
  CHECK(questions.at(2).at("right").is_null());

  Bench silent;
  silent.lab.section("a", "A", [](Lab& l) { l.reveal(l.predict("How large?"), 2.0, 0.1); });
  CHECK(silent.run() == 0);
  CHECK(contains(silent.out.str(), "Predict first: How large?"));
  CHECK(contains(silent.out.str(), "It came out as 2."));
  CHECK_FALSE(contains(silent.out.str(), "predictions right"));
}

TEST_CASE("lab: answers in all their spellings") {
  CHECK(parse_number_answer(" 25% ") == 0.25);
  CHECK(parse_number_answer("1e-3") == 1e-3);
  CHECK_FALSE(parse_number_answer("1 2"));
  CHECK_FALSE(parse_number_answer("nan"));
  CHECK_FALSE(parse_number_answer(""));
  const std::vector<std::string> choices{"Up", "Down"};
  CHECK(parse_choice_answer("b", choices) == 1);
  CHECK(parse_choice_answer("A)", choices) == 0);
  CHECK(parse_choice_answer("2", choices) == 1);
  CHECK(parse_choice_answer("down", choices) == 1);
  CHECK_FALSE(parse_choice_answer("c", choices));
}

TEST_CASE("lab: the report stands alone and escapes what it shows") {
  Bench b;
  b.lab.section("a", "A <b> & \"c\"", [](Lab& l) {
    l.say("Code `x<y>` and <script>alert(1)</script> & more.");
    l.show("if (a < b && c > d)");
    l.table(Table({{"<col>"}}).row("a<b"));
    l.picture("pic/ture", "A caption", "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>");
  });
  CHECK(b.run() == 0);
  CHECK(fs::exists(b.dir / "pic-ture.svg"));
  std::string html = b.report();
  CHECK(contains(html, "<code>x&lt;y&gt;</code>"));
  CHECK_FALSE(contains(html, "<script"));
  CHECK(contains(html, "a&lt;b"));
  CHECK(contains(html, "<svg xmlns"));
  const std::string name_space = " xmlns=\"http://www.w3.org/2000/svg\"";
  for (std::size_t at; (at = html.find(name_space)) != std::string::npos;)
    html.erase(at, name_space.size());
  for (const char* external : {"http:", "https:", "src=", "@import", "url(", "<link"})
    CHECK_FALSE(contains(html, external));
  CHECK(count_of(html, "href=") == count_of(html, "href=\"#"));
  // But for the tags that HTML leaves open, the page is well-formed XML.
  std::string page = html.substr(html.find("<html"));
  for (std::size_t at; (at = page.find("<meta")) != std::string::npos;)
    page.erase(at, page.find('>', at) + 1 - at);
  const std::size_t style = page.find("<style>"), style_end = page.find("</style>");
  page.erase(style, style_end + 8 - style);
  CHECK(tests::xml_fault(page) == "");
}

TEST_CASE("lab: the environment names the data folder") {
  Bench b;
  fs::create_directories(b.dir);
  fs::path found;
  b.lab.section("a", "A", [&](Lab& l) { found = l.data_dir(); });
  ::setenv("LABGRAD_DATA", b.dir.c_str(), 1);
  CHECK(b.run() == 0);
  CHECK(found == b.dir);
  ::setenv("LABGRAD_DATA", "/no/such/folder", 1);
  Bench missing;
  missing.lab.section("a", "A", [](Lab& l) { l.data_dir(); });
  CHECK(missing.run() == 3);
  ::unsetenv("LABGRAD_DATA");
}

TEST_CASE("results: the version is the build's") {
  const std::string makefile = read_file("Makefile");
  CHECK(contains(makefile, std::string("VERSION := ") + version + "\n"));
}

TEST_CASE("xml: the checker itself can fail") {
  CHECK(tests::xml_fault("<a b=\"1\"><c/>text &amp; more</a>\n") == "");
  CHECK(tests::xml_fault("<a><b></a></b>") != "");
  CHECK(tests::xml_fault("<a b=1></a>") != "");
  CHECK(tests::xml_fault("<a>&</a>") != "");
  CHECK(tests::xml_fault("<a>") != "");
  CHECK(tests::xml_fault("<a b=\"1\" b=\"2\"/>") != "");
  CHECK(tests::xml_fault("<a/><b/>") != "");
}
