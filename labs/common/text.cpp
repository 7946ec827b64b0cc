#include "labs/common/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace labgrad::labs {
namespace {

constexpr char32_t replacement = 0xFFFD;

struct Range {
  char32_t first, last;
};

// Combining marks and joiners; enough for the letters with marks that formulas and European
// languages use.
constexpr std::array<Range, 8> zero_width{{{0x0300, 0x036F},
                                           {0x1AB0, 0x1AFF},
                                           {0x1DC0, 0x1DFF},
                                           {0x200B, 0x200F},
                                           {0x20D0, 0x20FF},
                                           {0xFE00, 0xFE0F},
                                           {0xFE20, 0xFE2F},
                                           {0xFEFF, 0xFEFF}}};

// The blocks that Unicode's EastAsianWidth.txt marks as wide or full width.
constexpr std::array<Range, 9> double_width{{{0x1100, 0x115F},
                                             {0x2E80, 0x303E},
                                             {0x3041, 0xA4CF},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE6F},
                                             {0xFF00, 0xFF60},
                                             {0x1F300, 0x1FAFF},
                                             {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool within(char32_t c, const std::array<Range, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](Range r) { return r.first <= c && c <= r.last; });
}

std::size_t width_of(char32_t c) {
  if (c < 0x20 || c == 0x7F || within(c, zero_width)) return 0;
  return within(c, double_width) ? 2 : 1;
}

// Appends `word` to `lines`, cut into pieces of at most `width` columns.
void append_cut(std::string_view word, std::size_t width, std::vector<std::string>& lines) {
  std::size_t used = 0;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t start = at;
    const std::size_t w = width_of(next_code_point(word, at));
    if (used + w > width && used > 0) {
      lines.emplace_back();
      used = 0;
    }
    lines.back().append(word.substr(start, at - start));
    used += w;
  }
}

// Wraps one line of input, which holds no line break.
void wrap_line(std::string_view text, std::size_t width, std::vector<std::string>& lines) {
  lines.emplace_back();
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = text.find_first_not_of(' ', at);
    if (start == std::string_view::npos) break;
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    const std::size_t w = display_width(word);
    if (used > 0 && used + 1 + w > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) lines.back() += ' ';
    append_cut(word, width, lines);
    used = display_width(lines.back());
    at = end;
  }
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& position) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(position++);
  if (first < 0x80) return first;
  const std::size_t extra = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4 || position + extra > text.size()) return replacement;
  char32_t c = first & (0x3Fu >> extra);
  for (std::size_t i = 0; i < extra; ++i) {
    if ((byte(position + i) & 0xC0) != 0x80) return replacement;
    c = (c << 6) | (byte(position + i) & 0x3Fu);
  }
  const bool overlong = (extra == 2 && c < 0x800) || (extra == 3 && c < 0x10000);
  if (overlong || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return replacement;
  position += extra;
  return c;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) width += width_of(next_code_point(text, at));
  return width;
}

std::string pad(std::string_view text, std::size_t width, Align align) {
  const std::size_t w = display_width(text);
  const std::size_t room = width > w ? width - w : 0;
  const std::size_t before = align == Align::left ? 0 : align == Align::right ? room : room / 2;
  return std::string(before, ' ') + std::string(text) + std::string(room - before, ' ');
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  width = std::max<std::size_t>(width, 1);
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    wrap_line(text.substr(at, end - at), width, lines);
    at = end + 1;
  }
  return lines;
}

std::string paragraph(std::string_view text, std::string_view indent) {
  std::string out;
  for (const std::string& line : wrap(text, page_width - display_width(indent))) {
    if (!line.empty()) out.append(indent).append(line);
    out += '\n';
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the dynamic programme: row[j] is the distance of a's prefix to b's of length j.
  std::vector<std::size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::move(last);
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::string closest(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  // Two slips, or a swap of neighbours, in a word of four letters; one in a shorter word.
  std::size_t best_distance = (name.size() < 4 ? 1 : std::max<std::size_t>(2, name.size() / 3)) + 1;
  for (const std::string& candidate : candidates) {
    // A beginning of three letters is a near miss whatever its distance: --epo, --sect.
    const bool prefix = name.size() >= 3 && candidate.compare(0, name.size(), name) == 0;
    const std::size_t distance = prefix ? 1 : edit_distance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string join_names(const std::vector<std::string>& names, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? fmt::format(" {} ", last) : ", ";
    out += names[i];
  }
  return out;
}

std::string number_text(double x, int digits) {
  if (std::isnan(x)) return "nan";
  if (x == 0.0) return "0";  // also -0
  return fmt::format("{:.{}g}", x, digits);
}

std::string escape_xml(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const char32_t c = next_code_point(text, at);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else if (c == replacement) {
      out += "\xEF\xBF\xBD";
    } else if ((c >= 0x20 || c == '\t' || c == '\n' || c == '\r') && c != 0xFFFE && c != 0xFFFF) {
      out.append(text.substr(start, at - start));
    }
  }
  return out;
}

std::string file_safe(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit && c != '-' && c != '_' && c != '.') c = '-';
  }
  // A leading dot would hide the file, or climb to the folder above.
  if (out.empty() || out.front() == '.') out.insert(out.begin(), '_');
  return out;
}

}  // namespace labgrad::labs
