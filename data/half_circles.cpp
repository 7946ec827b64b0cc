#include "data/half_circles.h"

#include <numbers>
#include <string>

#include "engine/engine.h"
#include "engine/error.h"

namespace labgrad::data {

HalfCircles half_circles(std::int64_t n, double noise, std::uint64_t seed) {
  if (n < 0) fail("half_circles: " + std::to_string(n) + " points asked for");
  if (!(noise >= 0)) fail("half_circles: the noise is " + std::to_string(noise) + ", not >= 0");
  NoGrad no_grad;
  Generator g(seed);
  const Tensor angle = rand({n}, g) * std::numbers::pi;
  const Tensor label = arange(n) - 2 * floor(arange(n) / 2);
  const Tensor upper = stack({cos(angle), sin(angle)}, 1);
  const Tensor lower = stack({1 - cos(angle), 0.5 - sin(angle)}, 1);
  const Tensor clean = where(unsqueeze(label, 1) == 0, upper, lower);
  return {clean + noise * randn({n, 2}, g), to(label, i64)};
}

}  // namespace labgrad::data
