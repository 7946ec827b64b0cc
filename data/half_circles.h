#pragma once
// Two interleaved half circles: the smallest task that no straight line solves.

#include <cstdint>

#include "engine/tensor.h"

namespace labgrad::data {

struct HalfCircles {
  Tensor x;      // (n, 2) of f32
  Tensor label;  // (n) of i64: 0 the upper arc, 1 the lower one
};

// n points, labels 0, 1, 0, 1, ... For an angle a that is uniform in [0, π), class 0 lies at
// (cos a, sin a), class 1 at (1 - cos a, 1/2 - sin a); to each coordinate a normal number of
// deviation `noise` is added. Drawn from a generator of its own seeded with `seed`: n angles, then
// 2 n normals. Error: n or noise is negative.
HalfCircles half_circles(std::int64_t n, double noise = 0.1, std::uint64_t seed = 0);

}  // namespace labgrad::data
