#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/error.h"
#include "labs/common/axis.h"
#include "labs/common/heat_map.h"
#include "labs/common/plot.h"
#include "labs/common/png.h"
#include "labs/common/strips.h"
#include "labs/common/svg.h"
#include "tests/labs/common/xml.h"

using namespace labgrad;
using namespace labgrad::labs;
using tests::count_of;
using tests::xml_fault;

namespace {

const double not_a_number = std::nan("");

std::vector<std::string> labels_of(const std::vector<Tick>& ticks) {
  std::vector<std::string> labels;
  for (const Tick& tick : ticks)
    if (!tick.label.empty()) labels.push_back(tick.label);
  return labels;
}

// The labels of about five ticks of an axis from `low` to `high`.
std::vector<std::string> labels(double low, double high, bool log = false) {
  const Axis axis{.label = "", .log = log, .min = low, .max = high};
  return labels_of(Scale(axis, Extent(axis), 0, 100).ticks(5));
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("svg: what is drawn is well-formed, whatever the texts and numbers") {
  Svg svg(100, 50, "a < b & \"c\"");
  svg.text({1, 2}, "x < y & 'z' \x01 \xFF",
           {.bold = true, .rotate = -90, .mono = true, .halo = true});
  svg.line({0, not_a_number}, {std::numeric_limits<double>::infinity(), 1},
           {.stroke = ink, .dash = "2 2"});
  svg.begin_clip({0, 0}, 10, 10);
  svg.rect({0, 0}, -5, 3, {.fill = rgb(300, -1, 16)}, 2);
  svg.end_clip();
  svg.polygon({}, {});
  svg.curve({0, 0}, {1, 1}, {2, 2}, {3, 3}, {.stroke = palette(9)});
  const std::string text = svg.str();
  CHECK(xml_fault(text) == "");
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("inf") == std::string::npos);
  CHECK(text.find("#ff0010") != std::string::npos);
}

TEST_CASE("axis: ticks are at round numbers with labels of one kind") {
  CHECK(labels(0, 1) == Strings{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(labels(0, 4000) == Strings{"0", "1,000", "2,000", "3,000", "4,000"});
  CHECK(labels(-2, 2) == Strings{"−2", "−1", "0", "1", "2"});
  CHECK(labels(0, 2e-5) == Strings{"0", "0.5×10⁻⁵", "1.0×10⁻⁵", "1.5×10⁻⁵", "2.0×10⁻⁵"});
  CHECK(labels(0, 3e6) == Strings{"0", "1×10⁶", "2×10⁶", "3×10⁶"});
  CHECK(labels(1, 1000, true) == Strings{"1", "10", "100", "1,000"});
  CHECK(labels(1e-4, 1e-1, true) == Strings{"10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"});
  CHECK(labels(1, 20, true) == Strings{"1", "2", "5", "10", "20"});
  CHECK(labels(6, 25, true) == Strings{"6", "7", "8", "9", "10", "20"});
  CHECK(labels(1e-30, 1, true).size() <= 8);
  CHECK(tick_text(1024) == "1,024");
  CHECK(tick_text(-2.5e-7) == "−2.5×10⁻⁷");
}

TEST_CASE("axis: scales map the ends to the ends, and forth and back") {
  const Axis linear{.label = "", .min = -1.0, .max = 3.0};
  const Scale s(linear, Extent(linear), 10, 210);
  CHECK(s(-1) == doctest::Approx(10));
  CHECK(s(1) == doctest::Approx(110));
  CHECK(s.value_at(s(0.37)) == doctest::Approx(0.37));
  const Axis log{.label = "", .log = true, .min = 1.0, .max = 100.0};
  const Scale t(log, Extent(log), 0, 200);
  CHECK(t(10) == doctest::Approx(100));
  CHECK(t.value_at(t(7)) == doctest::Approx(7));
  CHECK_FALSE(t.shows(0.0));
  CHECK_FALSE(t.shows(not_a_number));
  Extent e(log);
  for (double v : {not_a_number, -1.0, 0.0}) e.include(v);
  CHECK(e.empty());
}

TEST_CASE("plot: odd data give a picture all the same") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> odd{{},
                                             {not_a_number, not_a_number, not_a_number},
                                             {5, 5, 5},
                                             {0, -1, 2},
                                             {1e300, -1e300, 0},
                                             {inf, 1, 2},
                                             {1e-320, 1, 2},
                                             {1e308, -1e308, 0},
                                             {1e-320, 2e-320, 0},
                                             {1e-140, 1, 1e140}};
  for (bool log : {false, true})
    for (const auto& y : odd) {
      std::vector<double> x(y.size());
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
      const std::string svg = draw_plot({.title = "odd",
                                         .x = {.label = "x"},
                                         .y = {.label = "y", .log = log},
                                         .series = {{"s", x, y, Style::line_and_points}}});
      CHECK(xml_fault(svg) == "");
      CHECK(svg.size() < 20000);
    }
}

TEST_CASE("plot: lines, bands, labels, references") {
  Series a{"loss", {0, 1, 2, 3, 4}, {5, 4, not_a_number, 2, 1}};
  const std::string broken = draw_plot({.title = "t", .series = {a}});
  CHECK(count_of(broken, "<polyline") == 2);  // NaN interrupts the line
  Series b{"b", {0, 1}, {1, 2}, Style::points};
  b.low = {0.5, 1.5};
  b.high = {1.5, 2.5};
  b.labels = {"first <1>", "second"};
  const std::string svg = draw_plot({.title = "t", .series = {b}, .references = {{1.2, "chance"}}});
  CHECK(xml_fault(svg) == "");
  CHECK(svg.find("first &lt;1&gt;") != std::string::npos);
  CHECK(svg.find("chance") != std::string::npos);
  CHECK(count_of(svg, "<circle") == 3);  // two points and the legend's
  b.low.pop_back();
  CHECK_THROWS_AS(draw_plot({.title = "t", .series = {b}}), Error);
  b.low = b.high = {};
  b.x.push_back(1);
  CHECK_THROWS_AS(draw_plot({.title = "t", .series = {b}}), Error);
}

TEST_CASE("plot: a long curve keeps its extremes and stays small") {
  Series s{"loss", {}, {}};
  for (int i = 0; i < 200000; ++i) {
    s.x.push_back(i);
    s.y.push_back(std::sin(i * 0.001) + (i == 123456 ? 50.0 : 0.0));
  }
  const std::string svg = draw_plot({.title = "t", .series = {s}});
  CHECK(svg.size() < 60000);
  // The one high point is the topmost of the line: it lies 4 % below the upper end of the axis.
  const std::size_t at = svg.find("points=\"") + 8;
  double least = 1e9;
  std::string points = svg.substr(at, svg.find('"', at) - at);
  for (std::size_t comma = 0; (comma = points.find(',', comma)) != std::string::npos; ++comma)
    least = std::min(least, std::stod(points.substr(comma + 1)));
  CHECK(least < 80.0);
}

TEST_CASE("bars and regions") {
  BarPlot bars{
      .title = "b", .y_label = "y", .categories = {"one", "two"}, .groups = {{"g", {1, -2}}}};
  const std::string svg = draw_bars(bars);
  CHECK(xml_fault(svg) == "");
  CHECK(count_of(svg, std::string("fill=\"") + palette(0)) == 2);
  bars.groups[0].heights.push_back(3);
  CHECK_THROWS_AS(draw_bars(bars), Error);
  RegionPlot plane{.title = "r",
                   .x = {.label = "x", .min = -1, .max = 1},
                   .y = {.label = "y", .min = -1, .max = 1},
                   .value = [](double x, double) { return x > 0 ? 1.0 : 0.0; },
                   .points = {{"p", {0.5}, {0.5}, Style::points}}};
  plane.resolution = 20;
  const std::string regions = draw_regions(plane);
  CHECK(xml_fault(regions) == "");
  CHECK(regions.find("data:image/png;base64,") != std::string::npos);
  plane.x.min.reset();
  CHECK_THROWS_AS(draw_regions(plane), Error);
}

TEST_CASE("heat map: a cell for each value, one image for many") {
  HeatMap map{.title = "m",
              .values = {{0, 0.5, 1}, {1, not_a_number, 0}},
              .row_labels = {"a", "<b>"},
              .column_labels = {"x", "y", "a long column label"}};
  map.number_format = ".1f";
  map.colour_bar = false;
  const std::string svg = draw_heat_map(map);
  CHECK(xml_fault(svg) == "");
  CHECK(count_of(svg, "<rect") == 8);  // ground, six cells, border
  CHECK(svg.find(">0.5<") != std::string::npos);
  CHECK(svg.find("&lt;b&gt;") != std::string::npos);
  map.row_labels.pop_back();
  CHECK_THROWS_AS(draw_heat_map(map), Error);
  CHECK_THROWS_AS(draw_heat_map({.title = "ragged", .values = {{1, 2}, {1}}}), Error);
  CHECK_THROWS_AS(draw_heat_map({.title = "none", .values = {}}), Error);
  HeatMap large{.title = "l", .values = std::vector(40, std::vector(40, 0.25))};
  large.values[3][4] = -1;
  large.colours = Colours::diverging;
  const std::string image = draw_heat_map(large);
  CHECK(xml_fault(image) == "");
  CHECK(count_of(image, "<image") == 1);
  CHECK(count_of(image, "<rect") < 60);
}

TEST_CASE("images: grids with boxes") {
  ImagePanel panel{.width = 4, .height = 2, .brightness = {0, 1, 2, -1, 0.5f, 0, 1, 1}};
  panel.boxes = {{0, 0, 2, 2, "7"}};
  panel.caption = "seven & more";
  const std::string svg =
      draw_images({.title = "t", .panels = {panel, panel, panel}, .columns = 2});
  CHECK(xml_fault(svg) == "");
  CHECK(count_of(svg, "<image") == 3);
  panel.brightness.pop_back();
  CHECK_THROWS_AS(draw_images({.title = "t", .panels = {panel}}), Error);
  CHECK(grey_raster(2, 1, {static_cast<float>(not_a_number), 0.5f}).pixels ==
        std::vector<std::uint8_t>{0, 128});
}

TEST_CASE("png: base64 and the file of one pixel") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foobar") == "Zm9vYmFy");
  const std::string png = png_bytes({1, 1, 1, {0xFF}});
  CHECK(png.substr(0, 8) == std::string("\x89PNG\r\n\x1A\n"));
  // The end chunk is the same in every PNG file, with a well-known CRC.
  CHECK(png.substr(png.size() - 12) == std::string("\0\0\0\0IEND\xAE\x42\x60\x82", 12));
  CHECK_THROWS_AS(png_bytes({2, 1, 1, {0}}), Error);
  CHECK_THROWS_AS(png_bytes({0, 0, 1, {}}), Error);
}
