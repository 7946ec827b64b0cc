#pragma once
// Rasters as PNG, to be put into pictures: an SVG of one rectangle a pixel would be ten times as
// large.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace labgrad::labs {

struct Raster {
  std::size_t width = 0, height = 0;
  std::size_t channels = 1;          // 1: grey, 3: red, green, blue
  std::vector<std::uint8_t> pixels;  // row by row from the top, height * width * channels
};

// A grey raster from brightnesses, 0 (black) to 1 (white), clamped; NaN becomes black.
Raster grey_raster(std::size_t width, std::size_t height, const std::vector<float>& brightness);

// The raster as the bytes of a PNG file, not compressed. Throws Error if sizes don't match.
std::string png_bytes(const Raster& raster);

// RFC 4648.
std::string base64(std::string_view bytes);

// "data:image/png;base64,..."
std::string png_data_uri(const Raster& raster);

}  // namespace labgrad::labs
