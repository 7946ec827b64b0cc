// One step of the optimisers: one pass over weights, gradients and state, in vectors. The time is
// that of the memory.

#include <cmath>
#include <cstdint>

#include "engine/cpu/cpu.h"
#include "engine/cpu/each_vector.h"
#include "engine/cpu/elementwise.h"
#include "engine/cpu/threads.h"
#include "engine/cpu/vec.h"

namespace labgrad {

using namespace cpu;

namespace {

template <class T, class F>
void each_weight(std::int64_t n, F f) {
  parallel_for(n, cheap_grain,
               [&](std::int64_t begin, std::int64_t end) { each_vector<T>(begin, end, T(0), f); });
}

}  // namespace

// g += λ w;  b = momentum b + (1 - dampening) g  (first: b = g);
// w -= lr b,  or with Nesterov's momentum  w -= lr (g + momentum b)
void Cpu::sgd_step(const Array& weight, const Array& grad, const Array& buffer,
                   const SgdStep& s) const {
  dispatch_floating(weight.dtype, "sgd_step", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T lr = T(s.lr), momentum = T(s.momentum), keep = T(1 - s.dampening),
            decay = T(s.weight_decay);
    T *const w = weight.as<T>(), *const b = buffer.as<T>();
    const T* const dw = grad.as<T>();
    each_weight<T>(weight.shape.numel(), [=](auto read, auto write) {
      Vec<T> g = read(dw) + decay * read(w);
      if (b) {
        const Vec<T> v = s.first ? g : momentum * read(b) + keep * g;
        write(b, v);
        g = s.nesterov ? g + momentum * v : v;
      }
      write(w, read(w) - lr * g);
    });
  });
}

// g += λ w (decoupled: w -= lr λ w);  m = β1 m + (1 - β1) g;  v = β2 v + (1 - β2) g²;
// w -= lr / (1 - β1^t) · m / (sqrt(v) / sqrt(1 - β2^t) + eps)
void Cpu::adam_step(const Array& weight, const Array& grad, const Array& m, const Array& v,
                    const AdamStep& s) const {
  dispatch_floating(weight.dtype, "adam_step", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const double t = double(s.t);
    const T beta1 = T(s.beta1), rest1 = T(1 - s.beta1), beta2 = T(s.beta2), rest2 = T(1 - s.beta2),
            step = T(s.lr / (1 - std::pow(s.beta1, t))),
            scale = T(1 / std::sqrt(1 - std::pow(s.beta2, t))), eps = T(s.eps),
            decay = s.decoupled ? T(0) : T(s.weight_decay),
            shrink = s.decoupled ? T(1 - s.lr * s.weight_decay) : T(1);
    T *const w = weight.as<T>(), *const first = m.as<T>(), *const second = v.as<T>();
    const T* const dw = grad.as<T>();
    each_weight<T>(weight.shape.numel(), [=](auto read, auto write) {
      const Vec<T> g = read(dw) + decay * read(w);
      const Vec<T> mi = beta1 * read(first) + rest1 * g;
      const Vec<T> vi = beta2 * read(second) + rest2 * (g * g);
      write(first, mi);
      write(second, vi);
      write(w, shrink * read(w) - step * (mi / (sqrt(vi) * scale + eps)));
    });
  });
}

}  // namespace labgrad
