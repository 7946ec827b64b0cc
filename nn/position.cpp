#include "nn/position.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/ops/arithmetic.h"
#include "engine/ops/shape.h"

namespace labgrad::nn {

Tensor sinusoidal_positions(std::int64_t T, std::int64_t D) {
  Tensor P = empty({T, D}, f32, Device::cpu);
  const auto out = P.writable_span<float>();
  for (std::int64_t p = 0; p < T; ++p)
    for (std::int64_t d = 0; d < D; ++d) {
      const auto pair = static_cast<double>(d / 2 * 2);
      const double angle =
          static_cast<double>(p) / std::pow(10000.0, pair / static_cast<double>(D));
      out[static_cast<std::size_t>(p * D + d)] =
          static_cast<float>(d % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  return moved(P, default_device());
}

LearnedPositions::LearnedPositions(std::int64_t max_len, std::int64_t D, Generator& g) {
  weight = empty({1, max_len, D}, f32, default_device());
  normal_(weight, 0, 0.02, g);
  weight.requires_grad_();
}

Tensor LearnedPositions::forward(const Tensor& x) {
  const std::int64_t T = x.size(1);
  if (T > weight.size(1))
    fail(fmt::format("LearnedPositions: {} positions in x {}, at most {} have a code", T,
                     x.shape().str(), weight.size(1)));
  return x + narrow(weight, 1, 0, T);
}

std::string LearnedPositions::details() const {
  return fmt::format("max_len={}, width={}", weight.size(1), weight.size(2));
}

}  // namespace labgrad::nn
