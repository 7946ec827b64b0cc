#pragma once
// Layer: a module with one tensor in and one out, so that layers can be strung together.

#include <memory>

#include "nn/module.h"

namespace labgrad::nn {

class Layer : public Module {
 public:
  virtual Tensor forward(const Tensor& x) = 0;
  Tensor operator()(const Tensor& x) { return forward(x); }
};

// Layers one after another. They are named "0", "1", ... by their place.
class Sequential : public Layer {
 public:
  Sequential() = default;
  // Sequential(Linear(4, 8), ReLU(), Linear(8, 2)); draws for the weights happen where each layer
  // is made, so braces (evaluated left to right) keep PyTorch's order: Sequential{...}.
  template <class... L>
  requires(std::derived_from<L, Layer>&&...) explicit Sequential(L... layers) {
    (append(std::move(layers)), ...);
  }

  template <class L>
  requires std::derived_from<L, Layer> Sequential& append(L layer) {
    layers_.push_back(std::make_shared<L>(std::move(layer)));
    return *this;
  }

  Tensor forward(const Tensor& x) override;
  void members(Members& m) override;
  std::string kind() const override { return "Sequential"; }

  std::size_t size() const { return layers_.size(); }
  // Error: there is no layer i.
  Layer& operator[](std::size_t i);

 private:
  std::vector<std::shared_ptr<Layer>> layers_;
};

}  // namespace labgrad::nn
