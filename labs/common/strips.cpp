#include "labs/common/strips.h"

#include <algorithm>

#include "engine/error.h"
#include "labs/common/frame.h"
#include "labs/common/png.h"

namespace labgrad::labs {
namespace {

constexpr double margin = picture_margin, caption_size = 12.0;

bool has_labels(const ImagePanel& panel) {
  return std::any_of(panel.boxes.begin(), panel.boxes.end(),
                     [](const ImageBox& box) { return !box.label.empty(); });
}

}  // namespace

void draw_image(Svg& svg, const ImagePanel& panel, Point corner, double x_scale, double y_scale) {
  const double width = static_cast<double>(panel.width) * x_scale;
  const double height = static_cast<double>(panel.height) * y_scale;
  const Raster raster = grey_raster(panel.width, panel.height, panel.brightness);
  svg.image(corner, width, height, png_data_uri(raster));
  svg.rect(corner, width, height, {.stroke = muted, .width = 0.8});
  for (const ImageBox& box : panel.boxes) {
    const Point at{corner.first + box.left * x_scale, corner.second + box.top * y_scale};
    const double box_width = (box.right - box.left) * x_scale;
    svg.rect(at, box_width, (box.bottom - box.top) * y_scale,
             {.stroke = palette(box.colour), .width = 1.4});
    if (!box.label.empty())
      svg.text({at.first + box_width / 2, std::min(at.second, corner.second) - 3}, box.label,
               {.size = 11, .anchor = Anchor::middle, .colour = palette(box.colour)});
  }
}

std::string draw_images(const ImageGrid& grid) {
  const std::size_t columns = std::max<std::size_t>(grid.columns, 1);
  double cell_width = 60.0, cell_height = 0.0;
  for (const ImagePanel& panel : grid.panels) {
    const double labels = has_labels(panel) ? box_label_room : 0.0;
    cell_width = std::max(cell_width, static_cast<double>(panel.width) * grid.scale);
    cell_height = std::max(cell_height, static_cast<double>(panel.height) * grid.scale + labels);
  }
  // A caption may be wider than its image: it is wrapped, and the rows make room for the longest.
  std::size_t caption_lines = 0;
  for (const ImagePanel& panel : grid.panels)
    if (!panel.caption.empty())
      caption_lines =
          std::max(caption_lines, fit_lines(panel.caption, cell_width, caption_size, false).size());
  const double caption_height = static_cast<double>(caption_lines) * (caption_size + 3);
  const std::size_t rows = (grid.panels.size() + columns - 1) / columns;
  const double step_x = cell_width + margin, step_y = cell_height + caption_height + margin;
  const double width = margin + static_cast<double>(columns) * step_x;
  const double top = margin + title_room(grid.title, width);

  Svg svg(width, top + static_cast<double>(rows) * step_y, grid.title);
  draw_title(svg, grid.title);
  for (std::size_t i = 0; i < grid.panels.size(); ++i) {
    const ImagePanel& panel = grid.panels[i];
    const double x = margin + static_cast<double>(i % columns) * step_x;
    double y = top + static_cast<double>(i / columns) * step_y;
    for (const auto& line : fit_lines(panel.caption, cell_width, caption_size, false)) {
      if (!line.empty()) svg.text({x, y + caption_size - 1}, line, {.size = caption_size});
      y += caption_size + 3;
    }
    y = top + static_cast<double>(i / columns) * step_y + caption_height;
    draw_image(svg, panel, {x, y + (has_labels(panel) ? box_label_room : 0.0)}, grid.scale,
               grid.scale);
  }
  return svg.str();
}

}  // namespace labgrad::labs
