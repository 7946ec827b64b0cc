#include "data/token_accuracy.h"

#include <fmt/format.h>

#include <limits>

#include "data/vocabulary.h"
#include "engine/error.h"

namespace labgrad::data {

void TokenAccuracy::add(const Tensor& predicted, const Tensor& target) {
  const Shape& shape = target.shape();
  if (shape.rank() != 2 || predicted.shape() != shape || shape[0] == 0)
    fail(fmt::format("TokenAccuracy: expected two tensors (S, B) with S at least 1, got {} and {}",
                     predicted.shape().str(), shape.str()));
  const Tensor p = packed(moved(predicted, Device::cpu)), t = packed(moved(target, Device::cpu));
  const auto ps = p.span<std::int64_t>(), ts = t.span<std::int64_t>();
  std::int64_t matches = 0;
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const bool match = ps[i] == ts[i];
    matches += match;
    if (ts[i] == pad_id) continue;
    ++tokens;
    right += match;
  }
  ++batches;
  matches_per_step += static_cast<double>(matches) / static_cast<double>(shape[0]);
}

double TokenAccuracy::as_in_tutorial() const {
  if (batches == 0) return std::numeric_limits<double>::quiet_NaN();
  return matches_per_step / static_cast<double>(batches);
}

double TokenAccuracy::per_token() const {
  if (tokens == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(right) / static_cast<double>(tokens);
}

}  // namespace labgrad::data
