#include "engine/composed.h"

#include "engine/backward.h"
#include "engine/ops/shape.h"

namespace labgrad {

Tensors composed_gradients(const std::function<Tensor(const Tensors& xs)>& f, const Tensors& xs,
                           const Tensor& dy) {
  // A new node between each input and f: the sweep below ends there, and does not go on to what
  // the inputs were computed from, or to a parameter that one of those shares with f.
  Tensors inside = xs, wanted;
  for (Tensor& x : inside) {
    if (!x.requires_grad()) continue;
    x = reshape(x, x.shape());
    wanted.push_back(x);
  }
  const Tensors gradients = grad({f(inside)}, wanted, {dy}, {.create_graph = true});
  Tensors all(xs.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (xs[i].requires_grad()) all[i] = gradients[next++];
  return all;
}

}  // namespace labgrad
