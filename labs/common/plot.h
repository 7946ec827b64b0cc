#pragma once
// Plots on two axes, as SVG text: line charts, scatter plots, bars, and the regions into which a
// function divides the plane.

#include <functional>
#include <string>
#include <vector>

#include "labs/common/axis.h"
#include "labs/common/frame.h"

namespace labgrad::labs {

enum class Style { line, points, line_and_points };

struct Series {
  std::string name = {};  // in the legend; empty: not there
  std::vector<double> x = {}, y = {};
  Style style = Style::line;
  bool dashed = false;
  std::vector<double> low = {}, high = {};  // a band about the line, the size of y
  std::vector<std::string> labels = {};     // beside the points, the size of y
};

// A straight line across the plot: a bound, the level of chance.
struct Reference {
  double at;
  std::string label = {};
  bool vertical = false;
};

struct Plot {
  std::string title = {};
  Axis x = {}, y = {};
  std::vector<Series> series = {};
  std::vector<Reference> references = {};
  double width = 640.0, height = 380.0;
};

// Numbers that aren't finite (or not positive, on a logarithmic axis) interrupt the line. Throws
// Error if the sizes within a series differ.
std::string draw_plot(const Plot& plot);

struct BarPlot {
  std::string title = {};
  std::string y_label = {};
  std::vector<std::string> categories = {};
  struct Group {
    std::string name = {};
    std::vector<double> heights = {};  // one a category
    std::vector<double> errors = {};   // half the length of an error bar, one a category
  };
  std::vector<Group> groups = {};
  std::string x_label = {};
  std::vector<Reference> references = {};
  double width = 640.0, height = 380.0;
};

std::string draw_bars(const BarPlot& plot);

// The plane coloured by the value of a function of x and y (a score from 0 to 1, one half is the
// boundary, drawn as a line), with points on top.
struct RegionPlot {
  std::string title = {};
  Axis x = {}, y = {};  // min and max must be set
  std::function<double(double, double)> value = {};
  std::vector<Series> points = {};
  double width = 520.0, height = 440.0;
  int resolution = 100;  // cells along the longer side
};

std::string draw_regions(const RegionPlot& plot);

}  // namespace labgrad::labs
