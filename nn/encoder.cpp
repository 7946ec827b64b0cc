#include "nn/encoder.h"

#include "engine/ops/arithmetic.h"

namespace labgrad::nn {

EncoderBlock::EncoderBlock(std::int64_t d_model, std::int64_t heads, std::int64_t d_ff,
                           Generator& g)
    : attn(d_model, heads, g), norm1(d_model), norm2(d_model) {
  ff.append(Linear(d_model, d_ff, {}, g)).append(ReLU()).append(Linear(d_ff, d_model, {}, g));
}

Attended EncoderBlock::forward(const Tensor& x, const Tensor& keep) {
  const auto [a, weights] = attn.forward(x, keep);
  const Tensor h = norm1(x + a);
  return {norm2(h + ff(h)), weights};
}

void EncoderBlock::members(Members& m) {
  m("attn", attn);
  m("norm1", norm1);
  m("ff", ff);
  m("norm2", norm2);
}

}  // namespace labgrad::nn
