#pragma once
// A picture as SVG text: the few shapes that the plots need, escaped and well-formed.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace labgrad::labs {

using Point = std::pair<double, double>;  // x to the right, y down, in pixels

// Colours: dark ink on white; data in the palette of Okabe and Ito, which people with any kind of
// colour blindness can tell apart (https://jfly.uni-koeln.de/color/).
inline constexpr const char* ink = "#222222";
inline constexpr const char* faint = "#dddddd";  // grid lines
inline constexpr const char* muted = "#777777";  // axes, secondary text
std::string palette(std::size_t index);          // repeats after seven colours
std::string rgb(int red, int green, int blue);   // each from 0 to 255, clamped

struct Pen {
  std::string stroke = "none";
  double width = 1.0;
  std::string fill = "none";
  std::string dash = "";  // "6 3": six pixels drawn, three left out
  double opacity = 1.0;
};

enum class Anchor { start, middle, end };

struct Font {
  double size = 12.0;
  Anchor anchor = Anchor::start;
  bool bold = false;
  std::string colour = ink;
  double rotate = 0.0;  // degrees, clockwise, about the anchor
  bool mono = false;    // equal width for all letters
  bool halo = false;    // a white rim, to be read on top of lines
};

// Width of `text` in pixels, from typical letter widths of a sans-serif font (an estimate: the
// font is chosen by the viewer).
double text_width(std::string_view text, double size, bool bold = false);

class Svg {
 public:
  // `title` is read out by screen readers.
  Svg(double width, double height, std::string_view title);

  void line(Point from, Point to, const Pen& pen);
  void rect(Point corner, double width, double height, const Pen& pen, double rounding = 0.0);
  void circle(Point centre, double radius, const Pen& pen);
  void polyline(const std::vector<Point>& points, const Pen& pen);
  void polygon(const std::vector<Point>& points, const Pen& pen);
  // A cubic Bézier curve with two control points.
  void curve(Point from, Point control1, Point control2, Point to, const Pen& pen);
  // The baseline of the text starts, is centred or ends at `at`.
  void text(Point at, std::string_view text, const Font& font = {});
  // An image given as a data URI; `smooth` false keeps its pixels square when enlarged.
  void image(Point corner, double width, double height, std::string_view uri, bool smooth = false);

  // What is drawn between the two calls is cut off outside the rectangle.
  void begin_clip(Point corner, double width, double height);
  void end_clip();

  double width() const { return width_; }
  double height() const { return height_; }

  // The whole picture, one <svg> element that stands alone or inside an HTML page.
  std::string str() const;

 private:
  double width_, height_;
  std::string title_, body_;
};

}  // namespace labgrad::labs
