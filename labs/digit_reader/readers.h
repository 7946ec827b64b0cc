#pragma once
// The two readers of a strip of digits. They share the encoder and differ in what the decoder can
// look at: the fixed one at a single vector, the one with attention at every column again.
//
// B strips, W = 336 pixels wide, N = W / 16 = 21 columns, T symbols written, 13 symbols in all,
// H = 64 decoder units, U = 64 units of the bidirectional GRU in each direction.

#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/recurrent.h"

namespace labgrad::labs::digit_reader {

// Four blocks of convolution 3 x 3 without bias, batch norm, ReLU, max-pool 2 x 2, to 32, 64, 128
// and 128 channels: (B, 1, 28, W) -> F (B, 128, 1, W / 16).
nn::Sequential make_cnn();

struct Attention {
  Tensor c;      // (B, d_v): the context, the values averaged
  Tensor alpha;  // (B, N): the weights
};
// Scaled dot-product attention with one query in each row: q (B, d_k), K (B, N, d_k), V (B, N,
// d_v).
//   e_j = q·k_j / √d_k,  α = softmax(e),  c = Σ_j α_j v_j                          [reader.2]
Attention attend(const Tensor& q, const Tensor& K, const Tensor& V);

// Every column of the picture described in the context of all others:
//   h_j = [→h_j; ←h_j],  s_0 = tanh(W_init [→h_N; ←h_1] + b_init)                   [reader.1]
class ColumnEncoder : public nn::Module {
 public:
  nn::Sequential cnn;
  nn::GRU bigru;
  nn::Linear init;

  // The parts are drawn in this order.
  explicit ColumnEncoder(std::int64_t hidden = 64, std::int64_t units = 64);

  struct Output {
    Tensor F;        // (B, 128, 1, N)
    Tensor columns;  // (B, N, 128): F as a sequence
    Tensor memory;   // (B, N, 2 U): the h_j
    Tensor finals;   // (2, B, U): →h_N and ←h_1
    Tensor s0;       // (B, H)
  };
  Output forward(const Tensor& images);

  void members(nn::Members& m) override;
  std::string kind() const override { return "ColumnEncoder"; }
};

// What the decoder keeps of the picture besides its first state; undefined in the fixed reader.
struct Memory {
  Tensor K, V;  // (B, N, d_k), (B, N, d_v)
};

class Reader : public nn::Module {
 public:
  struct Encoded {
    Tensor s0;  // (B, H)
    Memory memory;
  };
  virtual Encoded encode(const Tensor& images) = 0;

  struct Step {
    Tensor logits;  // (B, 13)
    Tensor s;       // (B, H): the new state
    Tensor alpha;   // (B, N), undefined in the fixed reader
  };
  // One symbol further: y_prev (B) of i64, s_prev (B, H).
  virtual Step step(const Tensor& y_prev, const Tensor& s_prev, const Memory& memory) = 0;

  // Teacher forcing: images (B, 1, 28, W), inputs (B, T) of i64 -> logits (B, T, 13).
  virtual Tensor forward(const Tensor& images, const Tensor& inputs) = 0;
};

// s_t = GRU(E[y_{t-1}], s_{t-1}),  l_t = W_out s_t + b_out                             [reader.3]
class FixedReader : public Reader {
 public:
  ColumnEncoder encoder;
  nn::Embedding emb;
  nn::GRU gru;
  nn::Linear out;

  explicit FixedReader(std::int64_t hidden = 64, std::int64_t emb_width = 32);

  Encoded encode(const Tensor& images) override;
  Step step(const Tensor& y_prev, const Tensor& s_prev, const Memory& memory) override;
  Tensor forward(const Tensor& images, const Tensor& inputs) override;

  void members(nn::Members& m) override;
  std::string kind() const override { return "FixedReader"; }
};

// q_t = W_Q s_{t-1},  k_j = W_K h_j,  v_j = W_V h_j                                    [reader.4]
// s_t = GRU([E[y_{t-1}]; c_t], s_{t-1}),  l_t = W_out [s_t; c_t] + b_out               [reader.5]
class AttentionReader : public Reader {
 public:
  ColumnEncoder encoder;
  nn::Embedding emb;
  nn::Linear wq, wk, wv;  // without biases
  nn::GRUCell cell;
  nn::Linear out;

  explicit AttentionReader(std::int64_t hidden = 64, std::int64_t emb_width = 32,
                           std::int64_t d_k = 64, std::int64_t d_v = 128);

  Encoded encode(const Tensor& images) override;
  Step step(const Tensor& y_prev, const Tensor& s_prev, const Memory& memory) override;
  Tensor forward(const Tensor& images, const Tensor& inputs) override;

  void members(nn::Members& m) override;
  std::string kind() const override { return "AttentionReader"; }
};

// The mean cross-entropy over the symbols that are not <pad>: logits (B, T, 13), targets (B, T).
Tensor masked_loss(const Tensor& logits, const Tensor& targets);

}  // namespace labgrad::labs::digit_reader
