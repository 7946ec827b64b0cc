#include "labs/translation/seq2seq.h"

#include <fmt/format.h>

#include "data/vocabulary.h"
#include "engine/create.h"
#include "engine/ops.h"

namespace labgrad::labs::translation {

Seq2SeqEncoder::Seq2SeqEncoder(const ModelSizes& n)
    : embedding(n.source_words, n.embedding),
      word_dropout(n.word_dropout),
      rnn(n.embedding, n.hidden, {.layers = n.layers, .dropout = n.dropout}) {}

Seq2SeqEncoder::Output Seq2SeqEncoder::forward(const Tensor& x, const Tensor& lengths) {
  const auto [h, h_T, c] =
      rnn.forward(word_dropout(embedding(x)), {.lengths = reads_padding ? Tensor() : lengths});
  return {h, h_T};
}

void Seq2SeqEncoder::members(nn::Members& m) {
  m("embedding", embedding);
  m("word_dropout", word_dropout);
  m("rnn", rnn);
}

nn::Attended MLPAttention::forward(const Tensor& q, const Tensor& k, const Tensor& values,
                                   const Tensor& seq_len) {
  if (values.size(-1) != v_dim_)
    fail(fmt::format("MLPAttention: the values have shape {}, expected (B, K, {})",
                     values.shape().str(), v_dim_));
  return nn::AdditiveAttention::forward(q, k, values, seq_len);
}

Seq2SeqDecoder::Seq2SeqDecoder(const ModelSizes& n)
    : embedding(n.target_words, n.embedding),
      word_dropout(n.word_dropout),
      rnn(n.embedding, n.hidden, {.layers = n.layers, .dropout = n.dropout}),
      out_fc(n.hidden, n.target_words) {}

Source Seq2SeqDecoder::source(const Seq2SeqEncoder::Output& encoded, const Tensor&) {
  return {.h_T = encoded.h_T};
}

Decoder::Steps Seq2SeqDecoder::decode(const Tensor& words, const Tensor& h_prev, const Source&) {
  const auto [s, h, c] = rnn.forward(word_dropout(embedding(words)), {.h0 = h_prev});
  return {s, h, {}};
}

void Seq2SeqDecoder::members(nn::Members& m) {
  m("embedding", embedding);
  m("word_dropout", word_dropout);
  m("rnn", rnn);
  m("out_fc", out_fc);
}

Seq2SeqDecoderAttn::Seq2SeqDecoderAttn(const ModelSizes& n)
    : embedding(n.target_words, n.embedding),
      word_dropout(n.word_dropout),
      attn(n.hidden, n.hidden, n.hidden, n.hidden),
      rnn(n.embedding + n.layers * n.hidden, n.hidden, {.layers = n.layers, .dropout = n.dropout}),
      out_fc(n.hidden, n.target_words) {}

Source Seq2SeqDecoderAttn::source(const Seq2SeqEncoder::Output& encoded, const Tensor& lengths) {
  const Tensor h = contiguous(transpose(encoded.h, 0, 1));  // (B, S1, H)
  const Tensor keep =
      lengths.defined() ? unsqueeze(nn::length_mask(lengths, h.size(1)), 1) : Tensor();
  return {.h_T = encoded.h_T, .keys = attn.project(h), .values = h, .keep = keep};
}

Decoder::Steps Seq2SeqDecoderAttn::decode(const Tensor& words, const Tensor& h_prev,
                                          const Source& source) {
  Tensors s, weights;
  Tensor h = h_prev;
  for (const Tensor& y_emb : unbind(word_dropout(embedding(words)), 0)) {
    const Tensor q = transpose(h, 0, 1);                                       // (B, L, H)
    const auto [c, a] = attn.ask(q, source.keys, source.values, source.keep);  // (B, L, H)
    const Tensor x = unsqueeze(cat({y_emb, flatten(c, 1, 2)}, 1), 0);          // (1, B, E + L·H)
    const nn::SequenceOutput next = rnn.forward(x, {.h0 = h});
    h = next.h;
    s.push_back(next.out);
    weights.push_back(a);
  }
  return {cat(s, 0), h, stack(weights, 0)};
}

void Seq2SeqDecoderAttn::members(nn::Members& m) {
  m("embedding", embedding);
  m("word_dropout", word_dropout);
  m("attn", attn);
  m("rnn", rnn);
  m("out_fc", out_fc);
}

namespace {

std::unique_ptr<Decoder> make_decoder(const ModelSizes& sizes, bool attention) {
  if (attention) return std::make_unique<Seq2SeqDecoderAttn>(sizes);
  return std::make_unique<Seq2SeqDecoder>(sizes);
}

// For the steps 1 .. S2 - 1: is the word that follows the target's?
std::vector<bool> draw_forced(std::int64_t steps, const Forcing& forcing) {
  std::vector<float> u(static_cast<std::size_t>(steps));
  forcing.generator.uniform(std::span<float>(u));
  std::vector<bool> forced;
  for (const float draw : u) forced.push_back(forcing.p_tf > static_cast<double>(draw));
  return forced;
}

}  // namespace

Seq2Seq::Seq2Seq(const ModelSizes& sizes, bool attention)
    : enc(sizes), dec(make_decoder(sizes, attention)) {}

Source Seq2Seq::encode(const Tensor& x, const Tensor& lengths) {
  return dec->source(enc.forward(x, lengths), lengths);
}

// The decoder reads as many words at once as are known beforehand: all of them with p_tf = 1, and
// else up to the next step whose input is the model's own word. The output layer, the largest
// product by far, is taken once for all steps; only where the model's word is needed at once it is
// taken for that step alone, outside the graph.
Tensor Seq2Seq::forward(const Tensor& x, const Tensor& y, const Tensor& lengths,
                        const Forcing& forcing) {
  const std::int64_t steps = y.size(0) - 1;
  const std::vector<bool> forced = draw_forced(steps, forcing);
  const Source source = encode(x, lengths);
  Tensor h = source.h_T, first = narrow(y, 0, 0, 1);  // (1, B)
  Tensors s;
  for (std::int64_t t = 0; t < steps;) {
    std::int64_t end = t + 1;
    while (end < steps && forced[static_cast<std::size_t>(end - 1)]) ++end;
    const Tensor words = end == t + 1 ? first : cat({first, narrow(y, 0, t + 1, end - t - 1)}, 0);
    const Decoder::Steps run = dec->decode(words, h, source);
    h = run.h;
    s.push_back(run.s);
    if (end < steps) {
      NoGrad no_grad;
      first = argmax(dec->output(narrow(run.s, 0, end - t - 1, 1)), 2);
    }
    t = end;
  }
  return dec->output(cat(s, 0));
}

void Seq2Seq::members(nn::Members& m) {
  m("enc", enc);
  m("dec", *dec);
}

Tensor translation_loss(const Tensor& l, const Tensor& y) {
  const Tensor targets = narrow(y, 0, 1, y.size(0) - 1);
  return cross_entropy(reshape(l, {-1, l.size(2)}), reshape(targets, {-1}),
                       {.ignore_index = data::pad_id});
}

}  // namespace labgrad::labs::translation
