#pragma once
// How digits are written by hand: the strokes of each, in the ways that people write them.

#include <cstdint>
#include <span>
#include <vector>

namespace labgrad::data {

// In hundredths of the digit's box: x to the right, y down.
struct StrokePoint {
  double x, y;
};

// A smooth curve through its points; a point that stands twice is a corner.
using Stroke = std::vector<StrokePoint>;

// One way to write a digit.
using Glyph = std::vector<Stroke>;

// The ways to write digit 0 .. 9; at least one.
std::span<const Glyph> glyphs_of(std::int64_t digit);

}  // namespace labgrad::data
