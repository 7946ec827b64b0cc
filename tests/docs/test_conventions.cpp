// docs/conventions.md: each row names a test, and the test is there.

#include <doctest/doctest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/docs/page.h"

namespace {

using labgrad::tests::contents;

namespace fs = std::filesystem;

std::set<std::string> test_names() {
  static const std::regex name(R"re(TEST_CASE\(\s*"([^"]+)")re");
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator("tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = contents(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it)
      found.insert((*it)[1]);
  }
  return found;
}

}  // namespace

TEST_CASE("conventions: every row says what pins it, and that test exists") {
  static const std::regex row(R"(^\|.*\| `([^`|]+)` \|$)");
  const std::set<std::string> tests = test_names();
  std::istringstream lines(contents("docs/conventions.md"));
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || line.starts_with("| ---") || line.starts_with("| what "))
      continue;
    ++rows;
    std::smatch m;
    const bool pinned = std::regex_match(line, m, row);
    CHECK_MESSAGE(pinned, "no test is named: " << line);
    if (pinned) CHECK_MESSAGE(tests.contains(m[1]), "there is no test '" << m[1] << "'");
  }
  CHECK(rows > 45);
}
