#include "nn/clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/select.h"

namespace labgrad::optim {
namespace {

// One of each parameter, also where it is listed twice (tied weights).
Tensors gradients(const Tensors& parameters) {
  Tensors found;
  std::unordered_set<const TensorImpl*> seen;
  for (const Tensor& p : parameters)
    if (p.grad().defined() && seen.insert(p.impl()).second) found.push_back(p.grad());
  return found;
}

}  // namespace

double clip_grad_norm_(const Tensors& parameters, double max_norm) {
  if (!(max_norm > 0))
    fail(fmt::format("clip_grad_norm_: max_norm is {}, expected more than 0", max_norm));
  NoGrad no_grad;
  auto norm_of_all = [&](bool wide) {
    double squares = 0;
    for (const Tensor& g : gradients(parameters))
      squares += sum(square(wide ? to(g, f64) : g)).item();
    return std::sqrt(squares);
  };
  double n = norm_of_all(false);
  if (std::isinf(n)) n = norm_of_all(true);  // squares of exploded f32 gradients overflow
  if (!std::isfinite(n))
    fail(
        fmt::format("clip_grad_norm_: the norm of all gradients is {}; DetectAnomaly names the op "
                    "in which it began",
                    n));
  const double scale = std::min(1.0, max_norm / (n + 1e-6));
  if (scale < 1)
    for (Tensor g : gradients(parameters)) g.mul_(scale);
  return n;
}

void clip_grad_value_(const Tensors& parameters, double limit) {
  if (!(limit > 0)) fail(fmt::format("clip_grad_value_: the limit is {}, expected above 0", limit));
  NoGrad no_grad;
  for (Tensor g : gradients(parameters)) g.copy_(clamp(g, -limit, limit));
}

}  // namespace labgrad::optim
