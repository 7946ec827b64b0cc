#pragma once
// What plots on two axes have in common: title, legend, axes with ticks and grid, and the way from
// numbers to pixels.

#include <string>
#include <vector>

#include "labs/common/axis.h"
#include "labs/common/svg.h"

namespace labgrad::labs {

enum class Mark { none, circle, square, triangle, diamond };

struct LegendEntry {
  std::string name = {};
  std::string colour = {};
  bool line = true;
  std::string dash = {};
  Mark mark = Mark::none;
};

struct FrameOptions {
  std::string title = {};
  Axis x = {}, y = {};
  double width = 640.0, height = 380.0;
  std::vector<LegendEntry> legend = {};
  std::vector<std::string> categories = {};  // names along the x axis, at 0, 1, 2, ...
  bool grid = true;
};

// A point of a plot: filled, with a thin white rim.
void draw_mark(Svg& svg, Mark mark, Point at, double radius, const std::string& colour);

// `text` broken into lines that fit `width` pixels.
std::vector<std::string> fit_lines(const std::string& text, double width, double size, bool bold);

// The height that a picture's title takes at its top, wrapped to `width`; then the title itself.
inline constexpr double picture_margin = 14.0;
double title_room(const std::string& title, double width);
void draw_title(Svg& svg, const std::string& title);

class Frame {
 public:
  // Draws title, legend, axes and grid for data within the two extents.
  Frame(const FrameOptions& options, const Extent& x, const Extent& y);

  Svg& svg() { return svg_; }
  double x(double value) const { return x_(value); }
  double y(double value) const { return y_(value); }
  bool shows(double x_value, double y_value) const {
    return x_.shows(x_value) && y_.shows(y_value);
  }
  const Scale& x_scale() const { return x_; }
  const Scale& y_scale() const { return y_; }
  // The area for the data, in pixels.
  double left() const { return left_; }
  double right() const { return right_; }
  double top() const { return top_; }
  double bottom() const { return bottom_; }
  // Between the two calls, what leaves the area is cut off.
  void begin_data() { svg_.begin_clip({left_, top_}, right_ - left_, bottom_ - top_); }
  void end_data() { svg_.end_clip(); }

 private:
  void draw_legend(const FrameOptions& options);
  void draw_axes(const FrameOptions& options);

  Svg svg_;
  Scale x_, y_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
};

}  // namespace labgrad::labs
