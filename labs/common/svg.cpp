#include "labs/common/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "labs/common/text.h"

namespace labgrad::labs {
namespace {

// A coordinate with at most two decimals; a number that isn't finite would make the file invalid.
std::string px(double v) {
  if (!std::isfinite(v)) v = 0.0;
  std::string s = fmt::format("{:.2f}", v);
  s.erase(s.find_last_not_of('0') + 1);
  if (s.back() == '.') s.pop_back();
  return s == "-0" ? "0" : s;
}

std::string attributes(const Pen& pen) {
  std::string out = fmt::format(" fill=\"{}\" stroke=\"{}\"", pen.fill, pen.stroke);
  if (pen.stroke != "none" && pen.width != 1.0)
    out += fmt::format(" stroke-width=\"{}\"", px(pen.width));
  if (!pen.dash.empty()) out += fmt::format(" stroke-dasharray=\"{}\"", pen.dash);
  if (pen.opacity != 1.0) out += fmt::format(" opacity=\"{}\"", px(pen.opacity));
  return out;
}

std::string coordinates(const std::vector<Point>& points) {
  std::string out;
  for (const auto& [x, y] : points) {
    if (!out.empty()) out += ' ';
    out += px(x) + ',' + px(y);
  }
  return out;
}

// Letter widths as parts of the size, by group: of DejaVu Sans, the widest of the fonts named
// below, so that nothing is cut off in any of them.
double letter_width(char32_t c) {
  if (c >= 0x80) return 0.65;
  const char letter = static_cast<char>(c);
  const auto in = [letter](std::string_view set) {
    return set.find(letter) != std::string_view::npos;
  };
  if (in("ijlI'|.,:;! ")) return 0.32;
  if (in("ftr()[]/\\-\"`")) return 0.40;
  if (in("mwMW@%")) return 0.90;
  if (letter >= 'A' && letter <= 'Z') return 0.70;
  return 0.62;
}

}  // namespace

std::string palette(std::size_t index) {
  static constexpr std::array<const char*, 7> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#000000"};
  return colours[index % colours.size()];
}

std::string rgb(int red, int green, int blue) {
  const auto byte = [](int v) { return std::clamp(v, 0, 255); };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(red), byte(green), byte(blue));
}

double text_width(std::string_view text, double size, bool bold) {
  double width = 0.0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const char32_t c = next_code_point(text, at);
    if (display_width(text.substr(start, at - start)) > 0) width += letter_width(c);
  }
  return width * size * (bold ? 1.13 : 1.0);
}

Svg::Svg(double width, double height, std::string_view title)
    : width_(width), height_(height), title_(title) {}

void Svg::line(Point from, Point to, const Pen& pen) {
  fmt::format_to(std::back_inserter(body_), "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n",
                 px(from.first), px(from.second), px(to.first), px(to.second), attributes(pen));
}

void Svg::rect(Point corner, double width, double height, const Pen& pen, double rounding) {
  const std::string round = rounding > 0 ? fmt::format(" rx=\"{}\"", px(rounding)) : "";
  fmt::format_to(std::back_inserter(body_),
                 "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}{}/>\n", px(corner.first),
                 px(corner.second), px(std::max(width, 0.0)), px(std::max(height, 0.0)), round,
                 attributes(pen));
}

void Svg::circle(Point centre, double radius, const Pen& pen) {
  fmt::format_to(std::back_inserter(body_), "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>\n",
                 px(centre.first), px(centre.second), px(radius), attributes(pen));
}

void Svg::polyline(const std::vector<Point>& points, const Pen& pen) {
  fmt::format_to(std::back_inserter(body_),
                 "<polyline points=\"{}\" stroke-linejoin=\"round\"{}/>\n", coordinates(points),
                 attributes(pen));
}

void Svg::polygon(const std::vector<Point>& points, const Pen& pen) {
  fmt::format_to(std::back_inserter(body_), "<polygon points=\"{}\"{}/>\n", coordinates(points),
                 attributes(pen));
}

void Svg::curve(Point from, Point control1, Point control2, Point to, const Pen& pen) {
  fmt::format_to(std::back_inserter(body_), "<path d=\"M{} C{}\"{}/>\n", coordinates({from}),
                 coordinates({control1, control2, to}), attributes(pen));
}

void Svg::text(Point at, std::string_view text, const Font& font) {
  std::string more;
  if (font.anchor == Anchor::middle) more += " text-anchor=\"middle\"";
  if (font.anchor == Anchor::end) more += " text-anchor=\"end\"";
  if (font.bold) more += " font-weight=\"bold\"";
  if (font.mono) more += " font-family=\"Menlo, Consolas, 'DejaVu Sans Mono', monospace\"";
  if (font.halo) more += " stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\"";
  if (font.rotate != 0.0)
    more += fmt::format(" transform=\"rotate({} {} {})\"", px(font.rotate), px(at.first),
                        px(at.second));
  fmt::format_to(std::back_inserter(body_),
                 "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"{}>{}</text>\n", px(at.first),
                 px(at.second), px(font.size), font.colour, more, escape_xml(text));
}

void Svg::image(Point corner, double width, double height, std::string_view uri, bool smooth) {
  fmt::format_to(std::back_inserter(body_),
                 "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\""
                 "{} href=\"{}\"/>\n",
                 px(corner.first), px(corner.second), px(width), px(height),
                 smooth ? "" : " style=\"image-rendering:pixelated\"", uri);
}

void Svg::begin_clip(Point corner, double width, double height) {
  // A nested <svg> clips without an id; ids of several pictures would clash in one HTML page.
  fmt::format_to(std::back_inserter(body_),
                 "<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
                 "viewBox=\"{0} {1} {2} {3}\" overflow=\"hidden\">\n",
                 px(corner.first), px(corner.second), px(width), px(height));
}

void Svg::end_clip() { body_ += "</svg>\n"; }

std::string Svg::str() const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{3}</svg>\n",
      px(width_), px(height_), escape_xml(title_), body_);
}

}  // namespace labgrad::labs
