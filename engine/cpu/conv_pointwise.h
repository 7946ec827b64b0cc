#pragma once
// A 1 x 1 convolution is a product of matrices, pixels by channels times channels by filters, in
// which rows and samples run on: no strips, no planes.

#include <optional>

#include "engine/kernels.h"

namespace labgrad::cpu {

// Operands of gemm, with the samples in front: c (N, pixels, columns) = a (N, pixels, depth) times
// b (N, depth, columns), which is the same for all samples.
struct PixelProduct {
  Array c, a, b;
};

// y = x * w as a product; none if the filter is larger or has a stride, groups or padding, or if an
// image's rows do not follow each other in memory as its pixels do.
std::optional<PixelProduct> pointwise(const Array& y, const Array& x, const Array& w,
                                      const Convolution& v);

// dx = dy *ᵀ w likewise.
std::optional<PixelProduct> pointwise_input_gradient(const Array& dx, const Array& dy,
                                                     const Array& w, const Convolution& v);

}  // namespace labgrad::cpu
