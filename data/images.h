#pragma once
// Small grey pictures with a label each: MNIST, Fashion-MNIST, generated digits.

#include <cstdint>
#include <span>
#include <vector>

namespace labgrad::data {

enum class Split : std::uint8_t { train, test };

struct LabelledImages {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  // picture after picture, row after row; 0 is the background
  std::vector<std::uint8_t> labels;  // one for each picture

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
  // The pixels of picture i, which must be one of 0 .. size() - 1.
  std::span<const std::uint8_t> image(std::int64_t i) const {
    const auto area = static_cast<std::size_t>(height * width);
    return std::span(pixels).subspan(static_cast<std::size_t>(i) * area, area);
  }
};

}  // namespace labgrad::data
