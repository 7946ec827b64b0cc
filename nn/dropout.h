#pragma once
// Dropout: in training, zeros a share p of the elements and scales the others by 1/(1-p); otherwise
// the identity. Srivastava et al. 2014.

#include <string>

#include "engine/ops/dropout.h"
#include "nn/layer.h"

namespace labgrad::nn {

class Dropout : public Layer {
 public:
  double p;

  // Each forward in training draws one key from g, which must outlive the module.
  explicit Dropout(double probability = 0.5, Generator& g = default_generator())
      : p(probability), generator_(&g) {}

  Tensor forward(const Tensor& x) override { return dropout(x, p, training, *generator_); }
  void members(Members&) override {}
  std::string kind() const override { return "Dropout"; }
  std::string details() const override { return "p=" + std::to_string(p); }

 private:
  Generator* generator_;
};

}  // namespace labgrad::nn
