#pragma once
// Initial values, drawn as PyTorch draws them: the same seed gives the same weights. All write in
// place and outside the graph; `w` is dense and of a floating dtype. Plain uniform_ and normal_ are
// in engine/create.h.
//
// fan_in is the product of all sizes but the first, fan_out the first times the sizes from the
// third on: for a Linear [out, in], they are in and out.

#include "engine/create.h"

namespace labgrad::nn {

// Uniform in ±√3·gain/√fan_in with gain = √(2/(1 + a²)); He et al. 2015, section 2.2. a is the
// slope of a leaky ReLU; PyTorch's Linear and Conv use a = √5, which makes the bound 1/√fan_in.
void kaiming_uniform_(Tensor& w, double a = 0, Generator& g = default_generator());
// Normal with standard deviation √(2/fan), of the fan that is named; He et al. 2015, equation 10
// (Fan::in, forward) and 14 (Fan::out, backward).
enum class Fan : std::uint8_t { in, out };
void kaiming_normal_(Tensor& w, Fan fan = Fan::in, Generator& g = default_generator());
// Uniform in ±gain·√(6/(fan_in + fan_out)); Glorot and Bengio 2010, equation 16.
void xavier_uniform_(Tensor& w, double gain = 1, Generator& g = default_generator());
// Normal with standard deviation gain·√(2/(fan_in + fan_out)).
void xavier_normal_(Tensor& w, double gain = 1, Generator& g = default_generator());
// Normal, cut off at [low, high], by inverting the distribution function.
void trunc_normal_(Tensor& w, double mean = 0, double std = 1, double low = -2, double high = 2,
                   Generator& g = default_generator());

// A new parameter (requires_grad) of that shape, uniform in ±1/√fan_in: PyTorch's rule for
// biases and for the weights of recurrent layers.
Tensor uniform_parameter(const Shape& shape, std::int64_t fan_in,
                         Generator& g = default_generator(), DType dtype = f32);

}  // namespace labgrad::nn
