#include "nn/layer.h"

namespace labgrad::nn {

Tensor Sequential::forward(const Tensor& x) {
  Tensor h = x;
  for (const auto& layer : layers_) h = layer->forward(h);
  return h;
}

void Sequential::members(Members& m) {
  for (std::size_t i = 0; i < layers_.size(); ++i) m(std::to_string(i), *layers_[i]);
}

Layer& Sequential::operator[](std::size_t i) {
  if (i >= layers_.size())
    fail("Sequential: there is no layer " + std::to_string(i) + " among " +
         std::to_string(layers_.size()));
  return *layers_[i];
}

}  // namespace labgrad::nn
