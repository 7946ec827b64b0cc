#pragma once
// Pictures: files in the formats PGM (grey) and PPM (colour), and the steps between a picture and a
// network. A picture is a tensor (C, H, W) of f32, C = 1 for grey and 3 for red, green and blue; 0
// is black and 1 the brightest.

#include <filesystem>
#include <vector>

#include "engine/tensor.h"

namespace labgrad::data {

// Reads Netpbm's four formats of pictures (netpbm.sourceforge.net/doc/pgm.html and ppm.html):
// P2 and P3, whose samples are decimal numbers, P5 and P6, whose samples are bytes or, if the
// largest value maxval is above 255, pairs of bytes, the high one first. Samples are divided by
// maxval, 1 to 65535; they are taken as they are, without regard to gamma. "#" begins a comment up
// to the end of the line, anywhere but among the bytes of P5 and P6.
// Other formats become one of these by, for example, `magick photo.jpg photo.ppm`.
//
// Throws MissingFile (engine/io/file.h), or Error with the file and the byte for: another format; a
// size or maxval that is no number, 0 or too large; a header that promises more samples than the
// file can hold, before any memory is taken for them; samples above maxval; bytes after the last
// sample; a file above 256 MiB.
Tensor read_image(const std::filesystem::path& path);

// Writes a picture as P5 or P6, by its channels, with maxval 255: the nearest of 255 x, what is
// outside 0 .. 1 cut off. The file appears whole or not at all. Any floating dtype and layout.
// Throws Error for another shape, an empty picture, a NaN, and what AtomicFile throws.
void write_image(const std::filesystem::path& path, const Tensor& image);

// All below take pictures (C, H, W) or batches (N, C, H, W) of any floating dtype.

// In another size: bilinear, half-pixel centres (interpolate_bilinear in engine/ops/resize.h), no
// smoothing before: a picture that is made much smaller takes few of its pixels into account.
// Error: rank or dtype; a size below 1.
Tensor resize(const Tensor& image, Plane size);

// The middle part; where it cannot lie even, one row or column more is left below or to the right.
// Error: rank; larger than the picture or below 1.
Tensor centre_crop(const Tensor& image, Plane size);

// (x - mean) / std in each channel; one number counts for all of them. ImageNet's pixels have mean
// {0.485, 0.456, 0.406} and std {0.229, 0.224, 0.225}; {0.5} and {0.5} bring 0 .. 1 to -1 .. 1.
// Error: rank, dtype, how many numbers; a std that is not above 0.
Tensor normalise(const Tensor& image, const std::vector<double>& mean,
                 const std::vector<double>& std);

// A grey picture as three equal channels (a view); one in colour stays as it is. Error: rank,
// channels.
Tensor three_channels(const Tensor& image);

}  // namespace labgrad::data
