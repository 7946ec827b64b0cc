#pragma once
// Grey images with boxes and captions, one below or beside the other.

#include <string>
#include <vector>

#include "labs/common/svg.h"

namespace labgrad::labs {

// A rectangle on an image, in the image's pixels (left, top, right, bottom).
struct ImageBox {
  double left, top, right, bottom;
  std::string label = {};  // above the box
  std::size_t colour = 1;  // of the palette
};

struct ImagePanel {
  std::size_t width = 0, height = 0;
  std::vector<float> brightness = {};  // row by row, 0 (black) to 1 (white)
  std::string caption = {};
  std::vector<ImageBox> boxes = {};
};

struct ImageGrid {
  std::string title = {};
  std::vector<ImagePanel> panels = {};
  std::size_t columns = 1;
  double scale = 2.0;  // pixels of the picture for one of the image
};

std::string draw_images(const ImageGrid& grid);

// One image with its boxes at `corner`, one image pixel being `x_scale` by `y_scale`. Labels stand
// above the boxes and need `box_label_room` pixels there.
inline constexpr double box_label_room = 13.0;
void draw_image(Svg& svg, const ImagePanel& panel, Point corner, double x_scale, double y_scale);

}  // namespace labgrad::labs
