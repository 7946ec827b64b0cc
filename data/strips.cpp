#include "data/strips.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <system_error>

#include "engine/create.h"
#include "engine/error.h"
#include "engine/io/npy.h"

namespace labgrad::data {
namespace {

void check_images(const LabelledImages& images, const char* what) {
  if (images.size() == 0) fail(fmt::format("{}: there are no images", what));
  if (images.height != box_side || images.width != box_side)
    fail(fmt::format("{}: the images are {} x {}, expected {} x {}", what, images.height,
                     images.width, box_side, box_side));
  if (static_cast<std::int64_t>(images.pixels.size()) != images.size() * box_side * box_side)
    fail(fmt::format("{}: {} bytes of pixels for {} images of {} x {}", what, images.pixels.size(),
                     images.size(), box_side, box_side));
}

// The overlaps are drawn first, so only a length that fits without any is certain to fit.
void check_length(std::int64_t length, std::int64_t width, const char* what) {
  if (length < 1) fail(fmt::format("{}: a strip of {} digits; at least 1", what, length));
  if (length > width / box_side)
    fail(fmt::format("{}: {} digits of {} pixels do not fit a strip of {}; at most {} do", what,
                     length, box_side, width, width / box_side));
}

// A strip of which nothing is painted yet.
Strip lay_out(const LabelledImages& images, std::int64_t length, NumpyGenerator& generator,
              std::int64_t width) {
  Strip strip{.width = width, .picture = {}, .digits = {}, .src = {}, .xs = {}};
  strip.src = generator.integers(0, images.size(), length);
  const std::vector<std::int64_t> gaps = generator.integers(-max_overlap, 1, length - 1);
  const std::int64_t span = std::accumulate(gaps.begin(), gaps.end(), box_side * length);
  strip.xs.push_back(generator.integers(0, width - span + 1));
  for (const std::int64_t gap : gaps) strip.xs.push_back(strip.xs.back() + box_side + gap);
  for (const std::int64_t i : strip.src)
    strip.digits.push_back(images.labels[static_cast<std::size_t>(i)]);
  return strip;
}

}  // namespace

std::vector<std::uint8_t> draw_strip(const LabelledImages& images,
                                     std::span<const std::int64_t> src,
                                     std::span<const std::int64_t> xs, std::int64_t width) {
  check_images(images, "draw_strip");
  if (src.size() != xs.size())
    fail(fmt::format("draw_strip: {} images for {} places", src.size(), xs.size()));
  if (width < 0) fail(fmt::format("draw_strip: a width of {}", width));
  std::vector<std::uint8_t> strip(static_cast<std::size_t>(box_side * width));
  for (std::size_t k = 0; k < src.size(); ++k) {
    if (src[k] < 0 || src[k] >= images.size())
      fail(fmt::format("draw_strip: image {} of {}", src[k], images.size()));
    if (xs[k] < 0 || xs[k] > width - box_side)
      fail(fmt::format("draw_strip: the box from column {} to {} leaves the strip, which has {}",
                       xs[k], xs[k] + box_side - 1, width));
    auto pixel = images.image(src[k]).begin();
    for (std::int64_t y = 0; y < box_side; ++y) {
      auto out = strip.begin() + y * width + xs[k];
      for (std::int64_t x = 0; x < box_side; ++x, ++out, ++pixel) *out = std::max(*out, *pixel);
    }
  }
  return strip;
}

Strip make_strip(const LabelledImages& images, std::int64_t length, NumpyGenerator& generator,
                 std::int64_t width) {
  check_images(images, "make_strip");
  check_length(length, width, "make_strip");
  Strip strip = lay_out(images, length, generator, width);
  strip.picture = draw_strip(images, strip.src, strip.xs, width);
  return strip;
}

StripDataset::StripDataset(const LabelledImages& images, std::int64_t n, Lengths lengths,
                           std::uint64_t seed, std::int64_t width)
    : images_(&images), width_(width) {
  constexpr const char* what = "StripDataset";
  check_images(images, what);
  if (n < 0) fail(fmt::format("{}: {} strips asked for", what, n));
  check_length(lengths.first, width, what);
  check_length(lengths.last, width, what);
  if (lengths.first > lengths.last)
    fail(fmt::format("{}: lengths from {} to {}", what, lengths.first, lengths.last));
  NumpyGenerator generator(seed);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    order[static_cast<std::size_t>(i)] = lengths.first + i % (lengths.last - lengths.first + 1);
  generator.shuffle(order);
  for (const std::int64_t length : order) {
    const Strip strip = lay_out(images, length, generator, width);
    digits_.insert(digits_.end(), strip.digits.begin(), strip.digits.end());
    src_.insert(src_.end(), strip.src.begin(), strip.src.end());
    xs_.insert(xs_.end(), strip.xs.begin(), strip.xs.end());
    begin_.push_back(digits_.size());
  }
}

std::span<const std::int64_t> StripDataset::row(const std::vector<std::int64_t>& of,
                                                std::int64_t i) const {
  if (i < 0 || i >= size()) fail(fmt::format("StripDataset: strip {} of {}", i, size()));
  const auto at = static_cast<std::size_t>(i);
  return std::span(of).subspan(begin_[at], begin_[at + 1] - begin_[at]);
}

std::int64_t StripDataset::length(std::int64_t i) const {
  return static_cast<std::int64_t>(row(digits_, i).size());
}

std::vector<std::uint8_t> StripDataset::picture(std::int64_t i) const {
  return draw_strip(*images_, src(i), xs(i), width_);
}

Strip StripDataset::strip(std::int64_t i) const {
  const auto copy = [](std::span<const std::int64_t> x) { return std::vector(x.begin(), x.end()); };
  return {.width = width_,
          .picture = picture(i),
          .digits = copy(digits(i)),
          .src = copy(src(i)),
          .xs = copy(xs(i))};
}

StripBatch collate(std::span<const Strip> strips) {
  if (strips.empty()) fail("collate: there are no strips");
  const std::int64_t width = strips[0].width;
  std::size_t longest = 0;
  for (const Strip& strip : strips) {
    if (strip.width != width)
      fail(fmt::format("collate: strips of widths {} and {}", width, strip.width));
    longest = std::max(longest, strip.digits.size());
  }
  const std::size_t symbols = longest + 1;
  std::vector<float> images;
  images.reserve(strips.size() * strips[0].picture.size());
  std::vector<std::int64_t> inputs(strips.size() * symbols, symbol::pad), targets = inputs;
  for (std::size_t b = 0; b < strips.size(); ++b) {
    for (const std::uint8_t pixel : strips[b].picture)
      images.push_back(static_cast<float>(pixel) / 255.0f);
    const std::vector<std::int64_t>& digits = strips[b].digits;
    inputs[b * symbols] = symbol::sos;
    std::copy(digits.begin(), digits.end(), &inputs[b * symbols] + 1);
    std::copy(digits.begin(), digits.end(), &targets[b * symbols]);
    targets[b * symbols + digits.size()] = symbol::eos;
  }
  const auto size = static_cast<std::int64_t>(strips.size());
  const Shape text{size, static_cast<std::int64_t>(symbols)};
  return {.images = from_values(images, {size, 1, box_side, width}),
          .inputs = from_values(inputs, text),
          .targets = from_values(targets, text)};
}

StripBatch collate(const StripDataset& strips, std::span<const std::int64_t> indices) {
  std::vector<Strip> batch;
  for (const std::int64_t i : indices) batch.push_back(strips.strip(i));
  return collate(batch);
}

void save_strips(const std::filesystem::path& folder, const StripDataset& strips) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (!std::filesystem::is_directory(folder))
    fail(fmt::format("{}: this folder cannot be made: {}", folder.string(), code.message()));
  std::vector<std::uint8_t> images;
  std::vector<std::int64_t> lengths, digits, src, xs;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (std::int64_t i = 0; i < strips.size(); ++i) {
    append(images, strips.picture(i));
    lengths.push_back(strips.length(i));
    append(digits, strips.digits(i));
    append(src, strips.src(i));
    append(xs, strips.xs(i));
  }
  const auto save = [&](const char* name, const std::vector<std::int64_t>& values) {
    save_npy(folder / name, from_values(values, {static_cast<std::int64_t>(values.size())}));
  };
  save_npy(folder / "images.npy", images, {strips.size(), box_side, strips.width()});
  save("lengths.npy", lengths);
  save("digits.npy", digits);
  save("src.npy", src);
  save("xs.npy", xs);
}

}  // namespace labgrad::data
