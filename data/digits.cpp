#include "data/digits.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "data/digit_strokes.h"
#include "engine/error.h"
#include "engine/philox.h"

namespace labgrad::data {
namespace {

constexpr std::int64_t side = 28;

// The random numbers of one picture. Seed, split and picture are all part of the Philox counter or
// key, so no two pictures share a number.
class Draws {
 public:
  Draws(std::uint64_t seed, Split split, std::int64_t picture)
      : seed_(seed), split_(split), picture_(static_cast<std::uint64_t>(picture)) {}

  double uniform(double low, double high) {
    if (used_ == 4) {
      block_ = philox4x32(
          {{count_++, static_cast<std::uint32_t>(picture_),
            static_cast<std::uint32_t>(picture_ >> 32), split_ == Split::train ? 0u : 1u}},
          static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32));
      used_ = 0;
    }
    return low + (high - low) * (block_.word[used_++] * 0x1p-32);
  }
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(uniform(0, static_cast<double>(n)));
  }

 private:
  std::uint64_t seed_;
  Split split_;
  std::uint64_t picture_;
  PhiloxBlock block_{};
  std::uint32_t count_ = 0;
  std::size_t used_ = 4;
};

// The curve of Catmull and Rom (1974) through b and c, with neighbours a and d, at t in 0 .. 1.
double spline(double a, double b, double c, double d, double t) {
  return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

// The stroke as a chain of short lines.
Stroke smooth(const Stroke& points) {
  constexpr int pieces = 5;
  Stroke line = {points.front()};
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    const StrokePoint &a = points[k == 0 ? 0 : k - 1], &b = points[k], &c = points[k + 1],
                      &d = points[std::min(k + 2, points.size() - 1)];
    if (b.x == c.x && b.y == c.y) continue;
    for (int piece = 1; piece <= pieces; ++piece) {
      const double t = static_cast<double>(piece) / pieces;
      line.push_back({spline(a.x, b.x, c.x, d.x, t), spline(a.y, b.y, c.y, d.y, t)});
    }
  }
  return line;
}

// One way to write the digit, in one hand: the same slant, turn and proportions for all strokes.
Glyph write(std::int64_t digit, Draws& draws) {
  const auto ways = glyphs_of(digit);
  Glyph glyph = ways[draws.below(ways.size())];
  const double slant = draws.uniform(-0.2, 0.5);
  const double narrow = draws.uniform(0.7, 1.3);
  // cos and sin of the turn 2 atan(half), up to 0.18, by arithmetic that is the same everywhere.
  const double half = draws.uniform(-0.09, 0.09);
  const double cosine = (1 - half * half) / (1 + half * half), sine = 2 * half / (1 + half * half);
  for (Stroke& stroke : glyph) {
    StrokePoint before{-1, -1}, shift{0, 0};
    for (StrokePoint& p : stroke) {
      // A corner moves as a whole.
      if (p.x != before.x || p.y != before.y) shift = {draws.uniform(-7, 7), draws.uniform(-7, 7)};
      before = p;
      const double x = (p.x + shift.x - 50) * narrow - slant * (p.y + shift.y - 50);
      const double y = p.y + shift.y - 50;
      p = {cosine * x - sine * y, sine * x + cosine * y};
    }
    stroke = smooth(stroke);
  }
  return glyph;
}

// Moves and scales the glyph to its place in the picture, in pixels.
void place(Glyph& glyph, Draws& draws) {
  double left = 1e9, right = -1e9, top = 1e9, bottom = -1e9;
  for (const Stroke& stroke : glyph) {
    for (const StrokePoint& p : stroke) {
      left = std::min(left, p.x), right = std::max(right, p.x);
      top = std::min(top, p.y), bottom = std::max(bottom, p.y);
    }
  }
  const double scale = draws.uniform(16.5, 20) / std::max(right - left, bottom - top);
  const double x = side / 2.0 + draws.uniform(-1, 1), y = side / 2.0 + draws.uniform(-1, 1);
  for (Stroke& stroke : glyph) {
    for (StrokePoint& p : stroke)
      p = {x + scale * (p.x - (left + right) / 2), y + scale * (p.y - (top + bottom) / 2)};
  }
}

double distance(StrokePoint p, StrokePoint a, StrokePoint b) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  double along = length > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0;
  along = std::clamp(along, 0.0, 1.0);
  const double x = p.x - a.x - along * dx, y = p.y - a.y - along * dy;
  return std::sqrt(x * x + y * y);
}

// A line of a round pen, its edge blurred over one pixel. Only the pixels near the line are looked
// at; the darkest ink stays.
void ink(std::span<std::uint8_t> picture, StrokePoint a, StrokePoint b, double radius) {
  const double reach = radius + 0.5;
  const auto first = [reach](double u, double v) {
    return std::max(std::int64_t{0}, static_cast<std::int64_t>(std::min(u, v) - reach));
  };
  const auto last = [reach](double u, double v) {
    return std::min(side - 1, static_cast<std::int64_t>(std::max(u, v) + reach));
  };
  for (std::int64_t y = first(a.y, b.y); y <= last(a.y, b.y); ++y) {
    for (std::int64_t x = first(a.x, b.x); x <= last(a.x, b.x); ++x) {
      const StrokePoint centre{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
      const double cover = std::clamp(reach - distance(centre, a, b), 0.0, 1.0);
      std::uint8_t& pixel = picture[static_cast<std::size_t>(y * side + x)];
      pixel = std::max(pixel, static_cast<std::uint8_t>(255 * cover + 0.5));
    }
  }
}

void draw(std::span<std::uint8_t> picture, std::int64_t digit, Draws& draws) {
  Glyph glyph = write(digit, draws);
  place(glyph, draws);
  const double radius = draws.uniform(0.7, 1.7);
  for (const Stroke& stroke : glyph) {
    // The hand presses more or less as it moves on.
    const double start = radius * draws.uniform(0.8, 1.2), end = radius * draws.uniform(0.8, 1.2);
    for (std::size_t k = 0; k + 1 < stroke.size(); ++k) {
      const double t = static_cast<double>(k) / static_cast<double>(stroke.size());
      ink(picture, stroke[k], stroke[k + 1], start + (end - start) * t);
    }
  }
}

}  // namespace

LabelledImages generated_digits(std::int64_t n, Split split, std::uint64_t seed) {
  if (n < 0) fail("generated_digits: " + std::to_string(n) + " pictures asked for");
  constexpr auto area = static_cast<std::size_t>(side * side);
  LabelledImages images{.height = side,
                        .width = side,
                        .pixels = std::vector<std::uint8_t>(static_cast<std::size_t>(n) * area),
                        .labels = {}};
  for (std::int64_t i = 0; i < n; ++i) {
    Draws draws(seed, split, i);
    const std::size_t digit = draws.below(10);
    images.labels.push_back(static_cast<std::uint8_t>(digit));
    draw(std::span(images.pixels).subspan(static_cast<std::size_t>(i) * area, area),
         static_cast<std::int64_t>(digit), draws);
  }
  return images;
}

}  // namespace labgrad::data
