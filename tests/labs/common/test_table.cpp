#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "engine/error.h"
#include "labs/common/table.h"

using namespace labgrad;
using namespace labgrad::labs;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("table: columns are aligned by display width") {
  Table t({{"σ", ".3f"}, {"wort"}, {"n"}}, "Größen");
  t.row(0.5, "größe", 3).row(12.25, "x", 1000).row(1, "ß²", Cell{});
  const auto lines = lines_of(t.text());
  REQUIRE(lines.size() == 6);
  CHECK(lines[0] == "  Größen");
  CHECK(lines[1] == "       σ   wort       n");
  CHECK(lines[2] == "  ──────   ─────   ────");
  CHECK(lines[3] == "   0.500   größe      3");
  CHECK(lines[4] == "  12.250   x       1000");
  CHECK(lines[5] == "   1.000   ß²");
}

TEST_CASE("table: a text that fits stands as it is, blanks and all") {
  Table t({{"drawing"}});
  t.row("ä  ü   ▓▓");
  CHECK(lines_of(t.text()).back() == "  ä  ü   ▓▓");
}

TEST_CASE("table: mixed columns stand where most of their cells belong") {
  Table t({{"value"}, {"word"}, {"forced", "", Align::centre}});
  t.row(1.5, "a", 1).row("-", "b", 2).row(2.5, 3, 3);
  CHECK(t.align_of(0) == Align::right);
  CHECK(t.align_of(1) == Align::left);
  CHECK(t.align_of(2) == Align::centre);
  CHECK(t.cell_text(0, 0) == "1.5");
  Table truth({{"held"}});
  truth.row(true).row(false);
  CHECK(truth.cell_text(0, 0) == "yes");
  CHECK(truth.cell_text(1, 0) == "no");
}

TEST_CASE("table: a long text wraps inside its column") {
  Table t({{"n"}, {"what"}});
  std::string words;
  for (int i = 0; i < 60; ++i) words += "word ";
  t.row(1, words).row(2, "short");
  const auto lines = lines_of(t.text());
  CHECK(lines.size() > 5);
  for (const auto& line : lines) CHECK(display_width(line) <= page_width);
  CHECK(lines[3].find("      word") == 0);  // continued under its own column
  CHECK(lines.back() == "  2   short");
}

TEST_CASE("table: too many columns are printed in blocks that repeat the first") {
  std::vector<Column> columns{{"T"}};
  std::vector<Cell> row{make_cell(5)};
  for (int i = 0; i < 30; ++i) {
    columns.push_back({"column" + std::to_string(i), ".3f"});
    row.push_back(make_cell(0.125 * i));
  }
  Table t(columns);
  t.add_row(row);
  const auto lines = lines_of(t.text());
  int blocks = 0;
  for (const auto& line : lines) {
    CHECK(display_width(line) <= page_width);
    if (line.rfind("  T", 0) == 0) ++blocks;
  }
  CHECK(blocks >= 3);
  for (int i = 0; i < 30; ++i)
    CHECK(t.text().find("column" + std::to_string(i)) != std::string::npos);
}

TEST_CASE("table: mistakes are named") {
  Table t({{"a"}, {"b", ".3q"}});
  CHECK_THROWS_WITH_AS(t.row(1), doctest::Contains("a row of 1 cells for 2 columns"), Error);
  CHECK_THROWS_WITH_AS(t.row(1, 2.0), doctest::Contains("column 'b'"), Error);
  CHECK_THROWS_AS(Table({}), Error);
}
