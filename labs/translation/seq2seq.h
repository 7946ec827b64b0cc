#pragma once
// From a sequence of words to another one: an encoder reads the source, a decoder writes the target
// word by word; without attention (Sutskever et al. 2014, Cho et al. 2014) or with it (Bahdanau et
// al. 2015).
//
// S1 and S2 words of source and target with <sos> and <eos>, T of them in a call, B sentences, V
// words in a vocabulary, E width of an embedding, H of a state, L layers. Steps come first:
// x (S1, B), states (L, B, H).

#include <memory>

#include "nn/attention.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/recurrent.h"

namespace labgrad::labs::translation {

struct ModelSizes {
  std::int64_t source_words = 0, target_words = 0;  // V of the two vocabularies
  std::int64_t embedding = 64, hidden = 128, layers = 3;
  double dropout = 0.2;  // between the layers
  double word_dropout =
      0;  // of embeddings and of what the output layer reads; the tutorial has none
};

// h_t = GRU(E[x_t], h_{t-1}),  h_0 = 0                                          [translation.1]
class Seq2SeqEncoder : public nn::Module {
 public:
  nn::Embedding embedding;
  nn::Dropout word_dropout;
  nn::GRU rnn;

  explicit Seq2SeqEncoder(const ModelSizes& sizes);

  struct Output {
    Tensor h;    // (S1, B, H): the last layer's states
    Tensor h_T;  // (L, B, H): each layer's last state
  };
  // The tutorial's encoder reads on over the padding behind a sentence: its last state then depends
  // on how long the others in the batch are.
  bool reads_padding = false;

  // x (S1, B) of i64, lengths (B); without them every sentence is S1 long.
  Output forward(const Tensor& x, const Tensor& lengths = {});

  void members(nn::Members& m) override;
  std::string kind() const override { return "Seq2SeqEncoder"; }
};

// The tutorial's additive attention. Its v_dim is no part of the network: it is what the values
// must measure.
class MLPAttention : public nn::AdditiveAttention {
 public:
  MLPAttention(std::int64_t q_dim, std::int64_t k_dim, std::int64_t v_dim, std::int64_t h_dim)
      : nn::AdditiveAttention(q_dim, k_dim, h_dim), v_dim_(v_dim) {}

  // q (B, Q, q_dim), k (B, K, k_dim), v (B, K, v_dim), seq_len (B) of i64 -> (B, Q, v_dim) and
  // weights (B, Q, K), exactly 0 from seq_len on. Error: the values have another width.
  nn::Attended forward(const Tensor& q, const Tensor& k, const Tensor& values,
                       const Tensor& seq_len = {});

  std::string kind() const override { return "MLPAttention"; }

 private:
  std::int64_t v_dim_;
};

// What a decoder knows of the source. Without attention the last states are all of it.
struct Source {
  Tensor h_T;          // (L, B, H)
  Tensor keys = {};    // (B, S1, H): W_k h, computed once
  Tensor values = {};  // (B, S1, H): h
  Tensor keep = {};    // (B, 1, S1) of bool: what is not padding; undefined: nothing is
};

class Decoder : public nn::Module {
 public:
  // Scores of the words from the last layer's states: (..., H) -> (..., V).
  virtual Tensor output(const Tensor& s) = 0;

  // What of the encoder's output this decoder looks at.
  virtual Source source(const Seq2SeqEncoder::Output& encoded, const Tensor& lengths) = 0;

  struct Steps {
    Tensor s;        // (T, B, H): the last layer's states, of which output() makes scores of words
    Tensor h;        // (L, B, H): every layer's state after the last step
    Tensor weights;  // (T, B, L, S1): what each step looked at; undefined without attention
  };
  // Reads the words (T, B) one after another from the states h_prev (L, B, H) on.
  virtual Steps decode(const Tensor& words, const Tensor& h_prev, const Source& source) = 0;
};

// s_t = GRU(E[y_{t-1}], s_{t-1}),  s_0 = h_T of the encoder                     [translation.2]
// l_t = W_out s_t + b_out                                                       [translation.3]
class Seq2SeqDecoder : public Decoder {
 public:
  nn::Embedding embedding;
  nn::Dropout word_dropout;
  nn::GRU rnn;
  nn::Linear out_fc;

  explicit Seq2SeqDecoder(const ModelSizes& sizes);

  Tensor output(const Tensor& s) override { return out_fc(word_dropout(s)); }
  Source source(const Seq2SeqEncoder::Output& encoded, const Tensor& lengths) override;
  Steps decode(const Tensor& words, const Tensor& h_prev, const Source& source) override;

  void members(nn::Members& m) override;
  std::string kind() const override { return "Seq2SeqDecoder"; }
};

// a_l = softmax_i(vᵀ tanh(W_q s_{t-1,l} + W_k h_i)),  c_l = Σ_i a_{l,i} h_i     [translation.4]
// s_t = GRU([E[y_{t-1}]; c_1; ...; c_L], s_{t-1})                               [translation.5]
// The previous state s_{t-1,l} of each layer l asks for itself.
class Seq2SeqDecoderAttn : public Decoder {
 public:
  nn::Embedding embedding;
  nn::Dropout word_dropout;
  MLPAttention attn;
  nn::GRU rnn;
  nn::Linear out_fc;

  explicit Seq2SeqDecoderAttn(const ModelSizes& sizes);

  Tensor output(const Tensor& s) override { return out_fc(word_dropout(s)); }
  Source source(const Seq2SeqEncoder::Output& encoded, const Tensor& lengths) override;
  Steps decode(const Tensor& words, const Tensor& h_prev, const Source& source) override;

  void members(nn::Members& m) override;
  std::string kind() const override { return "Seq2SeqDecoderAttn"; }
};

struct Forcing {
  // Probability that the next input is the target's word (teacher forcing) and not the model's own
  // likeliest one. One number is drawn for each step, for all sentences.
  double p_tf = 1;
  Generator& generator = default_generator();
};

class Seq2Seq : public nn::Module {
 public:
  Seq2SeqEncoder enc;
  std::unique_ptr<Decoder> dec;

  // The weights are PyTorch's of the same seed: the encoder's are drawn first.
  Seq2Seq(const ModelSizes& sizes, bool attention);

  Source encode(const Tensor& x, const Tensor& lengths = {});
  // x (S1, B), y (S2, B) from <sos> to <eos> -> l (S2 - 1, B, V): l_t scores the words at y_t.
  Tensor forward(const Tensor& x, const Tensor& y, const Tensor& lengths = {},
                 const Forcing& forcing = {});

  void members(nn::Members& m) override;
  std::string kind() const override { return "Seq2Seq"; }
};

// The mean cross-entropy in nats over the words of y (S2, B) that are not padding, <sos> left out;
// l (S2 - 1, B, V).                                                             [translation.6]
Tensor translation_loss(const Tensor& l, const Tensor& y);

}  // namespace labgrad::labs::translation
