#include "nn/optim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/kernels.h"
#include "engine/ops/broadcast.h"

namespace labgrad::optim {

using Named = std::vector<std::pair<std::string, Tensor>>;

Optimizer::Optimizer(const char* name, Tensors parameters, double learning_rate,
                     std::vector<std::string> slots)
    : lr(learning_rate), name_(name), slots_(std::move(slots)) {
  check_option("lr", lr, 0, HUGE_VAL);
  for (const Tensor& p : parameters) {
    if (!p.requires_grad() || !p.is_leaf())
      fail(fmt::format("{}: a parameter of shape {} is not a leaf that requires a gradient", name,
                       p.shape().str()));
    const bool tied = std::any_of(parameters_.begin(), parameters_.end(),
                                  [&](const Tensor& q) { return q.ref() == p.ref(); });
    if (!tied) parameters_.push_back(p);
  }
  if (parameters_.empty()) fail(fmt::format("{}: there are no parameters to optimise", name));
  states_.resize(parameters_.size());
}

void Optimizer::check_option(const char* option, double value, double low, double high) const {
  if (!(value >= low && value < high))
    fail(fmt::format("{}: {} is {}, expected {} <= {} < {}", name_, option, value, low, option,
                     high));
}

void Optimizer::zero_grad() {
  for (Tensor& p : parameters_) p.zero_grad();
}

void Optimizer::step() {
  NoGrad no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Tensor& w = parameters_[i];
    const Tensor gradient = w.grad();
    if (!gradient.defined()) continue;
    if (gradient.dtype() != w.dtype() || gradient.shape() != w.shape())
      fail(fmt::format("{}: parameter {} is {} {}, its gradient {} {}", name_, i,
                       name_of(w.dtype()), w.shape().str(), name_of(gradient.dtype()),
                       gradient.shape().str()));
    State& s = states_[i];
    // The module may have been brought to another dtype or device since the last step.
    for (Tensor& slot : s.slots) slot = to(to(slot, w.dtype()), w.device());
    if (s.slots.empty())
      for (std::size_t k = 0; k < slots_.size(); ++k)
        s.slots.push_back(empty(w.shape(), w.dtype(), w.device()).zero_());
    Tensor dense = packed(w);  // the kernels know no strides
    step_one(dense, packed(gradient), ++s.t, s.slots);
    if (dense.ref() == w.ref())
      w.impl()->storage->bump_version();
    else
      w.copy_(dense);
  }
}

Named Optimizer::state_dict() const {
  Named state;
  auto number = [](DType dtype, Scalar value) {
    return empty({}, dtype, Device::cpu).fill_(value);
  };
  state.emplace_back("lr", number(f64, lr));
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const State& s = states_[i];
    state.emplace_back(fmt::format("{}.t", i), number(i64, s.t));
    for (std::size_t k = 0; k < s.slots.size(); ++k)
      state.emplace_back(fmt::format("{}.{}", i, slots_[k]), s.slots[k]);
  }
  return state;
}

void Optimizer::load_state_dict(const Named& state) {
  std::unordered_map<std::string, Tensor> given(state.begin(), state.end());
  std::string misfits;
  auto take = [&](const std::string& name, const Shape& shape, DType dtype) {
    const auto it = given.find(name);
    if (it == given.end()) {
      misfits += "\n  missing: " + name;
      return Tensor();
    }
    Tensor found = it->second;
    given.erase(it);
    if (found.shape() == shape && found.dtype() == dtype) return found;
    misfits += fmt::format("\n  misfit: {} is {} {}, expected {} {}", name, name_of(found.dtype()),
                           found.shape().str(), name_of(dtype), shape.str());
    return Tensor();
  };

  NoGrad no_grad;
  const Tensor rate = take("lr", {}, f64);
  std::vector<State> states(parameters_.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Tensor& w = parameters_[i];
    const Tensor t = take(fmt::format("{}.t", i), {}, i64);
    if (!t.defined()) continue;
    states[i].t = t.item<std::int64_t>();
    if (states[i].t == 0) continue;  // never stepped: it has no state yet
    for (const std::string& slot : slots_) {
      const Tensor value = take(fmt::format("{}.{}", i, slot), w.shape(), w.dtype());
      if (value.defined())
        states[i].slots.push_back(empty(w.shape(), w.dtype(), w.device()).copy_(value));
    }
  }
  for (const auto& [name, value] : given) misfits += "\n  unexpected: " + name;
  if (!misfits.empty())
    fail(fmt::format("{}: load_state_dict loaded nothing, for these entries:{}", name_, misfits));
  lr = rate.item();
  states_ = std::move(states);
}

SGD::SGD(Tensors parameters, SgdOptions options)
    : Optimizer("SGD", std::move(parameters), options.lr,
                options.momentum != 0 ? std::vector<std::string>{"momentum"}
                                      : std::vector<std::string>{}),
      options_(options) {
  check_option("momentum", options.momentum, 0, HUGE_VAL);
  check_option("weight_decay", options.weight_decay, 0, HUGE_VAL);
  if (options.nesterov && (options.momentum <= 0 || options.dampening != 0))
    fail("SGD: Nesterov's step needs a momentum above 0 and no dampening");
}

void SGD::step_one(Tensor& w, const Tensor& g, std::int64_t t, Tensors& slots) {
  const SgdOptions& o = options_;
  kernels(w.device())
      .sgd_step(w.array(), g.array(), slots.empty() ? Array{} : slots[0].array(),
                {.lr = lr,
                 .momentum = o.momentum,
                 .dampening = o.dampening,
                 .weight_decay = o.weight_decay,
                 .nesterov = o.nesterov,
                 .first = t == 1});
}

Adam::Adam(Tensors parameters, AdamOptions options)
    : Adam("Adam", std::move(parameters), options, false) {}

Adam::Adam(const char* name, Tensors parameters, AdamOptions options, bool decoupled)
    : Optimizer(name, std::move(parameters), options.lr, {"m", "v"}),
      options_(options),
      decoupled_(decoupled) {
  check_option("beta1", options.beta1, 0, 1);
  check_option("beta2", options.beta2, 0, 1);
  check_option("eps", options.eps, 0, HUGE_VAL);
  check_option("weight_decay", options.weight_decay, 0, HUGE_VAL);
}

void Adam::step_one(Tensor& w, const Tensor& g, std::int64_t t, Tensors& slots) {
  const AdamOptions& o = options_;
  kernels(w.device())
      .adam_step(w.array(), g.array(), slots[0].array(), slots[1].array(),
                 {.lr = lr,
                  .beta1 = o.beta1,
                  .beta2 = o.beta2,
                  .eps = o.eps,
                  .weight_decay = o.weight_decay,
                  .decoupled = decoupled_,
                  .t = t});
}

AdamW::AdamW(Tensors parameters, AdamOptions options)
    : Adam("AdamW", std::move(parameters), options, true) {}

}  // namespace labgrad::optim
