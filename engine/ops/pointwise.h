#pragma once
// Functions of each element by itself. Choices between elements are in engine/ops/select.h.
//
// All need a floating dtype, except where said otherwise; the error names the op and the dtype.

#include "engine/tensor.h"

namespace labgrad {

// |x|, any dtype. The derivative at 0 is 0.
Tensor abs(const Tensor& x);
// -1, 0 or 1, any dtype. The derivative is 0 everywhere.
Tensor sign(const Tensor& x);
// The largest whole number not above x; integers are returned as they are. The derivative is 0.
Tensor floor(const Tensor& x);

Tensor exp(const Tensor& x);  // e^x
// Natural logarithm. log(0) = -inf, of a negative number NaN.
Tensor log(const Tensor& x);
// log(1 + x), exact to the last digits also for tiny x.
Tensor log1p(const Tensor& x);

// The derivative of sqrt at 0 is inf, as the limit is; norm() and std() define theirs as 0.
Tensor sqrt(const Tensor& x);
// 1 / sqrt(x).
Tensor rsqrt(const Tensor& x);
// x², any dtype.
Tensor square(const Tensor& x);
// 1 / x.
Tensor reciprocal(const Tensor& x);

Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
// 2/√π ∫₀ˣ e^(-t²) dt.
Tensor erf(const Tensor& x);

// σ(x) = 1 / (1 + e^-x), without overflow.
Tensor sigmoid(const Tensor& x);
// log(1 + e^x), without overflow.
Tensor softplus(const Tensor& x);
// max(x, 0). The derivative at 0 is 0; NaN stays NaN.
Tensor relu(const Tensor& x);
// min(max(x, 0), 6). The derivative at 0 and at 6 is 0.
Tensor relu6(const Tensor& x);
// x Φ(x), Φ the distribution function of the standard normal: the exact form, not the tanh
// approximation. Hendrycks and Gimpel, arXiv:1606.08415.
Tensor gelu(const Tensor& x);

// bool tensors, any dtype (integers are finite).
Tensor isnan(const Tensor& x);
Tensor isinf(const Tensor& x);
Tensor isfinite(const Tensor& x);

}  // namespace labgrad
