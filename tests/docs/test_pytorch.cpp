// docs/pytorch.md: the names in its middle column are in the headers that it gives, or in one of
// the other public headers.

#include <doctest/doctest.h>

#include <regex>
#include <set>

#include "tests/docs/page.h"

namespace {

using labgrad::tests::contents;
namespace fs = std::filesystem;

std::string public_headers() {
  std::string all;
  for (const char* folder : {"engine", "engine/ops", "engine/io", "nn", "data"})
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".h") all += contents(entry.path());
  return all;
}

bool declares(const std::string& text, const std::string& name) {
  return std::regex_search(text, std::regex("\\b" + name + "\\b"));
}

}  // namespace

TEST_CASE("the PyTorch dictionary: what it names exists, where it says") {
  static const std::regex row(R"(^\| .* \| (.*) \| `([^`]+)` \|$)");
  static const std::regex called(R"(([A-Za-z_][A-Za-z_0-9]*)(?=[({<]))");
  const std::string all = public_headers();
  std::istringstream lines(contents("docs/pytorch.md"));
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    std::smatch m;
    if (!std::regex_match(line, m, row)) continue;
    ++rows;
    const std::string ours = m[1], header = m[2];
    const std::string text = contents(header);
    CHECK_MESSAGE(!text.empty(), "there is no " << header);
    bool here = false;
    for (std::sregex_iterator it(ours.begin(), ours.end(), called), end; it != end; ++it) {
      const std::string name = (*it)[1];
      if (name == "a" || name == "evaluating") continue;
      CHECK_MESSAGE((declares(all, name) || declares(text, name)), name << " is nowhere: " << line);
      here |= declares(text, name);
    }
    CHECK_MESSAGE((here || ours.find("in a scope") != std::string::npos ||
                   ours.find("==") != std::string::npos),
                  header << " has none of: " << ours);
  }
  CHECK(rows > 55);
}
