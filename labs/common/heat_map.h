#pragma once
// A matrix as coloured cells: attention maps, alignments, correlations.

#include <optional>
#include <string>
#include <vector>

#include "labs/common/strips.h"

namespace labgrad::labs {

enum class Colours {
  sequential,  // white to dark blue: weights, counts
  diverging,   // blue over white (zero) to orange: differences, products
};

struct HeatMap {
  std::string title = {};
  std::vector<std::vector<double>> values = {};  // rows from the top; all of one length
  std::vector<std::string> row_labels = {}, column_labels = {};
  std::string row_title = {}, column_title = {};  // what the rows and the columns are
  Colours colours = Colours::sequential;
  std::optional<double> min = {}, max = {};  // of the colours; else from the values
  std::string number_format = {};            // ".2f": the value stands in its cell
  bool colour_bar = true;
  std::optional<double> cell = {};       // width and height of a cell in pixels
  std::optional<ImagePanel> above = {};  // an image as wide as the matrix: what columns look at
};

// Values that aren't finite are grey. Throws Error if the sizes don't agree.
std::string draw_heat_map(const HeatMap& map);

}  // namespace labgrad::labs
