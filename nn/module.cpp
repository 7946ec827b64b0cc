#include "nn/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/autograd.h"
#include "engine/ops/broadcast.h"

namespace labgrad::nn {
namespace {

// Walks a module and all below it, with dotted names.
class Walk : public Members {
 public:
  std::function<void(const std::string& name, Tensor& tensor)> parameter = [](auto&, auto&) {};
  std::function<void(const std::string& name, Tensor& tensor)> buffer_ = [](auto&, auto&) {};
  std::function<void(const std::string& name, Module& module)> module = [](auto&, auto&) {};

 protected:
  void on_parameter(const std::string& name, Tensor& t) override { parameter(prefix_ + name, t); }
  void on_buffer(const std::string& name, Tensor& t) override { buffer_(prefix_ + name, t); }
  void on_child(const std::string& name, Module& child) override {
    module(prefix_ + name, child);
    const std::string before = prefix_;
    prefix_ += name + ".";
    child.members(*this);
    prefix_ = before;
  }

 private:
  std::string prefix_;
};

std::string described(const Tensor& x) {
  return fmt::format("{} {}", name_of(x.dtype()), x.shape().str());
}

}  // namespace

std::vector<NamedTensor> Module::named_parameters() {
  std::vector<NamedTensor> found;
  std::unordered_set<const TensorImpl*> seen;
  Walk walk;
  walk.parameter = [&](const std::string& name, Tensor& t) {
    if (seen.insert(t.impl()).second) found.emplace_back(name, t);
  };
  members(walk);
  return found;
}

Tensors Module::parameters() {
  Tensors found;
  for (const auto& [name, t] : named_parameters()) found.push_back(t);
  return found;
}

std::vector<NamedTensor> Module::named_buffers() {
  std::vector<NamedTensor> found;
  Walk walk;
  walk.buffer_ = [&](const std::string& name, Tensor& t) { found.emplace_back(name, t); };
  members(walk);
  return found;
}

std::vector<NamedTensor> Module::state_dict() {
  std::vector<NamedTensor> state;
  Walk walk;
  walk.parameter = walk.buffer_ = [&](const std::string& name, Tensor& t) {
    state.emplace_back(name, t.detach());
  };
  members(walk);
  return state;
}

void Module::load_state_dict(const std::vector<NamedTensor>& state) {
  std::unordered_map<std::string, Tensor> given;
  std::string misfits;
  for (const auto& [name, t] : state)
    if (!given.emplace(name, t).second) misfits += fmt::format("\n  given twice: {}", name);
  const std::vector<NamedTensor> own = state_dict();
  for (const auto& [name, mine] : own) {
    const auto it = given.find(name);
    if (it == given.end()) {
      misfits += fmt::format("\n  missing: {}, {}", name, described(mine));
      continue;
    }
    if (it->second.shape() != mine.shape() || it->second.dtype() != mine.dtype())
      misfits += fmt::format("\n  misfit: {} is {}, expected {}", name, described(it->second),
                             described(mine));
    given.erase(it);
  }
  for (const auto& [name, t] : state)
    if (given.contains(name)) misfits += fmt::format("\n  unexpected: {}, {}", name, described(t));
  if (!misfits.empty())
    fail(fmt::format("load_state_dict: nothing was loaded into {}, for these entries:{}", kind(),
                     misfits));

  NoGrad no_grad;
  std::unordered_map<std::string, Tensor> values(state.begin(), state.end());
  for (auto [name, mine] : own) mine.copy_(labgrad::to(values.at(name), mine.device()));
}

void Module::train(bool on) {
  Walk walk;
  walk.module = [on](const std::string&, Module& m) { m.training = on; };
  training = on;
  members(walk);
}

// The shared implementation is changed, not the handle: every copy of the handle (a tied weight, an
// optimiser's list) goes along. Each tensor is changed once, however many names it has.
void Module::set_each(const std::function<Tensor(const Tensor&)>& change) {
  NoGrad no_grad;
  std::unordered_set<const TensorImpl*> seen;
  Walk walk;
  walk.parameter = walk.buffer_ = [&](const std::string&, Tensor& t) {
    if (!seen.insert(t.impl()).second) return;
    const Tensor changed = change(t.detach());
    t.impl()->storage = changed.impl()->storage;
    t.impl()->array = changed.impl()->array;
    t.zero_grad();
  };
  members(walk);
}

void Module::to(Device device) {
  set_each([device](const Tensor& t) { return labgrad::to(t, device); });
}

void Module::to(DType dtype) {
  if (!is_floating(dtype))
    fail(fmt::format("to: the parameters of {} need a floating dtype, got {}", kind(),
                     name_of(dtype)));
  set_each([dtype](const Tensor& t) { return is_floating(t.dtype()) ? labgrad::to(t, dtype) : t; });
}

void Module::zero_grad() {
  for (Tensor& p : parameters()) p.zero_grad();
}

std::int64_t Module::parameter_count() {
  std::int64_t n = 0;
  for (const Tensor& p : parameters()) n += p.numel();
  return n;
}

std::vector<std::pair<std::string, std::int64_t>> Module::parameter_count_by_part() {
  std::vector<std::pair<std::string, std::int64_t>> parts;
  for (const auto& [name, p] : named_parameters()) {
    const std::string part = name.substr(0, name.find('.'));
    if (parts.empty() || parts.back().first != part) parts.emplace_back(part, 0);
    parts.back().second += p.numel();
  }
  return parts;
}

std::string Module::str() {
  auto line = [](Module& m) {
    return fmt::format("{}({})  {} parameters\n", m.kind(), m.details(), m.parameter_count());
  };
  std::string text = line(*this);
  Walk walk;
  walk.module = [&](const std::string& name, Module& m) {
    const auto depth = static_cast<std::size_t>(std::count(name.begin(), name.end(), '.')) + 1;
    const auto dot = name.rfind('.');
    text += std::string(2 * depth, ' ') + (dot == std::string::npos ? name : name.substr(dot + 1)) +
            ": " + line(m);
  };
  members(walk);
  return text;
}

Evaluating::Evaluating(Module& module) {
  Walk walk;
  walk.module = [this](const std::string&, Module& m) { before_.emplace_back(&m, m.training); };
  before_.emplace_back(&module, module.training);
  module.members(walk);
  module.eval();
}

Evaluating::~Evaluating() {
  for (auto& [module, training] : before_) module->training = training;
}

}  // namespace labgrad::nn
