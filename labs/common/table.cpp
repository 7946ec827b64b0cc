#include "labs/common/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/error.h"

namespace labgrad::labs {
namespace {

constexpr std::size_t gap = 3;  // blanks between two columns

// 12345678 -> "12,345,678". The format ",d", which fmt itself leaves to the locale.
std::string with_thousands(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

template <class T>
std::string formatted(const Column& column, T value) {
  try {
    return fmt::format(fmt::runtime("{:" + column.format + "}"), value);
  } catch (const fmt::format_error& e) {
    fail(fmt::format("table column '{}': format '{}' does not fit the value {} ({})", column.header,
                     column.format, value, e.what()));
  }
}

std::size_t widest_word(std::string_view text) {
  std::size_t widest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    widest = std::max(widest, display_width(text.substr(at, end - at)));
    at = end + 1;
  }
  return widest;
}

std::size_t widest_line(std::string_view text) {
  std::size_t widest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    widest = std::max(widest, display_width(text.substr(at, end - at)));
    at = end + 1;
  }
  return widest;
}

}  // namespace

struct Table::Layout {
  std::vector<std::size_t> columns, widths;
};

Table::Table(std::vector<Column> columns, std::string title)
    : title_(std::move(title)), columns_(std::move(columns)) {
  if (columns_.empty()) fail("table '" + title_ + "' has no columns");
}

Table& Table::add_row(std::vector<Cell> cells) {
  if (cells.size() != columns_.size())
    fail(fmt::format("table '{}': a row of {} cells for {} columns ('{}', ...)", title_,
                     cells.size(), columns_.size(), columns_[0].header));
  rows_.push_back(std::move(cells));
  for (std::size_t c = 0; c < columns_.size(); ++c) cell_text(rows_.size() - 1, c);
  return *this;
}

std::string Table::cell_text(std::size_t row, std::size_t column) const {
  const Cell& cell = rows_[row][column];
  const Column& how = columns_[column];
  if (const auto* b = std::get_if<bool>(&cell)) return *b ? "yes" : "no";
  if (const auto* i = std::get_if<std::int64_t>(&cell)) {
    // A column of ".4f" may hold a whole number: the format of a double is of no use to it.
    if (how.format == ",d") return with_thousands(*i);
    const bool for_integers = how.format.empty() || how.format.find('.') == std::string::npos;
    return for_integers ? formatted(how, *i) : formatted(how, static_cast<double>(*i));
  }
  if (const auto* d = std::get_if<double>(&cell))
    return how.format.empty() ? number_text(*d) : formatted(how, *d);
  if (const auto* s = std::get_if<std::string>(&cell)) return *s;
  return "";
}

Align Table::align_of(std::size_t column) const {
  if (columns_[column].align) return *columns_[column].align;
  // A dash in a column of numbers doesn't move it to the left, a number among words not to the
  // right.
  std::size_t numbers = 0, words = 0;
  for (const auto& row : rows_) {
    const Cell& cell = row[column];
    if (std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell))
      ++numbers;
    if (std::holds_alternative<std::string>(cell)) ++words;
  }
  return numbers > 0 && numbers >= words ? Align::right : Align::left;
}

std::vector<Table::Layout> Table::layouts(std::size_t width) const {
  const std::size_t n = columns_.size();
  std::vector<std::size_t> natural(n), least(n);
  for (std::size_t c = 0; c < n; ++c) {
    natural[c] = widest_line(columns_[c].header);
    least[c] = widest_word(columns_[c].header);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const std::string cell = cell_text(r, c);
      natural[c] = std::max(natural[c], widest_line(cell));
      least[c] = std::max(least[c], widest_word(cell));
    }
    least[c] = std::min(least[c], width / 2);
  }

  // Fill blocks from the left, every block but the first starting with column 0.
  std::vector<Layout> blocks(1);
  std::size_t used = 0;
  for (std::size_t c = 0; c < n; ++c) {
    const std::size_t more = least[c] + (blocks.back().columns.empty() ? 0 : gap);
    if (used + more > width && blocks.back().columns.size() > (c == 1 ? 0u : 1u)) {
      blocks.push_back({{0}, {}});
      used = least[0];
    }
    used += least[c] + (blocks.back().columns.empty() ? 0 : gap);
    blocks.back().columns.push_back(c);
  }

  // In each block: natural widths, the widest that can still shrink gives way until all fit.
  for (Layout& block : blocks) {
    std::size_t total = gap * (block.columns.size() - 1);
    for (std::size_t c : block.columns) {
      block.widths.push_back(natural[c]);
      total += natural[c];
    }
    while (total > width) {
      std::size_t* widest = nullptr;
      for (std::size_t i = 0; i < block.widths.size(); ++i) {
        std::size_t& w = block.widths[i];
        if (w > least[block.columns[i]] && (!widest || w > *widest)) widest = &w;
      }
      if (!widest) break;
      --*widest;
      --total;
    }
  }
  return blocks;
}

std::string Table::text(std::size_t width, std::string_view indent) const {
  std::string out;
  if (!title_.empty()) {
    for (const std::string& line : wrap(title_, width - display_width(indent)))
      out.append(indent).append(line) += '\n';
  }

  const auto blocks = layouts(width - display_width(indent));
  for (const Layout& block : blocks) {
    const auto print = [&](auto text_of, bool bottom, auto align) {
      std::vector<std::vector<std::string>> cells;
      std::size_t height = 0;
      for (std::size_t i = 0; i < block.columns.size(); ++i) {
        const std::string text = text_of(block.columns[i]);
        // wrap() would join runs of blanks, which a cell that fits may hold on purpose.
        const bool fits =
            text.find('\n') == std::string::npos && display_width(text) <= block.widths[i];
        cells.push_back(fits ? std::vector<std::string>{text} : wrap(text, block.widths[i]));
        height = std::max(height, cells.back().size());
      }
      for (std::size_t l = 0; l < height; ++l) {
        std::string line(indent);
        for (std::size_t i = 0; i < cells.size(); ++i) {
          const std::size_t blank = bottom ? height - cells[i].size() : 0;
          const std::string part =
              l >= blank && l - blank < cells[i].size() ? cells[i][l - blank] : "";
          if (i > 0) line += std::string(gap, ' ');
          line += pad(part, block.widths[i], align(block.columns[i]));
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
      }
    };
    const auto align = [&](std::size_t c) { return align_of(c); };
    if (&block != &blocks.front()) out += '\n';
    print([&](std::size_t c) { return columns_[c].header; }, true, align);
    std::string rule(indent);
    for (std::size_t i = 0; i < block.widths.size(); ++i) {
      if (i > 0) rule += std::string(gap, ' ');
      for (std::size_t k = 0; k < block.widths[i]; ++k) rule += "─";
    }
    out += rule + '\n';
    for (std::size_t r = 0; r < rows_.size(); ++r)
      print([&, r](std::size_t c) { return cell_text(r, c); }, false, align);
  }
  return out;
}

}  // namespace labgrad::labs
