// One step of the optimisers, in one pass over all state; a thread for each weight. The constants
// are rounded to the weights' type once, as in engine/naive/optim.cpp.

#include <cmath>

#include "engine/cuda/cuda.h"
#include "engine/cuda/platform.h"

namespace labgrad {
namespace {

template <class T>
struct Sgd {
  T lr, momentum, keep, decay;
  bool first, nesterov;
};

// g += λ w;  b = momentum b + (1 - dampening) g  (first: b = g);
// w -= lr b,  or with Nesterov's momentum  w -= lr (g + momentum b)
template <class T>
__global__ void sgd_kernel(Memory<T> weight, Memory<const T> grad, Memory<T> buffer, Sgd<T> s,
                           std::int64_t n) {
  for (std::int64_t i = first_index(); i < n; i += index_step()) {
    const T w = weight[i];
    T g = grad[i] + s.decay * w;
    if (buffer) {
      const T b = s.first ? g : s.momentum * buffer[i] + s.keep * g;
      buffer[i] = b;
      g = s.nesterov ? g + s.momentum * b : b;
    }
    weight[i] = w - s.lr * g;
  }
}

template <class T>
struct Adam {
  T beta1, rest1, beta2, rest2, step, root, eps, decay, shrink;
};

// g += λ w (decoupled: w -= lr λ w);  m = β1 m + (1 - β1) g;  v = β2 v + (1 - β2) g²;
// w -= lr / (1 - β1^t) · m / (sqrt(v) / sqrt(1 - β2^t) + eps)
template <class T>
__global__ void adam_kernel(Memory<T> weight, Memory<const T> grad, Memory<T> m, Memory<T> v,
                            Adam<T> s, std::int64_t n) {
  for (std::int64_t i = first_index(); i < n; i += index_step()) {
    const T w = weight[i];
    const T g = grad[i] + s.decay * w;
    const T mi = s.beta1 * m[i] + s.rest1 * g;
    const T vi = s.beta2 * v[i] + s.rest2 * (g * g);
    m[i] = mi;
    v[i] = vi;
    weight[i] = s.shrink * w - s.step * (mi / (std::sqrt(vi) / s.root + s.eps));
  }
}

}  // namespace

void Cuda::sgd_step(const Array& weight, const Array& grad, const Array& buffer,
                    const SgdStep& s) const {
  const std::int64_t n = weight.shape.numel();
  if (n == 0) return;
  dispatch_floating(weight.dtype, "sgd_step", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Sgd<T> constants{T(s.lr),           T(s.momentum), T(1 - s.dampening),
                           T(s.weight_decay), s.first,       s.nesterov};
    launch("sgd_step", sgd_kernel<T>, grid_of(n), block_size, Memory<T>(weight, "weight"),
           Memory<const T>(grad, "grad"), Memory<T>(buffer, "buffer"), constants, n);
  });
}

void Cuda::adam_step(const Array& weight, const Array& grad, const Array& m, const Array& v,
                     const AdamStep& s) const {
  const std::int64_t n = weight.shape.numel();
  if (n == 0) return;
  dispatch_floating(weight.dtype, "adam_step", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const double t = double(s.t);
    const Adam<T> constants{T(s.beta1),
                            T(1 - s.beta1),
                            T(s.beta2),
                            T(1 - s.beta2),
                            T(s.lr / (1 - std::pow(s.beta1, t))),
                            T(std::sqrt(1 - std::pow(s.beta2, t))),
                            T(s.eps),
                            s.decoupled ? T(0) : T(s.weight_decay),
                            s.decoupled ? T(1 - s.lr * s.weight_decay) : T(1)};
    launch("adam_step", adam_kernel<T>, grid_of(n), block_size, Memory<T>(weight, "weight"),
           Memory<const T>(grad, "grad"), Memory<T>(m, "m"), Memory<T>(v, "v"), constants, n);
  });
}

}  // namespace labgrad
