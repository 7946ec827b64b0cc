#pragma once
// The GRU over a whole sequence as one op. Its equations, in the letters of the lab, are the five
// lines of gru_step; gru_states computes the same with one kernel a step and, going back, one
// product for each gradient of a weight.
//
// T steps, B batch, H hidden width. The gates r, z, n stand side by side in this order: xs holds
// the inputs' shares of them, W_ih x + b_ih, for all steps.

#include "engine/tensor.h"

namespace labgrad {

// One step, of ops: xs (B, 3H), h (B, H), weight W_hh (3H, H), bias b_hh (3H) or undefined.
// r = σ(x_r + W_hr h + b_hr)
// z = σ(x_z + W_hz h + b_hz)
// n = tanh(x_n + r ⊙ (W_hn h + b_hn))
// h' = (1 - z) ⊙ n + z ⊙ h
// Error: shapes, dtypes or devices that do not fit.
Tensor gru_step(const Tensor& xs, const Tensor& h, const Tensor& weight, const Tensor& bias = {},
                Caller caller = Caller::here());

struct GruSequence {
  // (T, B) of bool: where it is false, the state stays as it is. Undefined: true everywhere.
  Tensor real = {};
  bool reverse = false;  // from the last step to the first
};

// The state after each step, (T, B, H), from xs (T, B, 3H) and the first state h0 (B, H). With
// reverse, the state at t is the one after the steps T-1 .. t. Error: as gru_step.
Tensor gru_states(const Tensor& xs, const Tensor& h0, const Tensor& weight, const Tensor& bias = {},
                  const GruSequence& sequence = {}, Caller caller = Caller::here());

}  // namespace labgrad
