#pragma once
// The transformer's encoder block, with the norms after the residuals (Vaswani et al. 2017, 3.1).

#include "nn/activation.h"
#include "nn/attention.h"
#include "nn/layer_norm.h"

namespace labgrad::nn {

class EncoderBlock : public Module {
 public:
  MultiHeadAttention attn;
  LayerNorm norm1;
  Sequential ff;  // Linear(D, d_ff), ReLU, Linear(d_ff, D)
  LayerNorm norm2;

  // Error: d_model is not a multiple of heads.
  EncoderBlock(std::int64_t d_model, std::int64_t heads, std::int64_t d_ff,
               Generator& g = default_generator());

  // x = norm1(x + attn(x))                                                       [encoder.1]
  // x = norm2(x + ff(x))                                                         [encoder.2]
  // x (B, T, D), keep broadcasts to (B, H, T, T) -> out (B, T, D), weights (B, H, T, T).
  Attended forward(const Tensor& x, const Tensor& keep = {});

  void members(Members& m) override;
  std::string kind() const override { return "EncoderBlock"; }
};

}  // namespace labgrad::nn
