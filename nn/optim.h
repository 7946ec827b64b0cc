#pragma once
// Optimisers: they change parameters in place from their gradients, all state in one pass.
//
//   optim::Adam adam(model.parameters(), {.lr = 1e-3});
//   adam.zero_grad();  loss.backward();  adam.step();
//
// A parameter without a gradient (it took no part) is left alone, decay included; its step count
// doesn't move either. A tensor listed twice (tied weights) is stepped once. When the parameters
// change dtype or device (Module::to), the averages follow at the next step.

#include <string>
#include <utility>
#include <vector>

#include "engine/tensor.h"

namespace labgrad::optim {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  double lr;  // schedules change it between steps

  void zero_grad();
  // One step of every parameter that has a gradient. Error: a gradient's dtype is not the
  // parameter's.
  void step();
  const Tensors& parameters() const { return parameters_; }

  // All that a step depends on besides the parameters: lr, and for each parameter (by its number)
  // the step count and the running averages: "lr", "0.t", "0.m" ... Resuming with it is bit for bit
  // the same as going on.
  std::vector<std::pair<std::string, Tensor>> state_dict() const;
  // Error: lists what is missing, unexpected or misshapen; nothing is changed then.
  void load_state_dict(const std::vector<std::pair<std::string, Tensor>>& state);

 protected:
  // `slots`: the names of the tensors kept for each parameter.
  Optimizer(const char* name, Tensors parameters, double learning_rate,
            std::vector<std::string> slots);
  // t: 1 at the parameter's first step. slots: dense, zero at first.
  virtual void step_one(Tensor& parameter, const Tensor& gradient, std::int64_t t,
                        Tensors& slots) = 0;
  // Error unless low <= value < high.
  void check_option(const char* option, double value, double low, double high) const;

 private:
  struct State {
    std::int64_t t = 0;
    Tensors slots;
  };

  const char* name_;
  Tensors parameters_;
  std::vector<std::string> slots_;
  std::vector<State> states_;
};

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;      // μ
  double dampening = 0;     // τ
  double weight_decay = 0;  // λ
  bool nesterov = false;
};

// g = ∇ + λ w                                                                          [sgd.1]
// b = μ b + (1 - τ) g, at the first step b = g                                         [sgd.2]
// w = w - lr b, or with Nesterov w - lr (g + μ b)                                      [sgd.3]
class SGD : public Optimizer {
 public:
  // Error: an option out of range; Nesterov without momentum or with dampening.
  explicit SGD(Tensors parameters, SgdOptions options = {});

 private:
  void step_one(Tensor& w, const Tensor& g, std::int64_t t, Tensors& slots) override;
  SgdOptions options_;
};

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;        // outside the root
  double weight_decay = 0;  // λ
};

// g = ∇ + λ w                                             Kingma and Ba 2015, algorithm 1 [adam.1]
// m = β₁ m + (1 - β₁) g,  v = β₂ v + (1 - β₂) g²                                       [adam.2]
// w = w - lr m̂ / (√v̂ + ε),  m̂ = m / (1 - β₁ᵗ),  v̂ = v / (1 - β₂ᵗ)                     [adam.3]
class Adam : public Optimizer {
 public:
  explicit Adam(Tensors parameters, AdamOptions options = {});

 protected:
  Adam(const char* name, Tensors parameters, AdamOptions options, bool decoupled);

 private:
  void step_one(Tensor& w, const Tensor& g, std::int64_t t, Tensors& slots) override;
  AdamOptions options_;
  bool decoupled_;
};

// Loshchilov and Hutter 2019, algorithm 2:
// w = (1 - lr λ) w, then Adam without decay                                           [adamw.1]
class AdamW : public Adam {
 public:
  // weight_decay: PyTorch's default here is 0.01.
  explicit AdamW(Tensors parameters, AdamOptions options = {.weight_decay = 0.01});
};

}  // namespace labgrad::optim
