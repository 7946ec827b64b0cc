#pragma once
// Module: a plain struct whose members are parameters, buffers and other modules. Each is named
// once, in members(); everything below (listing, saving, moving, printing) follows from that.
//
//   struct Linear : Module {
//     Tensor weight, bias;
//     void members(Members& m) override { m("weight", weight); m("bias", bias); }
//     Tensor forward(const Tensor& x) const { return linear(x, weight, bias); }
//   };
//
// A copy of a module shares its parameters, as a copy of a Tensor shares its elements.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/tensor.h"

namespace labgrad::nn {

class Module;

using NamedTensor = std::pair<std::string, Tensor>;

// What members() is given: it calls back for each member. An undefined Tensor (a bias that is
// switched off) is passed over.
class Members {
 public:
  virtual ~Members() = default;
  void operator()(const std::string& name, Tensor& parameter) {
    if (parameter.defined()) on_parameter(name, parameter);
  }
  void operator()(const std::string& name, Module& child) { on_child(name, child); }
  // State that is saved but not trained (running statistics).
  void buffer(const std::string& name, Tensor& buffer) {
    if (buffer.defined()) on_buffer(name, buffer);
  }

 protected:
  virtual void on_parameter(const std::string& name, Tensor& parameter) = 0;
  virtual void on_buffer(const std::string& name, Tensor& buffer) = 0;
  virtual void on_child(const std::string& name, Module& child) = 0;
};

class Module {
 public:
  virtual ~Module() = default;

  virtual void members(Members& m) = 0;
  // The type's name, and what its line says in a printed tree: "in=3, out=4".
  virtual std::string kind() const = 0;
  virtual std::string details() const { return {}; }

  bool training = true;

  // Names as in PyTorch: the way to a member joined by dots, "block.attn.q.weight". In the order of
  // members(), children in their place. A tensor that has two names (tied weights) is listed under
  // its first one in the two lists of parameters, and under both in state_dict().
  std::vector<NamedTensor> named_parameters();
  Tensors parameters();
  std::vector<NamedTensor> named_buffers();
  // The elements of all parameters and buffers, outside the graph; they share storage.
  std::vector<NamedTensor> state_dict();
  // Copies values in. Everything is compared before anything is written; the error lists all that
  // does not fit: missing, unexpected, and misshapen entries.
  void load_state_dict(const std::vector<NamedTensor>& state);

  // Sets `training` here and in all children. See Evaluating for a guard.
  void train(bool on = true);
  void eval() { train(false); }
  // Moves or converts all parameters (and floating buffers) in place: optimisers stay valid.
  void to(Device device);
  void to(DType dtype);
  void zero_grad();

  // Elements of all parameters; a tied one counts once.
  std::int64_t parameter_count();
  // The same by direct member: {("embed", 1,344), ("block", ...)}.
  std::vector<std::pair<std::string, std::int64_t>> parameter_count_by_part();
  // The tree of modules, one a line, with parameter counts.
  std::string str();

 private:
  void set_each(const std::function<Tensor(const Tensor&)>& change);
};

// While it lives the module is in evaluation mode; afterwards each part is as it was before, also
// when an exception leaves the scope.
class Evaluating {
 public:
  explicit Evaluating(Module& module);
  ~Evaluating();
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  std::vector<std::pair<Module*, bool>> before_;
};

}  // namespace labgrad::nn
