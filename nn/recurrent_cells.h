#pragma once
// One step of a recurrent network: RNNCell, LSTMCell, GRUCell, and the steps themselves, on which
// the layers of nn/recurrent.h stand too.
//
// B batch, I input width, H hidden width, G gates. x (B, I), h and c (B, H). The weights of the
// gates stand one below the other, W_ih (G·H, I) and W_hh (G·H, H), in the order in which the
// equations name them. Each gate has two biases, b_ih and b_hh, as in PyTorch and cuDNN.

#include "engine/random.h"
#include "nn/module.h"

namespace labgrad::nn {

enum class RnnFunction { tanh, relu };

// Where the GRU's reset gate acts. Both are published, and both are called GRU.
enum class GruForm {
  reset_after,  // r ⊙ (W_hn h + b_hn): cuDNN, PyTorch, Keras since 2.0. One product for all gates
  reset_before,  // W_hn (r ⊙ h) + b_hn: Cho et al. 2014, equation 8; d2l
};
std::string name_of(GruForm form);

// The parameters of one layer in one direction. Biases are undefined without.
struct GateWeights {
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

  GateWeights() = default;
  // Drawn uniformly in ±1/√H, in the order W_ih, W_hh, b_ih, b_hh.
  GateWeights(std::int64_t gates, std::int64_t inputs, std::int64_t hidden, bool bias,
              Generator& g = default_generator());
  // "weight_ih" + suffix, ...
  void members(Members& m, const std::string& suffix);
  // The inputs' share of all gates, W_ih x + b_ih: (..., I) -> (..., G·H), for all steps at once.
  Tensor input(const Tensor& x) const;
};

// The steps. xs is the inputs' share of the gates, w.input(x).

// h' = tanh(x_h + W_hh h + b_hh)                                                        [rnn.1]
Tensor rnn_step(const Tensor& xs, const Tensor& h, const GateWeights& w, RnnFunction f);

struct LstmState {
  Tensor h, c;
};
// Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000:
// i = σ(x_i + W_hi h + b_hi)                                                          [lstm.1]
// f = σ(x_f + W_hf h + b_hf)                                                          [lstm.2]
// g = tanh(x_g + W_hg h + b_hg)                                                       [lstm.3]
// o = σ(x_o + W_ho h + b_ho)                                                          [lstm.4]
// c' = f ⊙ c + i ⊙ g                                                                  [lstm.5]
// h' = o ⊙ tanh(c')                                                                   [lstm.6]
LstmState lstm_step(const Tensor& xs, const LstmState& state, const GateWeights& w);

// r = σ(x_r + W_hr h + b_hr)                                            Cho et al. 2014 [gru.1]
// z = σ(x_z + W_hz h + b_hz)                                                            [gru.2]
// n = tanh(x_n + r ⊙ (W_hn h + b_hn))      reset_after                                  [gru.3]
// n = tanh(x_n + W_hn (r ⊙ h) + b_hn)      reset_before                                 [gru.4]
// h' = (1 - z) ⊙ n + z ⊙ h                                                              [gru.5]
Tensor gru_step(const Tensor& xs, const Tensor& h, const GateWeights& w, GruForm form);

// The cells: forward(x) starts from a state of zeros. Error: widths that do not fit.

class RNNCell : public Module {
 public:
  GateWeights w;
  RnnFunction function;

  RNNCell(std::int64_t inputs, std::int64_t hidden, RnnFunction f = RnnFunction::tanh,
          bool bias = true, Generator& g = default_generator());
  Tensor forward(const Tensor& x, const Tensor& h = {});
  void members(Members& m) override { w.members(m, ""); }
  std::string kind() const override { return "RNNCell"; }
  std::string details() const override;
};

class LSTMCell : public Module {
 public:
  GateWeights w;

  LSTMCell(std::int64_t inputs, std::int64_t hidden, bool bias = true,
           Generator& g = default_generator());
  LstmState forward(const Tensor& x, const LstmState& state = {});
  void members(Members& m) override { w.members(m, ""); }
  std::string kind() const override { return "LSTMCell"; }
  std::string details() const override;
};

class GRUCell : public Module {
 public:
  GateWeights w;
  GruForm form;

  GRUCell(std::int64_t inputs, std::int64_t hidden, GruForm form = GruForm::reset_after,
          bool bias = true, Generator& g = default_generator());
  Tensor forward(const Tensor& x, const Tensor& h = {});
  void members(Members& m) override { w.members(m, ""); }
  std::string kind() const override { return "GRUCell"; }
  std::string details() const override;
};

}  // namespace labgrad::nn
