#include "labs/common/frame.h"

#include <algorithm>
#include <cmath>

namespace labgrad::labs {
namespace {

constexpr double margin = picture_margin;
constexpr double tick_size = 11.0, label_size = 12.0, title_size = 14.0, title_line = 19.0;

}  // namespace

void draw_mark(Svg& svg, Mark mark, Point at, double r, const std::string& colour) {
  const Pen pen{.stroke = "#ffffff", .width = 0.7, .fill = colour};
  const auto [x, y] = at;
  switch (mark) {
    case Mark::none:
      break;
    case Mark::circle:
      svg.circle(at, r, pen);
      break;
    case Mark::square:
      svg.rect({x - 0.9 * r, y - 0.9 * r}, 1.8 * r, 1.8 * r, pen);
      break;
    case Mark::triangle:
      svg.polygon({{x, y - 1.2 * r}, {x + 1.1 * r, y + 0.8 * r}, {x - 1.1 * r, y + 0.8 * r}}, pen);
      break;
    case Mark::diamond:
      svg.polygon({{x, y - 1.3 * r}, {x + 1.3 * r, y}, {x, y + 1.3 * r}, {x - 1.3 * r, y}}, pen);
      break;
  }
}

std::vector<std::string> fit_lines(const std::string& text, double width, double size, bool bold) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const std::string longer = lines.back().empty() ? word : lines.back() + ' ' + word;
    if (!lines.back().empty() && text_width(longer, size, bold) > width) {
      lines.push_back(word);
    } else {
      lines.back() = longer;
    }
    at = end + 1;
  }
  return lines;
}

double title_room(const std::string& title, double width) {
  if (title.empty()) return 0.0;
  return title_line *
         static_cast<double>(fit_lines(title, width - 2 * margin, title_size, true).size());
}

void draw_title(Svg& svg, const std::string& title) {
  double y = margin + title_size - 2;
  for (const auto& line : fit_lines(title, svg.width() - 2 * margin, title_size, true)) {
    if (!line.empty()) svg.text({margin, y}, line, {.size = title_size, .bold = true});
    y += title_line;
  }
}

Frame::Frame(const FrameOptions& options, const Extent& x, const Extent& y)
    : svg_(options.width, options.height, options.title),
      x_(options.x, x, 0.0, 1.0),
      y_(options.y, y, 0.0, 1.0) {
  draw_title(svg_, options.title);
  top_ = margin + title_room(options.title, options.width);
  left_ = margin;
  draw_legend(options);
  top_ += 8;

  double widest = 0.0;
  for (const Tick& tick : y_.ticks(6)) widest = std::max(widest, text_width(tick.label, tick_size));
  left_ = margin + (options.y.label.empty() ? 0.0 : label_size + 8) + widest + 8;
  right_ = options.width - margin - 8;
  bottom_ =
      options.height - margin - tick_size - 6 - (options.x.label.empty() ? 0.0 : label_size + 6);
  x_.move(left_, right_);
  y_.move(bottom_, top_);
  draw_axes(options);
}

// Entries side by side under the title, in as many rows as they need.
void Frame::draw_legend(const FrameOptions& options) {
  double x = margin;
  bool any = false;
  for (const LegendEntry& entry : options.legend) {
    if (entry.name.empty()) continue;
    const double sample = entry.line ? 24.0 : 10.0;
    const double width = sample + 6 + text_width(entry.name, label_size) + 18;
    if (any && x + width - 18 > options.width - margin) {
      x = margin;
      top_ += label_size + 6;
    }
    const double middle = top_ + label_size / 2 + 1;
    if (entry.line)
      svg_.line({x, middle}, {x + sample, middle},
                {.stroke = entry.colour, .width = 2, .dash = entry.dash});
    draw_mark(svg_, entry.mark, {x + sample / 2, middle}, 4, entry.colour);
    svg_.text({x + sample + 6, top_ + label_size - 1}, entry.name, {.size = label_size});
    x += width;
    any = true;
  }
  if (any) top_ += label_size + 6;
}

void Frame::draw_axes(const FrameOptions& options) {
  const Pen axis_pen{.stroke = muted}, grid_pen{.stroke = faint, .width = 0.8};
  const Font small{.size = tick_size, .anchor = Anchor::end};

  double last = bottom_ + 1000;
  for (const Tick& tick : y_.ticks(std::max(2, static_cast<int>((bottom_ - top_) / 50)))) {
    const double at = y_(tick.value);
    const bool labelled = !tick.label.empty() && last - at >= tick_size + 2;
    if (labelled) {
      if (options.grid) svg_.line({left_, at}, {right_, at}, grid_pen);
      svg_.text({left_ - 7, at + tick_size * 0.36}, tick.label, small);
      last = at;
    }
    svg_.line({left_ - (labelled ? 4.0 : 2.0), at}, {left_, at}, axis_pen);
  }

  std::vector<Tick> ticks = x_.ticks(std::max(2, static_cast<int>((right_ - left_) / 80)));
  if (!options.categories.empty()) {
    ticks.clear();
    for (std::size_t i = 0; i < options.categories.size(); ++i)
      ticks.push_back({static_cast<double>(i), options.categories[i]});
  }
  double free_from = -1000.0;  // where the last label ended
  for (const Tick& tick : ticks) {
    const double at = x_(tick.value);
    const double half = text_width(tick.label, tick_size) / 2;
    // A label that would touch the one before it, or leave the picture, is left out.
    const bool labelled =
        !tick.label.empty() && at - half >= free_from + 6 && at + half <= options.width;
    if (labelled) {
      if (options.grid && options.categories.empty())
        svg_.line({at, top_}, {at, bottom_}, grid_pen);
      svg_.text({at, bottom_ + tick_size + 6}, tick.label,
                {.size = tick_size, .anchor = Anchor::middle});
      free_from = at + half;
    }
    svg_.line({at, bottom_}, {at, bottom_ + (labelled ? 4.0 : 2.0)}, axis_pen);
  }
  svg_.line({left_, top_}, {left_, bottom_}, axis_pen);
  svg_.line({left_, bottom_}, {right_, bottom_}, axis_pen);

  if (!options.x.label.empty())
    svg_.text({(left_ + right_) / 2, options.height - margin + 2}, options.x.label,
              {.size = label_size, .anchor = Anchor::middle});
  if (!options.y.label.empty())
    svg_.text({margin + label_size - 4, (top_ + bottom_) / 2}, options.y.label,
              {.size = label_size, .anchor = Anchor::middle, .rotate = -90});
}

}  // namespace labgrad::labs
