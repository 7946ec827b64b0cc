#include "engine/ops/broadcast.h"

#include "engine/autograd.h"
#include "engine/ops/raw.h"

namespace labgrad {

// y = x repeated        dx = Σ dy over the repeats, which the sweep does for every op [expand.grad]
Tensor expand(const Tensor& x, const Shape& shape, Caller caller) {
  Shape to = shape;
  for (int d = 0; d < to.rank(); ++d) {
    const int from = d - (to.rank() - x.rank());
    if (to[d] != -1) continue;
    if (from < 0) fail("expand: -1 needs an existing dimension, in " + shape.str(), caller);
    to[d] = x.shape()[from];
  }
  if (!broadcasts_to(x.shape(), to))
    fail("expand: shape " + x.shape().str() + " does not broadcast to " + to.str() +
             "; only sizes of 1 can be repeated",
         caller);
  return differentiable("expand", alias(x, to, broadcast_strides(x.shape(), x.strides(), to)),
                        wrt(x, unchanged));
}

// y = Σ x over some dimensions        dx = dy repeated over them        [sum_to.grad]
Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (!broadcasts_to(shape, x.shape()))
    fail("sum_to: a tensor of shape " + x.shape().str() + " cannot be summed to " + shape.str());
  Shape kept = shape;
  while (kept.rank() < x.rank()) kept.insert(0, 1);
  Tensor y = empty(kept, x.dtype(), x.device());
  kernels(x.device()).reduce(Reduction::sum, y.array(), x.array());
  return differentiable("sum_to", alias(y, shape, contiguous_strides(shape)),
                        wrt(x, [of = x.shape()](const Tensor& dy) {
                          Shape ones = dy.shape();
                          while (ones.rank() < of.rank()) ones.insert(0, 1);
                          return expand(dy, of);
                        }));
}

// y = x in another dtype        dx = dy in x's dtype        [to.grad]
Tensor to(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  Tensor y = raw::like(x, dtype);
  kernels(x.device()).copy(y.array(), x.array());
  return differentiable("to", y,
                        wrt(x, [back = x.dtype()](const Tensor& dy) { return to(dy, back); }));
}

Tensor to(const Tensor& x, Device device) {
  if (x.device() == device) return x;
  return differentiable("to", moved(x, device),
                        wrt(x, [back = x.device()](const Tensor& dy) { return to(dy, back); }));
}

// y = x        dx = dy        [clone.grad]
Tensor clone(const Tensor& x) {
  Tensor y = empty(x.shape(), x.dtype(), x.device());
  kernels(x.device()).copy(y.array(), x.array());
  return differentiable("clone", y, wrt(x, unchanged));
}

Tensor contiguous(const Tensor& x) { return x.is_contiguous() ? x : clone(x); }

}  // namespace labgrad
