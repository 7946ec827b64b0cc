#pragma once

namespace labgrad {

// Sixteen uniform numbers in [0, 1), in place, to sixteen normal ones by the method of Box and
// Muller (Annals of Mathematical Statistics 29, 1958): elements j and j + 8 are a pair,
//   r = sqrt(-2 ln(1 - u_j)),  t = 2 pi u_{j+8},  x_j = r cos t,  x_{j+8} = r sin t,
// times std plus mean. Single precision takes logarithm, sine and cosine from fixed polynomials
// and so gives the same bits everywhere; double takes them from the C library.
void normal_block(float* block, float mean, float std);
void normal_block(double* block, double mean, double std);

}  // namespace labgrad
