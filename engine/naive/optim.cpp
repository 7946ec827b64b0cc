// One step of the optimisers. The constants are rounded to the weights' type once.

#include <cmath>

#include "engine/naive/naive.h"
#include "engine/naive/walk.h"

namespace labgrad {

// g += λ w;  b = momentum b + (1 - dampening) g  (first: b = g);
// w -= lr b,  or with Nesterov's momentum  w -= lr (g + momentum b)
void Naive::sgd_step(const Array& weight, const Array& grad, const Array& buffer,
                     const SgdStep& s) const {
  dispatch_floating(weight.dtype, "sgd_step", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T lr = T(s.lr), momentum = T(s.momentum), keep = T(1 - s.dampening),
            decay = T(s.weight_decay);
    for (std::int64_t i = 0, n = weight.shape.numel(); i < n; ++i) {
      T& w = weight.as<T>()[i];
      T g = grad.as<T>()[i] + decay * w;
      if (buffer.data) {
        T& b = buffer.as<T>()[i];
        b = s.first ? g : momentum * b + keep * g;
        g = s.nesterov ? g + momentum * b : b;
      }
      w -= lr * g;
    }
  });
}

// g += λ w (decoupled: w -= lr λ w);  m = β1 m + (1 - β1) g;  v = β2 v + (1 - β2) g²;
// w -= lr / (1 - β1^t) · m / (sqrt(v) / sqrt(1 - β2^t) + eps)
void Naive::adam_step(const Array& weight, const Array& grad, const Array& m, const Array& v,
                      const AdamStep& s) const {
  dispatch_floating(weight.dtype, "adam_step", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const double t = double(s.t);
    const T beta1 = T(s.beta1), rest1 = T(1 - s.beta1), beta2 = T(s.beta2), rest2 = T(1 - s.beta2),
            step = T(s.lr / (1 - std::pow(s.beta1, t))),
            root = T(std::sqrt(1 - std::pow(s.beta2, t))), eps = T(s.eps),
            decay = s.decoupled ? T(0) : T(s.weight_decay),
            shrink = s.decoupled ? T(1 - s.lr * s.weight_decay) : T(1);
    for (std::int64_t i = 0, n = weight.shape.numel(); i < n; ++i) {
      T& w = weight.as<T>()[i];
      T& mi = m.as<T>()[i];
      T& vi = v.as<T>()[i];
      const T g = grad.as<T>()[i] + decay * w;
      mi = beta1 * mi + rest1 * g;
      vi = beta2 * vi + rest2 * (g * g);
      w = shrink * w - step * (mi / (std::sqrt(vi) / root + eps));
    }
  });
}

}  // namespace labgrad
