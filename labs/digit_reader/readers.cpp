#include "labs/digit_reader/readers.h"

#include <cmath>

#include "data/strips.h"
#include "engine/ops.h"
#include "nn/batch_norm.h"
#include "nn/conv.h"

namespace labgrad::labs::digit_reader {
namespace {

constexpr std::int64_t symbols = data::symbol::count;

nn::Sequential conv_block(std::int64_t in, std::int64_t out) {
  return nn::Sequential{nn::Conv2d(in, out, 3, {.padding = 1, .bias = false}),
                        nn::BatchNormReLUMaxPool2d(out, 2)};
}

}  // namespace

nn::Sequential make_cnn() {
  return nn::Sequential{conv_block(1, 32), conv_block(32, 64), conv_block(64, 128),
                        conv_block(128, 128)};
}

Attention attend(const Tensor& q, const Tensor& K, const Tensor& V) {
  const double d_k = static_cast<double>(q.size(1));
  const Tensor e = squeeze(matmul(K, unsqueeze(q, 2)), 2) / std::sqrt(d_k);  // (B, N)
  const Tensor alpha = softmax(e, 1);
  const Tensor c = squeeze(matmul(unsqueeze(alpha, 1), V), 1);  // (B, d_v)
  return {c, alpha};
}

ColumnEncoder::ColumnEncoder(std::int64_t hidden, std::int64_t units)
    : cnn(make_cnn()),
      bigru(128, units, {.bidirectional = true, .batch_first = true}),
      init(2 * units, hidden) {}

ColumnEncoder::Output ColumnEncoder::forward(const Tensor& images) {
  const Tensor F = cnn(images);
  const Tensor columns = transpose(squeeze(F, 2), 1, 2);
  const auto [memory, finals, c] = bigru.forward(columns);
  const Tensor last_states = cat({select(finals, 0, 0), select(finals, 0, 1)}, 1);  // (B, 2 U)
  return {F, columns, memory, finals, tanh(init(last_states))};
}

void ColumnEncoder::members(nn::Members& m) {
  m("cnn", cnn);
  m("bigru", bigru);
  m("init", init);
}

FixedReader::FixedReader(std::int64_t hidden, std::int64_t emb_width)
    : encoder(hidden),
      emb(symbols, emb_width),
      gru(emb_width, hidden, {.batch_first = true}),
      out(hidden, symbols) {}

Reader::Encoded FixedReader::encode(const Tensor& images) {
  return {encoder.forward(images).s0, {}};
}

Reader::Step FixedReader::step(const Tensor& y_prev, const Tensor& s_prev, const Memory&) {
  const Tensor h0 = unsqueeze(s_prev, 0);
  const Tensor s = select(gru.forward(unsqueeze(emb(y_prev), 1), {.h0 = h0}).h, 0, 0);
  return {out(s), s, {}};
}

Tensor FixedReader::forward(const Tensor& images, const Tensor& inputs) {
  const Tensor s0 = encode(images).s0;
  return out(gru.forward(emb(inputs), {.h0 = unsqueeze(s0, 0)}).out);
}

void FixedReader::members(nn::Members& m) {
  m("encoder", encoder);
  m("emb", emb);
  m("gru", gru);
  m("out", out);
}

AttentionReader::AttentionReader(std::int64_t hidden, std::int64_t emb_width, std::int64_t d_k,
                                 std::int64_t d_v)
    : encoder(hidden),
      emb(symbols, emb_width),
      wq(hidden, d_k, {.bias = false}),
      wk(128, d_k, {.bias = false}),
      wv(128, d_v, {.bias = false}),
      cell(emb_width + d_v, hidden),
      out(hidden + d_v, symbols) {}

Reader::Encoded AttentionReader::encode(const Tensor& images) {
  const ColumnEncoder::Output encoded = encoder.forward(images);
  // Keys and values depend on the picture alone: computed once, used at every step.
  return {encoded.s0, {wk(encoded.memory), wv(encoded.memory)}};
}

Reader::Step AttentionReader::step(const Tensor& y_prev, const Tensor& s_prev,
                                   const Memory& memory) {
  const auto [c, alpha] = attend(wq(s_prev), memory.K, memory.V);
  const Tensor s = cell.forward(cat({emb(y_prev), c}, 1), s_prev);
  return {out(cat({s, c}, 1)), s, alpha};
}

Tensor AttentionReader::forward(const Tensor& images, const Tensor& inputs) {
  auto [s, memory] = encode(images);
  Tensors logits;
  for (const Tensor& y_prev : unbind(inputs, 1)) {
    const Step next = step(y_prev, s, memory);
    logits.push_back(next.logits);
    s = next.s;
  }
  return stack(logits, 1);
}

void AttentionReader::members(nn::Members& m) {
  m("encoder", encoder);
  m("emb", emb);
  m("wq", wq);
  m("wk", wk);
  m("wv", wv);
  m("cell", cell);
  m("out", out);
}

Tensor masked_loss(const Tensor& logits, const Tensor& targets) {
  return cross_entropy(reshape(logits, {-1, symbols}), reshape(targets, {-1}),
                       {.ignore_index = data::symbol::pad});
}

}  // namespace labgrad::labs::digit_reader
