// What no source and no flag of the build may do, whatever the compiler thinks of it.

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/docs/page.h"

namespace {

namespace fs = std::filesystem;
using labgrad::tests::contents;

std::string without_comment(const std::string& line, const std::string& mark) {
  return line.substr(0, line.find(mark));
}

// "file:line: text" of each line of code that the pattern is found in.
std::vector<std::string> found(const std::string& text, const std::string& file,
                               const std::string& comment, const std::regex& pattern) {
  std::vector<std::string> places;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (std::regex_search(without_comment(line, comment), pattern))
      places.push_back(file + ":" + std::to_string(number) + ": " + line);
  }
  return places;
}

const std::regex relaxed(
    R"(-Ofast|-f(fast-math|unsafe-math|associative-math|finite-math|reciprocal-math|no-signed-zeros))");
const std::regex foreign_random(
    R"(std::(ranges::)?(shuffle|sample|random_device|random_shuffle|default_random_engine|[a-z_]+_distribution)\b|\bs?rand\(\)|<random>)");

}  // namespace

// Fast-math removed the tests for NaN and broke the tails of exp and tanh.
TEST_CASE("sources: no flag of the build relaxes IEEE arithmetic") {
  std::string flags;
  for (const char* file : {"Makefile", ".ci/run"})
    for (const std::string& place : found(contents(file), file, "#", relaxed))
      flags += place + "\n";
  CHECK(flags == "");
  CHECK(contents("Makefile").find("-ffp-contract=off") != std::string::npos);
  CHECK(found("x := -O3 -ffast-math\n", "here", "#", relaxed).size() == 1);
  CHECK(found("x := -Ofast\n# -Ofast\n", "here", "#", relaxed).size() == 1);
#ifdef __FAST_MATH__
  FAIL("compiled with -ffast-math");
#endif
  const volatile double zero = 0;
  const double nan = zero / zero, infinity = 1 / zero;
  CHECK(std::isnan(nan));
  CHECK(nan != nan);
  CHECK(std::isinf(infinity));
  CHECK(std::signbit(-zero * 1.0));
}

// The same seed gave other numbers with another standard library.
TEST_CASE("sources: random numbers come from the library's own streams alone") {
  std::string uses;
  std::size_t files = 0;
  for (const char* folder : {"engine", "nn", "data", "labs"})
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".h" && path.extension() != ".cpp" && path.extension() != ".cu")
        continue;
      ++files;
      for (const std::string& place :
           found(contents(path), path.generic_string(), "//", foreign_random))
        uses += place + "\n";
    }
  CHECK(uses == "");
  CHECK(files > 100);
  for (const char* line : {"std::shuffle(a, b, g);", "std::normal_distribution<float> d;",
                           "#include <random>", "std::uniform_int_distribution<int> d(0, 5);"})
    CHECK(found(line, "here", "//", foreign_random).size() == 1);
}
