#include "data/image.h"

#include <algorithm>
#include <cmath>

#include "engine/create.h"
#include "engine/io/file.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/resize.h"
#include "engine/ops/shape.h"

namespace labgrad::data {
namespace {

void check(const char* op, const Tensor& image) {
  if (image.rank() != 3 && image.rank() != 4)
    fail(std::string(op) + ": needs a picture (C, H, W) or a batch (N, C, H, W), got shape " +
         image.shape().str());
}

Tensor per_channel(const std::vector<double>& values, const Tensor& image) {
  return from_values(values, {static_cast<std::int64_t>(values.size()), 1, 1},
                     {.dtype = image.dtype(), .device = image.device()});
}

}  // namespace

void write_image(const std::filesystem::path& path, const Tensor& image) {
  if (image.rank() != 3 || !is_floating(image.dtype()) || image.numel() == 0 ||
      (image.size(0) != 1 && image.size(0) != 3))
    fail(path.string() + ": needs a picture (1, H, W) or (3, H, W) of a floating dtype, got " +
         name_of(image.dtype()) + " " + image.shape().str());
  const std::int64_t channels = image.size(0), height = image.size(1), width = image.size(2);
  const std::vector<double> values = permute(image.detach(), {1, 2, 0}).to_vector();
  std::string text = (channels == 1 ? "P5\n" : "P6\n") + std::to_string(width) + " " +
                     std::to_string(height) + "\n255\n";
  for (const double value : values) {
    if (std::isnan(value)) fail(path.string() + ": the picture has a value that is not a number");
    text += static_cast<char>(static_cast<int>(std::clamp(value, 0.0, 1.0) * 255 + 0.5));
  }
  write_file_atomic(path, text);
}

Tensor resize(const Tensor& image, Plane size) {
  check("resize", image);
  if (image.rank() == 4) return interpolate_bilinear(image, size);
  return squeeze(interpolate_bilinear(unsqueeze(image, 0), size), 0);
}

Tensor centre_crop(const Tensor& image, Plane size) {
  check("centre_crop", image);
  const std::int64_t height = image.size(-2), width = image.size(-1);
  if (size.h < 1 || size.w < 1 || size.h > height || size.w > width)
    fail("centre_crop: cannot cut " + Shape({size.h, size.w}).str() +
         " out of a picture of shape " + image.shape().str());
  const std::int64_t top = (height - size.h) / 2, left = (width - size.w) / 2;
  return slice(slice(image, -2, top, top + size.h), -1, left, left + size.w);
}

Tensor normalise(const Tensor& image, const std::vector<double>& mean,
                 const std::vector<double>& std) {
  check("normalise", image);
  for (const auto* numbers : {&mean, &std})
    if (numbers->size() != 1 && std::ssize(*numbers) != image.size(-3))
      fail("normalise: needs one number for all channels or one for each, got " +
           std::to_string(mean.size()) + " means and " + std::to_string(std.size()) +
           " deviations for a picture of shape " + image.shape().str());
  for (const double s : std)
    if (!(s > 0)) fail("normalise: the deviation " + std::to_string(s) + " is not above 0");
  if (!is_floating(image.dtype()))
    fail(std::string("normalise: needs a floating dtype (f32 or f64), got ") +
         name_of(image.dtype()));
  return (image - per_channel(mean, image)) / per_channel(std, image);
}

Tensor three_channels(const Tensor& image) {
  check("three_channels", image);
  const std::int64_t channels = image.size(-3);
  if (channels == 3) return image;
  if (channels != 1)
    fail("three_channels: needs 1 or 3 channels, got a picture of shape " + image.shape().str());
  Shape shape = image.shape();
  shape[image.rank() - 3] = 3;
  return expand(image, shape);
}

}  // namespace labgrad::data
