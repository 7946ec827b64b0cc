#pragma once
// The classifier of experiment 12: an embedding, one encoder block, a mean, a linear head.

#include "nn/embedding.h"
#include "nn/encoder.h"
#include "nn/position.h"

namespace labgrad::labs::attention {

struct TransformerOptions {
  std::int64_t max_len = 20, d_model = 32, heads = 4, d_ff = 64, classes = 2;
  bool positions = true;
};

// B sentences, T words, D = d_model, H heads.
class TinyTransformer : public nn::Module {
 public:
  nn::Embedding embed;
  nn::LearnedPositions pos;
  nn::EncoderBlock block;
  nn::Linear head;
  bool use_positions;

  // The parts are drawn in this order, whether positions are used or not.
  explicit TinyTransformer(std::int64_t vocabulary, TransformerOptions o = {})
      : embed(vocabulary, o.d_model, {.padding_idx = 0}),
        pos(o.max_len, o.d_model),
        block(o.d_model, o.heads, o.d_ff),
        head(o.d_model, o.classes),
        use_positions(o.positions) {}

  // ids (B, T) of i64, padded with 0 -> out (B, classes), weights (B, H, T, T).
  nn::Attended forward(const Tensor& ids);

  void members(nn::Members& m) override;
  std::string kind() const override { return "TinyTransformer"; }
};

}  // namespace labgrad::labs::attention
