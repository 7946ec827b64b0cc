// docs/equations.md against the code: no id without its formula, its code and its samples.

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "engine/samples.h"
#include "tests/docs/page.h"

namespace {

using labgrad::tests::contents;

namespace fs = std::filesystem;

// id -> the files whose comments cite it.
std::map<std::string, std::set<std::string>> cited_ids() {
  static const std::regex id(R"(\[([a-z_0-9]+\.[a-z_0-9]+)\])");
  std::map<std::string, std::set<std::string>> found;
  for (const char* folder : {"engine", "nn", "data", "labs"})
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".h" && path.extension() != ".cpp") continue;
      std::istringstream lines(contents(path));
      for (std::string line; std::getline(lines, line);) {
        const auto comment = line.find("//");
        if (comment == std::string::npos) continue;
        const std::string text = line.substr(comment);
        for (std::sregex_iterator it(text.begin(), text.end(), id), end; it != end; ++it)
          found[(*it)[1]].insert(path.generic_string());
      }
    }
  return found;
}

struct Row {
  std::string formula, file;
};

// id -> its row in docs/equations.md: | `id` | $formula$ | [file](../file) |
std::map<std::string, Row> documented_ids() {
  static const std::regex row(R"(^\| `([^`]+)` \| \$(.*)\$ \| \[([^\]]+)\]\(\.\./([^)]+)\) \|$)");
  std::map<std::string, Row> found;
  std::istringstream lines(contents("docs/equations.md"));
  for (std::string line; std::getline(lines, line);) {
    std::smatch m;
    if (!std::regex_match(line, m, row)) continue;
    CHECK_MESSAGE(m[3] == m[4], line);
    CHECK_MESSAGE(found.emplace(m[1], Row{m[2], m[3]}).second, "listed twice: " << m[1]);
  }
  return found;
}

// ids printed by the labs: lab.equation("attention.1", ...).
std::set<std::string> printed_ids() {
  static const std::regex call(R"(equation\(\s*"([^"]+)\")");
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator("labs")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = contents(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end; ++it)
      found.insert((*it)[1]);
  }
  return found;
}

}  // namespace

TEST_CASE("equations: every id that the code cites has a formula, and every formula its code") {
  const auto cited = cited_ids();
  const auto documented = documented_ids();
  REQUIRE(documented.size() > 80);
  for (const auto& [cited_id, files] : cited) {
    const std::string id = cited_id, file = *files.begin();  // clang 14 captures no bindings
    CHECK_MESSAGE(documented.contains(id),
                  id << " is cited in " << file << " and missing in docs/equations.md");
  }
  for (const auto& [documented_id, documented_row] : documented) {
    const std::string id = documented_id;
    const Row row = documented_row;
    CHECK_MESSAGE(!row.formula.empty(), id << " has no formula");
    const auto it = cited.find(id);
    CHECK_MESSAGE((it != cited.end() && it->second.contains(row.file)),
                  id << " is not cited in " << row.file);
  }
}

TEST_CASE("equations: every op with a gradient is sampled") {
  std::set<std::string> sampled;
  for (const labgrad::OpSample& sample : labgrad::op_samples()) sampled.insert(sample.op);
  for (const auto& documented : documented_ids())
    if (const std::string id = documented.first; id.ends_with(".grad")) {
      const std::string op = id.substr(0, id.size() - 5);
      CHECK_MESSAGE(sampled.contains(op), id << " has no row in engine/samples/");
    }
}

TEST_CASE("equations: what a lab prints under an id is one of them") {
  const auto documented = documented_ids();
  for (const std::string& id : printed_ids())
    if (!id.empty()) CHECK_MESSAGE(documented.contains(id), "a lab prints " << id);
}
