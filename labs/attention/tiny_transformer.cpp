#include "labs/attention/tiny_transformer.h"

#include "engine/ops.h"

namespace labgrad::labs::attention {

nn::Attended TinyTransformer::forward(const Tensor& ids) {
  const Tensor real = ids != 0;                          // (B, T): words, not padding
  const Tensor keep = unsqueeze(unsqueeze(real, 1), 1);  // (B, 1, 1, T): keys that may be seen
  const Tensor e = embed(ids);                           // (B, T, D)
  const auto [h, weights] = block.forward(use_positions ? pos(e) : e, keep);
  const Tensor n = clamp(sum(real, 1, true), 1);              // (B, 1)
  const Tensor pooled = sum(h * unsqueeze(real, -1), 1) / n;  // the mean over the words
  return {head(pooled), weights};
}

void TinyTransformer::members(nn::Members& m) {
  m("embed", embed);
  m("pos", pos.weight);
  m("block", block);
  m("head", head);
}

}  // namespace labgrad::labs::attention
