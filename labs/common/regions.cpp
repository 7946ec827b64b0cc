// The plane coloured by a function, with the boundary drawn as a line.

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/error.h"
#include "labs/common/plot.h"
#include "labs/common/png.h"

namespace labgrad::labs {
namespace {

// A tint of one class's colour towards white: 0 is the first colour of the palette, 1 the second.
std::array<int, 3> tint(double value) {
  if (!std::isfinite(value)) return {200, 200, 200};
  const double v = std::clamp(value, 0.0, 1.0);
  static constexpr std::array<double, 3> zero{0, 114, 178}, one{213, 94, 0};
  const double strength = 0.55 * std::abs(2.0 * v - 1.0);
  std::array<int, 3> out{};
  for (std::size_t c = 0; c < 3; ++c)
    out[c] = static_cast<int>(255.0 + strength * ((v < 0.5 ? zero : one)[c] - 255.0));
  return out;
}

struct Grid {
  std::size_t columns, rows;
  std::vector<double> values;  // row by row, from the top of the picture
  double at(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
};

// Marching squares: in each cell, the line on which the value, linear along the edges, is `level`.
// `place` maps grid coordinates (column, row) to pixels.
template <class Place>
void draw_contour(Svg& svg, const Grid& grid, double level, Place place) {
  const Pen pen{.stroke = ink, .width = 1.6};
  for (std::size_t r = 0; r + 1 < grid.rows; ++r)
    for (std::size_t c = 0; c + 1 < grid.columns; ++c) {
      // Corners clockwise from the top left; an edge joins corner k to corner k + 1.
      const std::array<Point, 4> corner{Point(c, r), Point(c + 1, r), Point(c + 1, r + 1),
                                        Point(c, r + 1)};
      const std::array<double, 4> v{grid.at(r, c), grid.at(r, c + 1), grid.at(r + 1, c + 1),
                                    grid.at(r + 1, c)};
      std::vector<Point> crossings;
      for (std::size_t k = 0; k < 4; ++k) {
        const double a = v[k], b = v[(k + 1) % 4];
        if ((a < level) == (b < level) || !std::isfinite(a) || !std::isfinite(b)) continue;
        const double t = (level - a) / (b - a);
        const Point p = corner[k], q = corner[(k + 1) % 4];
        crossings.push_back(
            place(p.first + t * (q.first - p.first), p.second + t * (q.second - p.second)));
      }
      for (std::size_t i = 0; i + 1 < crossings.size(); i += 2)
        svg.line(crossings[i], crossings[i + 1], pen);
    }
}

}  // namespace

std::string draw_regions(const RegionPlot& plot) {
  if (!plot.x.min || !plot.x.max || !plot.y.min || !plot.y.max || !plot.value)
    fail("region plot '" + plot.title + "': set the ends of both axes and the function");
  std::vector<LegendEntry> legend;
  for (std::size_t k = 0; k < plot.points.size(); ++k)
    legend.push_back({.name = plot.points[k].name,
                      .colour = palette(k),
                      .line = false,
                      .mark = k % 2 == 0 ? Mark::circle : Mark::diamond});
  Frame frame({.title = plot.title,
               .x = plot.x,
               .y = plot.y,
               .width = plot.width,
               .height = plot.height,
               .legend = legend,
               .grid = false},
              Extent(plot.x), Extent(plot.y));
  const double width = frame.right() - frame.left(), height = frame.bottom() - frame.top();
  const double cell = std::max(width, height) / std::max(plot.resolution, 2);
  Grid grid{static_cast<std::size_t>(std::lround(width / cell)),
            static_cast<std::size_t>(std::lround(height / cell)),
            {}};
  // The value at the middle of each cell; the boundary runs between the middles.
  const auto place = [&](double column, double row) {
    return Point(frame.left() + (column + 0.5) * width / static_cast<double>(grid.columns),
                 frame.top() + (row + 0.5) * height / static_cast<double>(grid.rows));
  };
  Raster raster{grid.columns, grid.rows, 3, {}};
  for (std::size_t r = 0; r < grid.rows; ++r)
    for (std::size_t c = 0; c < grid.columns; ++c) {
      const auto [px, py] = place(static_cast<double>(c), static_cast<double>(r));
      grid.values.push_back(plot.value(frame.x_scale().value_at(px), frame.y_scale().value_at(py)));
      for (int channel : tint(grid.values.back()))
        raster.pixels.push_back(static_cast<std::uint8_t>(channel));
    }
  frame.svg().image({frame.left(), frame.top()}, width, height, png_data_uri(raster), true);
  frame.begin_data();
  draw_contour(frame.svg(), grid, 0.5, place);
  for (std::size_t k = 0; k < plot.points.size(); ++k)
    for (std::size_t i = 0; i < std::min(plot.points[k].x.size(), plot.points[k].y.size()); ++i) {
      const double x = plot.points[k].x[i], y = plot.points[k].y[i];
      if (frame.shows(x, y))
        draw_mark(frame.svg(), legend[k].mark, {frame.x(x), frame.y(y)}, 3.0, palette(k));
    }
  frame.end_data();
  return frame.svg().str();
}

}  // namespace labgrad::labs
