#pragma once
// Tables: the same rows go to the terminal (aligned, within the page), to results.json and to
// report.html.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "labs/common/text.h"

namespace labgrad::labs {

// Nothing (printed as an empty cell), a truth value, a whole number, a number, a text.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

template <class T>
Cell make_cell(const T& value) {
  if constexpr (std::is_same_v<T, Cell>) {
    return value;
  } else if constexpr (std::is_same_v<T, bool>) {
    return Cell(value);
  } else if constexpr (std::integral<T>) {
    return Cell(static_cast<std::int64_t>(value));
  } else if constexpr (std::floating_point<T>) {
    return Cell(static_cast<double>(value));
  } else {
    return Cell(std::string(value));
  }
}

struct Column {
  std::string header;
  // How to write the numbers of this column, as in fmt: ".4f", ".2e", "+.3f", ",d". Empty: four
  // significant digits.
  std::string format = "";
  // Without it numbers stand right and text left.
  std::optional<Align> align = {};
};

class Table {
 public:
  explicit Table(std::vector<Column> columns, std::string title = "");

  // One cell a column: numbers, texts, bools, or Cell{} for an empty one.
  template <class... T>
  Table& row(const T&... values) {
    return add_row({make_cell(values)...});
  }
  Table& add_row(std::vector<Cell> cells);

  const std::string& title() const { return title_; }
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

  // The cell as printed, and the side on which its column stands.
  std::string cell_text(std::size_t row, std::size_t column) const;
  Align align_of(std::size_t column) const;

  // The table for a terminal of `width` columns, each line behind `indent`. Long texts are wrapped
  // within their column; if even that is too wide, the columns are printed in several blocks that
  // each repeat the first column.
  std::string text(std::size_t width = page_width, std::string_view indent = "  ") const;

 private:
  struct Layout;  // the columns of one block and their widths
  std::vector<Layout> layouts(std::size_t width) const;

  std::string title_;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace labgrad::labs
