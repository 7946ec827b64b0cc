#pragma once
// Text for a terminal: how wide a UTF-8 string is on the screen, padding, wrapping, near misses.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace labgrad::labs {

// Everything that a lab prints fits this many columns.
inline constexpr std::size_t page_width = 100;

// The code point that starts at `text[position]`; moves `position` behind it. A malformed byte
// counts as one U+FFFD, so that any input is walked to its end.
char32_t next_code_point(std::string_view text, std::size_t& position);

// Columns that `text` takes on a terminal: Greek letters, umlauts and superscripts take one,
// combining marks none, East Asian wide characters two.
std::size_t display_width(std::string_view text);

enum class Align { left, right, centre };

// `text` with spaces added up to `width` columns; a longer text is returned as it is.
std::string pad(std::string_view text, std::size_t width, Align align = Align::left);

// Splits `text` into lines of at most `width` columns. Breaks at spaces; a line break in `text` is
// kept; a single word longer than a line is cut.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

// `text` wrapped to the page, each line behind `indent` and ended by a line break.
std::string paragraph(std::string_view text, std::string_view indent = "");

// Number of insertions, deletions, replacements and swaps of neighbours (of bytes) that lead from
// `a` to `b`: optimal string alignment.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate closest to `name` if it is close enough to be a slip of the keyboard, else "".
std::string closest(std::string_view name, const std::vector<std::string>& candidates);

// "a, b and c"; "" for an empty list.
std::string join_names(const std::vector<std::string>& names, std::string_view last = "and");

// `x` with `digits` significant digits, without superfluous zeros or signs: 0.35, 1e-08, nan.
std::string number_text(double x, int digits = 4);

// `text` with & < > " ' replaced by entities and characters that XML forbids left out: safe
// between tags and in attributes, in HTML and in SVG.
std::string escape_xml(std::string_view text);

// `name` as part of a file name: letters, digits, '-', '_' and '.' stay, the rest becomes '-'.
std::string file_safe(std::string_view name);

}  // namespace labgrad::labs
