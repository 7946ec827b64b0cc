#pragma once
// The elementwise functions as layers, for Sequential.

#include "engine/ops/pointwise.h"
#include "nn/layer.h"

namespace labgrad::nn {

// A layer without members that applies one function.
template <Tensor (*f)(const Tensor&)>
class Activation : public Layer {
 public:
  Tensor forward(const Tensor& x) override { return f(x); }
  void members(Members&) override {}
};

struct ReLU : Activation<relu> {
  std::string kind() const override { return "ReLU"; }
};
struct ReLU6 : Activation<relu6> {
  std::string kind() const override { return "ReLU6"; }
};
struct GELU : Activation<gelu> {
  std::string kind() const override { return "GELU"; }
};
struct Tanh : Activation<tanh> {
  std::string kind() const override { return "Tanh"; }
};
struct Sigmoid : Activation<sigmoid> {
  std::string kind() const override { return "Sigmoid"; }
};
struct Softplus : Activation<softplus> {
  std::string kind() const override { return "Softplus"; }
};

}  // namespace labgrad::nn
