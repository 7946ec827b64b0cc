#pragma once
// Recurrent layers over whole sequences: RNN, LSTM, GRU, in any number of layers, one or both
// directions. The equations of a step are in nn/recurrent_cells.h.
//
// T steps, B batch, I input width, H hidden width, L layers, D directions (1 or 2).
// x (T, B, I), or (B, T, I) with batch_first. States (L·D, B, H), first index
// layer · D + direction. The parameters have PyTorch's names, "weight_ih_l0",
// "weight_ih_l0_reverse", and its draws.

#include "engine/ops/recurrent.h"
#include "nn/recurrent_cells.h"

namespace labgrad::nn {

struct RecurrentOptions {
  std::int64_t layers = 1;
  bool bidirectional = false;
  double dropout = 0;  // on the output of each layer but the last, in training
  bool batch_first = false;
  bool bias = true;
};

// What a sequence may come with; what is undefined counts as zeros, or as full length.
struct SequenceInput {
  Tensor h0 = {}, c0 = {};  // (L·D, B, H)
  // (B) of i64, 1 to T: how many steps of each sequence are real. The state stays as it is after
  // the last one, outputs behind it are 0, and the reverse direction starts at each sequence's own
  // end: what PyTorch does with a packed sequence.
  Tensor lengths = {};
};

struct SequenceOutput {
  Tensor out;  // (T, B, D·H), or (B, T, D·H): the last layer's states, forward direction first
  Tensor h;    // (L·D, B, H): every layer's last state
  Tensor c;    // LSTM only
};

class Recurrent : public Module {
 public:
  // Errors: x or a state of the wrong shape; a length outside 1 .. T.
  SequenceOutput forward(const Tensor& x, const SequenceInput& input = {});

  void members(Members& m) override;
  std::string details() const override;

  RecurrentOptions options;
  std::vector<GateWeights> weights;  // [layer · D + direction]

 protected:
  Recurrent(std::int64_t gates, std::int64_t inputs, std::int64_t hidden, RecurrentOptions options,
            Generator& g);

  // One step; state.c is undefined unless has_cell().
  virtual LstmState step(const Tensor& xs, const LstmState& state, const GateWeights& w) = 0;
  virtual bool has_cell() const { return false; }
  // The states of all steps at once, where there is an op for that; else undefined, and the layer
  // takes step after step.
  virtual Tensor states(const Tensor&, const Tensor&, const GateWeights&, const GruSequence&) {
    return {};
  }

 private:
  struct Run {
    Tensor outputs;  // (T, B, H)
    LstmState last;
  };
  // real (T, B) tells which steps count, or is undefined where all do.
  Run run(const Tensor& x, const LstmState& first, const GateWeights& w, bool reverse,
          const Tensor& real);
  std::int64_t directions() const { return options.bidirectional ? 2 : 1; }

  std::int64_t inputs_, hidden_;
  Generator* generator_;
};

class RNN : public Recurrent {
 public:
  RnnFunction function;

  RNN(std::int64_t inputs, std::int64_t hidden, RecurrentOptions o = {},
      RnnFunction f = RnnFunction::tanh, Generator& g = default_generator())
      : Recurrent(1, inputs, hidden, o, g), function(f) {}
  std::string kind() const override { return "RNN"; }

 private:
  LstmState step(const Tensor& xs, const LstmState& state, const GateWeights& w) override {
    return {rnn_step(xs, state.h, w, function), {}};
  }
};

class LSTM : public Recurrent {
 public:
  LSTM(std::int64_t inputs, std::int64_t hidden, RecurrentOptions o = {},
       Generator& g = default_generator())
      : Recurrent(4, inputs, hidden, o, g) {}
  std::string kind() const override { return "LSTM"; }

 private:
  LstmState step(const Tensor& xs, const LstmState& state, const GateWeights& w) override {
    return lstm_step(xs, state, w);
  }
  bool has_cell() const override { return true; }
};

class GRU : public Recurrent {
 public:
  GruForm form;

  GRU(std::int64_t inputs, std::int64_t hidden, RecurrentOptions o = {},
      GruForm f = GruForm::reset_after, Generator& g = default_generator())
      : Recurrent(3, inputs, hidden, o, g), form(f) {}
  std::string kind() const override { return "GRU"; }
  std::string details() const override { return Recurrent::details() + ", " + name_of(form); }

 private:
  LstmState step(const Tensor& xs, const LstmState& state, const GateWeights& w) override {
    return {gru_step(xs, state.h, w, form), {}};
  }
  Tensor states(const Tensor& xs, const Tensor& h0, const GateWeights& w,
                const GruSequence& sequence) override {
    if (form == GruForm::reset_before) return {};
    return gru_states(xs, h0, w.weight_hh, w.bias_hh, sequence);
  }
};

}  // namespace labgrad::nn
