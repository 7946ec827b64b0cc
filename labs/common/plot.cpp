#include "labs/common/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/error.h"

namespace labgrad::labs {
namespace {

constexpr double tick_font = 11.0;

Mark mark_of(std::size_t index) {
  static constexpr std::array<Mark, 4> marks{Mark::circle, Mark::square, Mark::triangle,
                                             Mark::diamond};
  return marks[index % marks.size()];
}

bool has_points(const Series& s) { return s.style != Style::line || s.y.size() == 1; }

// Beyond seven series the colours come again, then with a broken line.
std::string dash_of(const Series& s, std::size_t index) {
  return s.dashed ? "6 4" : index >= 7 ? "2 3" : "";
}

void check_sizes(const Series& s) {
  const auto fits = [&](std::size_t n) { return n == 0 || n == s.y.size(); };
  if (s.x.size() != s.y.size() || !fits(s.low.size()) || !fits(s.high.size()) ||
      !fits(s.labels.size()) || s.low.size() != s.high.size())
    fail(fmt::format("plot series '{}': {} x, {} y, {} low, {} high, {} labels; they must agree",
                     s.name, s.x.size(), s.y.size(), s.low.size(), s.high.size(), s.labels.size()));
}

// Keeps the picture of a long curve small: of the points that share a pixel column, the lowest and
// the highest stay.
std::vector<Point> thinned(const std::vector<Point>& points, double pixels) {
  const std::size_t most = static_cast<std::size_t>(std::max(pixels, 1.0)) * 2;
  if (points.size() <= most) return points;
  std::vector<Point> out;
  const std::size_t bucket = points.size() / (most / 2) + 1;
  for (std::size_t at = 0; at < points.size(); at += bucket) {
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end =
        points.begin() + static_cast<std::ptrdiff_t>(std::min(at + bucket, points.size()));
    auto [a, b] = std::minmax_element(
        first, end, [](const Point& p, const Point& q) { return p.second < q.second; });
    if (b < a) std::swap(a, b);
    out.push_back(*a);
    if (a != b) out.push_back(*b);
  }
  return out;
}

void draw_band(Frame& frame, const Series& s, const std::string& colour) {
  std::vector<Point> outline, back;
  for (std::size_t i = 0; i < s.low.size(); ++i) {
    if (!frame.shows(s.x[i], s.low[i]) || !frame.shows(s.x[i], s.high[i])) continue;
    outline.emplace_back(frame.x(s.x[i]), frame.y(s.high[i]));
    back.emplace_back(frame.x(s.x[i]), frame.y(s.low[i]));
  }
  outline.insert(outline.end(), back.rbegin(), back.rend());
  if (!outline.empty()) frame.svg().polygon(outline, {.fill = colour, .opacity = 0.18});
}

void draw_line(Frame& frame, const Series& s, const std::string& colour, const std::string& dash) {
  std::vector<Point> piece;
  const auto finish = [&] {
    if (piece.size() > 1)
      frame.svg().polyline(thinned(piece, frame.right() - frame.left()),
                           {.stroke = colour, .width = 1.8, .dash = dash});
    piece.clear();
  };
  for (std::size_t i = 0; i < s.y.size(); ++i) {
    if (frame.shows(s.x[i], s.y[i])) {
      piece.emplace_back(frame.x(s.x[i]), frame.y(s.y[i]));
    } else {
      finish();
    }
  }
  finish();
}

struct Box {
  double left, top, right, bottom;
  Anchor anchor = Anchor::start;  // where the point is, as seen from the text
  bool meets(const Box& o) const {
    return left < o.right && o.left < right && top < o.bottom && o.top < bottom;
  }
};

// Puts each label right, left, above or below its point, where it hides no earlier one; a label
// for which there is no room is left out.
void draw_labels(Frame& frame, const std::vector<Series>& series) {
  std::vector<Box> taken;
  for (const Series& s : series)
    for (std::size_t i = 0; i < s.y.size(); ++i)
      if (has_points(s) && frame.shows(s.x[i], s.y[i])) {
        const double x = frame.x(s.x[i]), y = frame.y(s.y[i]);
        taken.push_back({x - 3, y - 3, x + 3, y + 3});
      }
  for (const Series& s : series)
    for (std::size_t i = 0; i < s.labels.size(); ++i) {
      if (s.labels[i].empty() || !frame.shows(s.x[i], s.y[i])) continue;
      const double x = frame.x(s.x[i]), y = frame.y(s.y[i]);
      const double w = text_width(s.labels[i], tick_font), h = tick_font;
      for (const Box& box : {Box{x + 6, y - h / 2, x + 6 + w, y + h / 2},
                             Box{x - 6 - w, y - h / 2, x - 6, y + h / 2, Anchor::end},
                             Box{x - w / 2, y - 6 - h, x + w / 2, y - 6, Anchor::middle},
                             Box{x - w / 2, y + 6, x + w / 2, y + 6 + h, Anchor::middle}}) {
        const bool inside = box.left >= frame.left() && box.right <= frame.right() &&
                            box.top >= frame.top() && box.bottom <= frame.bottom();
        const auto meets = [&](const Box& other) { return box.meets(other); };
        if (!inside || std::any_of(taken.begin(), taken.end(), meets)) continue;
        const double at = box.anchor == Anchor::start ? box.left
                          : box.anchor == Anchor::end ? box.right
                                                      : x;
        frame.svg().text({at, box.bottom - 2}, s.labels[i],
                         {.size = tick_font, .anchor = box.anchor, .halo = true});
        taken.push_back(box);
        break;
      }
    }
}

void draw_references(Frame& frame, const std::vector<Reference>& references) {
  for (const Reference& r : references) {
    const Pen pen{.stroke = muted, .width = 1.2, .dash = "5 3"};
    if (r.vertical) {
      const double x = frame.x(r.at);
      if (!(x >= frame.left() && x <= frame.right())) continue;
      frame.svg().line({x, frame.top()}, {x, frame.bottom()}, pen);
      const bool right = x + 6 + text_width(r.label, tick_font) <= frame.right();
      frame.svg().text({x + (right ? 4 : -4), frame.top() + 11}, r.label,
                       {.size = tick_font,
                        .anchor = right ? Anchor::start : Anchor::end,
                        .colour = muted,
                        .halo = true});
    } else {
      const double y = frame.y(r.at);
      if (!(y >= frame.top() && y <= frame.bottom())) continue;
      frame.svg().line({frame.left(), y}, {frame.right(), y}, pen);
      frame.svg().text({frame.right() - 4, y - 4}, r.label,
                       {.size = tick_font, .anchor = Anchor::end, .colour = muted, .halo = true});
    }
  }
}

void draw_series(Frame& frame, const std::vector<Series>& series, std::size_t first_colour = 0) {
  for (std::size_t k = 0; k < series.size(); ++k)
    draw_band(frame, series[k], palette(k + first_colour));
  for (std::size_t k = 0; k < series.size(); ++k) {
    const Series& s = series[k];
    const std::string colour = palette(k + first_colour);
    if (s.style != Style::points) draw_line(frame, s, colour, dash_of(s, k));
    if (!has_points(s)) continue;
    const double radius = s.y.size() > 300 ? 2.2 : 3.5;
    for (std::size_t i = 0; i < s.y.size(); ++i)
      if (frame.shows(s.x[i], s.y[i]))
        draw_mark(frame.svg(), mark_of(k), {frame.x(s.x[i]), frame.y(s.y[i])}, radius, colour);
  }
}

std::vector<LegendEntry> legend_of(const std::vector<Series>& series) {
  std::vector<LegendEntry> legend;
  for (std::size_t k = 0; k < series.size(); ++k)
    legend.push_back({.name = series[k].name,
                      .colour = palette(k),
                      .line = series[k].style != Style::points,
                      .dash = dash_of(series[k], k),
                      .mark = has_points(series[k]) ? mark_of(k) : Mark::none});
  return legend;
}

}  // namespace

std::string draw_plot(const Plot& plot) {
  Extent x(plot.x), y(plot.y);
  for (const Series& s : plot.series) {
    check_sizes(s);
    for (std::size_t i = 0; i < s.y.size(); ++i) {
      if (!std::isfinite(s.y[i])) continue;
      x.include(s.x[i]);
      for (double v :
           {s.y[i], s.low.empty() ? s.y[i] : s.low[i], s.high.empty() ? s.y[i] : s.high[i]})
        y.include(v);
    }
  }
  for (const Reference& r : plot.references) (r.vertical ? x : y).include(r.at);
  Frame frame({.title = plot.title,
               .x = plot.x,
               .y = plot.y,
               .width = plot.width,
               .height = plot.height,
               .legend = legend_of(plot.series)},
              x, y);
  frame.begin_data();
  draw_series(frame, plot.series);
  draw_labels(frame, plot.series);
  draw_references(frame, plot.references);
  frame.end_data();
  return frame.svg().str();
}

std::string draw_bars(const BarPlot& plot) {
  const std::size_t categories = plot.categories.size(), groups = plot.groups.size();
  Axis x_axis{.label = plot.x_label,
              .min = -0.5,
              .max = static_cast<double>(std::max<std::size_t>(categories, 1)) - 0.5};
  Extent x(x_axis), y(Axis{});
  y.include(0.0);
  std::vector<LegendEntry> legend;
  for (std::size_t g = 0; g < groups; ++g) {
    const auto& [name, heights, errors] = plot.groups[g];
    if (heights.size() != categories || (!errors.empty() && errors.size() != categories))
      fail(fmt::format("bars '{}': {} heights and {} errors for {} categories", name,
                       heights.size(), errors.size(), categories));
    for (std::size_t c = 0; c < categories; ++c)
      for (double sign : {-1.0, 1.0})
        y.include(heights[c] + (errors.empty() ? 0.0 : sign * errors[c]));
    legend.push_back({.name = name, .colour = palette(g), .line = false, .mark = Mark::square});
  }
  for (const Reference& r : plot.references) y.include(r.at);
  if (groups < 2) legend.clear();
  Frame frame({.title = plot.title,
               .x = x_axis,
               .y = {.label = plot.y_label},
               .width = plot.width,
               .height = plot.height,
               .legend = legend,
               .categories = plot.categories},
              x, y);
  frame.begin_data();
  const double slot = 0.8 / static_cast<double>(std::max<std::size_t>(groups, 1));
  for (std::size_t g = 0; g < groups; ++g)
    for (std::size_t c = 0; c < categories; ++c) {
      const auto& group = plot.groups[g];
      if (!std::isfinite(group.heights[c])) continue;
      const double from = static_cast<double>(c) - 0.4 + slot * static_cast<double>(g);
      const double x0 = frame.x(from), x1 = frame.x(from + slot * 0.94);
      const double y0 = frame.y(0.0), y1 = frame.y(group.heights[c]);
      frame.svg().rect({x0, std::min(y0, y1)}, x1 - x0, std::abs(y1 - y0), {.fill = palette(g)});
      if (group.errors.empty() || !(group.errors[c] > 0.0)) continue;
      const double middle = (x0 + x1) / 2, cap = std::min(5.0, (x1 - x0) / 4);
      const double low = frame.y(group.heights[c] - group.errors[c]);
      const double high = frame.y(group.heights[c] + group.errors[c]);
      frame.svg().line({middle, low}, {middle, high}, {.stroke = ink});
      for (double end : {low, high})
        frame.svg().line({middle - cap, end}, {middle + cap, end}, {.stroke = ink});
    }
  frame.svg().line({frame.left(), frame.y(0.0)}, {frame.right(), frame.y(0.0)}, {.stroke = muted});
  draw_references(frame, plot.references);
  frame.end_data();
  return frame.svg().str();
}

}  // namespace labgrad::labs
