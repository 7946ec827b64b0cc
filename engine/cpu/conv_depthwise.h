#pragma once
// Depthwise convolution: each channel has one filter of its own. There is nothing to multiply as
// matrices; the channels are the vectors.

#include "engine/cpu/conv_plane.h"

namespace labgrad::cpu {

// y = each channel of x slid over by its filter, whose elements are at
// w[c * channel + a * row + b * column]. s.channels is of no account.
template <class T>
void slide_depthwise(const Array& y, const Array& x, const T* w, std::int64_t channel,
                     std::int64_t row, std::int64_t column, Slide s);

// dw = the products of x and dy summed; dw, x and dy as in Kernels::conv2d_weight_gradient.
template <class T>
void depthwise_weight_gradient(const Array& dw, const Array& x, const Array& dy, Slide s);

}  // namespace labgrad::cpu
