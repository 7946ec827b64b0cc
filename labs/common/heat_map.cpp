#include "labs/common/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/error.h"
#include "labs/common/axis.h"
#include "labs/common/frame.h"
#include "labs/common/png.h"

namespace labgrad::labs {
namespace {

using Rgb = std::array<double, 3>;

constexpr double margin = picture_margin, label_size = 11.0, least_bar = 60.0;

// Piecewise linear between colours of evenly falling lightness.
Rgb colour_at(Colours colours, double t) {
  static constexpr std::array<Rgb, 5> blues{
      {{255, 255, 255}, {198, 219, 239}, {107, 174, 214}, {33, 113, 181}, {8, 48, 107}}};
  static constexpr std::array<Rgb, 5> both{
      {{0, 90, 160}, {120, 180, 220}, {255, 255, 255}, {244, 165, 100}, {190, 75, 0}}};
  const auto& stops = colours == Colours::sequential ? blues : both;
  const double place = std::clamp(t, 0.0, 1.0) * 4.0;
  const std::size_t i = std::min<std::size_t>(static_cast<std::size_t>(place), 3);
  Rgb out{};
  for (std::size_t c = 0; c < 3; ++c)
    out[c] = stops[i][c] + (place - static_cast<double>(i)) * (stops[i + 1][c] - stops[i][c]);
  return out;
}

std::string hex(const Rgb& c) {
  return rgb(static_cast<int>(std::lround(c[0])), static_cast<int>(std::lround(c[1])),
             static_cast<int>(std::lround(c[2])));
}

bool is_dark(const Rgb& c) { return 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2] < 140.0; }

double widest(const std::vector<std::string>& labels) {
  double w = 0.0;
  for (const std::string& label : labels) w = std::max(w, text_width(label, label_size));
  return w;
}

struct Layout {
  std::size_t rows, columns;
  double cell_width, cell_height, left, top, low, high;
  bool slanted;       // column labels don't fit side by side
  std::size_t every;  // only each so many-th label has room
};

void check_sizes(const HeatMap& map) {
  if (map.values.empty() || map.values[0].empty()) fail("heat map '" + map.title + "' is empty");
  const std::size_t rows = map.values.size(), columns = map.values[0].size();
  for (const auto& row : map.values)
    if (row.size() != columns)
      fail(fmt::format("heat map '{}': rows of {} and {} values", map.title, columns, row.size()));
  if ((!map.row_labels.empty() && map.row_labels.size() != rows) ||
      (!map.column_labels.empty() && map.column_labels.size() != columns))
    fail(fmt::format("heat map '{}': {} row and {} column labels for {} x {} values", map.title,
                     map.row_labels.size(), map.column_labels.size(), rows, columns));
}

void set_limits(const HeatMap& map, Layout& at) {
  Extent extent{Axis{}};
  for (const auto& row : map.values)
    for (double v : row) extent.include(v);
  at.low = extent.empty() ? 0.0 : extent.low();
  at.high = extent.empty() ? 1.0 : extent.high();
  if (map.colours == Colours::diverging) {
    at.high = std::max(std::abs(at.low), std::abs(at.high));
    at.low = -at.high;
  } else {
    at.low = std::min(at.low, 0.0);  // weights and counts: white means none
  }
  at.low = map.min.value_or(at.low);
  at.high = map.max.value_or(at.high);
  if (!(at.low < at.high)) at.high = at.low + 1.0;
}

void draw_colour_bar(Svg& svg, const HeatMap& map, const Layout& at, double x) {
  const double height = std::max(static_cast<double>(at.rows) * at.cell_height, least_bar),
               width = 12.0;
  constexpr int steps = 48;
  for (int i = 0; i < steps; ++i)
    svg.rect({x, at.top + height * i / steps}, width, height / steps + 0.6,
             {.fill = hex(colour_at(map.colours, 1.0 - (i + 0.5) / steps))});
  svg.rect({x, at.top}, width, height, {.stroke = muted, .width = 0.8});
  const Scale scale(Axis{.label = "", .min = at.low, .max = at.high}, Extent{Axis{}},
                    at.top + height, at.top);
  const std::vector<Tick> ticks = scale.ticks(std::max(2, static_cast<int>(height / 40)));
  for (const Tick& tick : ticks)
    svg.text({x + width + 5, scale(tick.value) + 4}, tick.label, {.size = label_size});
  // On a short bar the round numbers may all lie at one end: then the other is named as it is.
  if (ticks.empty() || scale(ticks.back().value) > at.top + height / 2)
    svg.text({x + width + 5, at.top + 4}, fmt::format("{:.2g}", at.high), {.size = label_size});
}

void draw_labels(Svg& svg, const HeatMap& map, const Layout& at) {
  const std::size_t row_every =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(11.0 / at.cell_height)));
  for (std::size_t r = 0; r < map.row_labels.size(); r += row_every)
    svg.text({at.left - 6, at.top + (static_cast<double>(r) + 0.5) * at.cell_height + 4},
             map.row_labels[r], {.size = label_size, .anchor = Anchor::end});
  const double bottom = at.top + static_cast<double>(at.rows) * at.cell_height;
  for (std::size_t c = 0; c < map.column_labels.size(); c += at.every) {
    const double x = at.left + (static_cast<double>(c) + 0.5) * at.cell_width;
    if (at.slanted) {
      svg.text({x + 4, bottom + 12}, map.column_labels[c],
               {.size = label_size, .anchor = Anchor::end, .rotate = -50});
    } else {
      svg.text({x, bottom + label_size + 4}, map.column_labels[c],
               {.size = label_size, .anchor = Anchor::middle});
    }
  }
}

Rgb cell_colour(const HeatMap& map, const Layout& at, double v) {
  if (!std::isfinite(v)) return {170, 170, 170};
  return colour_at(map.colours, (v - at.low) / (at.high - at.low));
}

std::string cell_text(const HeatMap& map, double v) {
  return fmt::format(fmt::runtime("{:" + map.number_format + "}"), v);
}

// Many cells go into one image, which is much smaller than as many rectangles.
void draw_cells_as_image(Svg& svg, const HeatMap& map, const Layout& at) {
  Raster raster{at.columns, at.rows, 3, {}};
  for (const auto& row : map.values)
    for (double v : row)
      for (double channel : cell_colour(map, at, v))
        raster.pixels.push_back(static_cast<std::uint8_t>(std::lround(channel)));
  svg.image({at.left, at.top}, static_cast<double>(at.columns) * at.cell_width,
            static_cast<double>(at.rows) * at.cell_height, png_data_uri(raster));
}

void draw_cells(Svg& svg, const HeatMap& map, const Layout& at) {
  for (std::size_t r = 0; r < at.rows; ++r)
    for (std::size_t c = 0; c < at.columns; ++c) {
      const Point corner{at.left + static_cast<double>(c) * at.cell_width,
                         at.top + static_cast<double>(r) * at.cell_height};
      const Rgb colour = cell_colour(map, at, map.values[r][c]);
      // A hair wider than the cell, so that no white line shows between two cells.
      svg.rect(corner, at.cell_width + 0.3, at.cell_height + 0.3, {.fill = hex(colour)});
      if (map.number_format.empty()) continue;
      svg.text({corner.first + at.cell_width / 2, corner.second + at.cell_height / 2 + 4},
               cell_text(map, map.values[r][c]),
               {.size = label_size,
                .anchor = Anchor::middle,
                .colour = is_dark(colour) ? "#ffffff" : ink});
    }
}

}  // namespace

std::string draw_heat_map(const HeatMap& map) {
  check_sizes(map);
  Layout at{};
  at.rows = map.values.size();
  at.columns = map.values[0].size();
  set_limits(map, at);

  const double most = static_cast<double>(std::max(at.rows, at.columns));
  double usual = std::clamp(480.0 / most, 5.0, 30.0);
  if (!map.number_format.empty())
    for (const auto& row : map.values)
      for (double v : row) usual = std::max(usual, text_width(cell_text(map, v), label_size) + 14);
  at.cell_width = map.cell.value_or(usual);
  at.cell_height = map.cell.value_or(map.number_format.empty() ? usual : 26.0);
  if (map.above && !map.cell)
    at.cell_width = std::max(at.cell_width, 600.0 / static_cast<double>(at.columns));
  const double wide = static_cast<double>(at.columns) * at.cell_width;
  const double high = static_cast<double>(at.rows) * at.cell_height;

  const double label_width = widest(map.column_labels);
  at.slanted = label_width + 6 > at.cell_width;
  at.every = at.slanted ? std::max<std::size_t>(
                              1, static_cast<std::size_t>(std::ceil(12.0 / at.cell_width)))
                        : 1;
  // Slanted labels run down to the left of their cell, the first ones below the row labels.
  const double slant_x = at.slanted ? label_width * 0.65 : 0.0;
  const double slant_y = map.column_labels.empty() ? 0.0
                         : at.slanted              ? label_width * 0.77 + 18
                                                   : label_size + 8;
  const double row_title = map.row_title.empty() ? 0.0 : 18.0;
  at.left = margin + row_title + std::max(widest(map.row_labels) + 8, slant_x);
  const double bar = map.colour_bar ? 70.0 : 0.0;
  const double width = std::max(at.left + wide + bar + margin, 260.0);
  double title_height = title_room(map.title, width);
  if (title_height > 0.0) title_height += 6.0;
  at.top = margin + title_height;
  double image_scale_x = 0.0, image_scale_y = 0.0;
  if (map.above) {
    // As wide as the matrix, its proportions kept.
    image_scale_x = image_scale_y = wide / static_cast<double>(map.above->width);
    at.top += box_label_room + image_scale_y * static_cast<double>(map.above->height) + 8;
  }
  const double body = std::max(high + slant_y, map.colour_bar ? least_bar + 6.0 : 0.0);
  const double height = at.top + body + (map.column_title.empty() ? 0.0 : 20.0) + margin;

  Svg svg(width, height, map.title);
  draw_title(svg, map.title);
  if (map.above)
    draw_image(svg, *map.above, {at.left, margin + title_height + box_label_room}, image_scale_x,
               image_scale_y);
  const bool many = at.rows * at.columns > 900 && map.number_format.empty();
  many ? draw_cells_as_image(svg, map, at) : draw_cells(svg, map, at);
  svg.rect({at.left, at.top}, wide, high, {.stroke = muted, .width = 0.8});
  draw_labels(svg, map, at);
  if (map.colour_bar) draw_colour_bar(svg, map, at, at.left + wide + 14);
  if (!map.column_title.empty())
    svg.text({at.left + wide / 2, height - margin + 2}, map.column_title,
             {.size = 12, .anchor = Anchor::middle});
  if (!map.row_title.empty())
    svg.text({margin + 8, at.top + high / 2}, map.row_title,
             {.size = 12, .anchor = Anchor::middle, .rotate = -90});
  return svg.str();
}

}  // namespace labgrad::labs
