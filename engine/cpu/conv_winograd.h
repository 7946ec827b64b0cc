#pragma once
// Convolutions by Winograd's transform (winograd.h): all three products.

#include "engine/cpu/conv_plane.h"

namespace labgrad::cpu {

// Does it serve here, for images of f32? If winograd() is on, the shapes are those that winograd.h
// tells, the channels of both images lie side by side, and it pays.
bool suits_winograd(const Array& y, const Array& x, const Slide& s, std::int64_t groups);

// y = x slid over by the filters.
void winograd_slide(const Array& y, const Array& x, const Filters<float>& filters, const Slide& s);

// dw = the products of x and dy, summed.
void winograd_weight_gradient(const Array& dw, const Array& x, const Array& dy, const Slide& s);

}  // namespace labgrad::cpu
