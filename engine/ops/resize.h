#pragma once
// Images in another size.

#include "engine/tensor.h"

namespace labgrad {

// (N, C, H, W) -> (N, C, size.h, size.w), each pixel mixed from the four next to it. Pixels are
// squares and the images' edges lie on each other (align_corners = false in PyTorch).
// Errors: rank or dtype; a size below 1; an empty plane.
Tensor interpolate_bilinear(const Tensor& x, Plane size, Caller caller = Caller::here());

}  // namespace labgrad
