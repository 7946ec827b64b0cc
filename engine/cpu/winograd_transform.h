#pragma once
// F(4, 3): four results of a filter g of three numbers on six numbers d in six multiplications,
//
//   y = Aᵀ [ (G g) ⊙ (Bᵀ d) ],
//
// a product of two polynomials by their values at six points. In two dimensions it goes along
// columns and rows: Y = Aᵀ [ (G g Gᵀ) ⊙ (Bᵀ d B) ] A, and 36 multiplications instead of 144.
//
// The points are 0, ±1/√2, ±√2 and infinity: of the usual 0, ±1, ±2 the powers grow further apart,
// and the error is twice as large. The squares, 1/2 and 2, are exact.
//
//        1    0  -5/2   0    1   0            1     0     0           1    1     1     1    1   0
//        0  -√2   -2  1/√2   1   0          -2/3  -√2/3 -1/3          0  1/√2 -1/√2   √2  -√2   0
//   Bᵀ = 0   √2   -2 -1/√2   1   0      G = -2/3   √2/3 -1/3     Aᵀ = 0   1/2   1/2    2    2   0
//        0 -1/√2 -1/2  √2    1   0           1/6  √2/6   1/3          0  1/√8 -1/√8   √8  -√8   1
//        0  1/√2 -1/2 -√2    1   0           1/6 -√2/6   1/3
//        0    1    0  -5/2   0   1            0     0     1
//
// The gradient with respect to g is the transpose of all that, Gᵀ [ (Bᵀ d B) ⊙ (A dY Aᵀ) ] G,
// summed over all places. Each function computes the even and the odd half of a pair of points ±p
// once.
//
// Source: as winograd.h. The choice of points: S. A. Alam, A. Anderson, B. Barabasz and D. Gregg,
// Winograd Convolution for Deep Neural Networks: Efficient Point Selection (2022).

#include <numbers>

namespace labgrad::cpu {

inline constexpr int tile_results = 4, tile_inputs = 6, tile_points = 36;
inline constexpr float root2 = std::numbers::sqrt2_v<float>, root_half = root2 / 2;

// v = Bᵀ d
template <class V>
void data_transform(const V (&d)[6], V (&v)[6]) {
  const V even_half = d[4] - 2 * d[2], odd_half = root_half * (d[3] - 2 * d[1]);
  const V even_two = d[4] - 0.5f * d[2], odd_two = root2 * (d[3] - 0.5f * d[1]);
  v[0] = d[0] - 2.5f * d[2] + d[4];
  v[1] = even_half + odd_half;
  v[2] = even_half - odd_half;
  v[3] = even_two + odd_two;
  v[4] = even_two - odd_two;
  v[5] = d[1] - 2.5f * d[3] + d[5];
}

// u = G g
template <class V>
void filter_transform(const V (&g)[3], V (&u)[6]) {
  constexpr float third = 1.0f / 3;
  const V even_half = third * (2 * g[0] + g[2]), odd_half = third * root2 * g[1];
  const V even_two = third * (0.5f * g[0] + g[2]), odd_two = third * root_half * g[1];
  u[0] = g[0];
  u[1] = -even_half - odd_half;
  u[2] = -even_half + odd_half;
  u[3] = even_two + odd_two;
  u[4] = even_two - odd_two;
  u[5] = g[2];
}

// y = Aᵀ m
template <class V>
void result_transform(const V (&m)[6], V (&y)[4]) {
  const V even_half = m[1] + m[2], odd_half = root_half * (m[1] - m[2]);
  const V even_two = m[3] + m[4], odd_two = root2 * (m[3] - m[4]);
  y[0] = m[0] + even_half + even_two;
  y[1] = odd_half + odd_two;
  y[2] = 0.5f * even_half + 2 * even_two;
  y[3] = 0.5f * odd_half + 2 * odd_two + m[5];
}

// m = A y
template <class V>
void result_transform_back(const V (&y)[4], V (&m)[6]) {
  const V even_half = y[0] + 0.5f * y[2], odd_half = root_half * (y[1] + 0.5f * y[3]);
  const V even_two = y[0] + 2 * y[2], odd_two = root2 * (y[1] + 2 * y[3]);
  m[0] = y[0];
  m[1] = even_half + odd_half;
  m[2] = even_half - odd_half;
  m[3] = even_two + odd_two;
  m[4] = even_two - odd_two;
  m[5] = y[3];
}

// g = Gᵀ u
template <class V>
void filter_transform_back(const V (&u)[6], V (&g)[3]) {
  constexpr float third = 1.0f / 3;
  const V even_half = third * (u[1] + u[2]), odd_half = third * root2 * (u[2] - u[1]);
  const V even_two = third * (u[3] + u[4]), odd_two = third * root_half * (u[3] - u[4]);
  g[0] = u[0] - 2 * even_half + 0.5f * even_two;
  g[1] = odd_half + odd_two;
  g[2] = even_two - even_half + u[5];
}

// Along the columns of an N x N block, then along the rows: calls read(i, j) for its elements and
// write(i, j, value) for those of the M x M block that becomes of it.
template <int N, int M, class V, class Read, class Write>
void transform_block(void (*along)(const V (&)[N], V (&)[M]), Read read, Write write) {
  V half[M][N];
#pragma GCC unroll 6
  for (int j = 0; j < N; ++j) {
    V from[N], to[M];
#pragma GCC unroll 6
    for (int i = 0; i < N; ++i) from[i] = read(i, j);
    along(from, to);
#pragma GCC unroll 6
    for (int i = 0; i < M; ++i) half[i][j] = to[i];
  }
#pragma GCC unroll 6
  for (int i = 0; i < M; ++i) {
    V to[M];
    along(half[i], to);
#pragma GCC unroll 6
    for (int j = 0; j < M; ++j) write(i, j, to[j]);
  }
}

}  // namespace labgrad::cpu
