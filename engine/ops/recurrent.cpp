#include "engine/ops/recurrent.h"

#include "engine/autograd.h"
#include "engine/composed.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/join.h"
#include "engine/ops/matmul.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/raw.h"
#include "engine/ops/reduce.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"

namespace labgrad {
namespace {

// ---- arguments ----

void check(const char* op, const char* name, const Tensor& p, const Shape& shape, const Tensor& xs,
           const Caller& caller) {
  if (p.shape() == shape && p.dtype() == xs.dtype() && p.device() == xs.device()) return;
  fail(std::string(op) + ": " + name + " is " + name_of(p.dtype()) + " " + p.shape().str() +
           " on " + name_of(p.device()) + ", expected " + name_of(xs.dtype()) + " " + shape.str() +
           " on " + name_of(xs.device()) + " for xs of shape " + xs.shape().str(),
       caller);
}

void check_gates(const char* op, const char* shape, int rank, const Tensor& xs, const Tensor& h,
                 const Tensor& weight, const Tensor& bias, const Caller& caller) {
  if (xs.rank() != rank || xs.shape().back() % 3 != 0 || !is_floating(xs.dtype()))
    fail(std::string(op) + ": xs is " + name_of(xs.dtype()) + " " + xs.shape().str() +
             ", expected f32 or f64 " + shape + ", the inputs' shares of three gates",
         caller);
  const std::int64_t B = xs.size(-2), H = xs.size(-1) / 3;
  check(op, "h", h, {B, H}, xs, caller);
  check(op, "the weight", weight, {3 * H, H}, xs, caller);
  if (bias.defined()) check(op, "the bias", bias, {3 * H}, xs, caller);
}

// x itself where its last dimension is dense, which is what the kernels ask for.
Tensor dense_rows(const Tensor& x) {
  return x.size(-1) == 1 || x.strides()[x.rank() - 1] == 1 ? x : packed(x);
}

Array array_or_none(const Tensor& x) { return x.defined() ? x.array() : Array{}; }

// x[t] of x (T, ...); nothing of nothing.
Array at(const Tensor& x, std::int64_t t) {
  if (!x.defined()) return {};
  Array a = x.array();
  a.data += t * a.strides[0] * static_cast<std::int64_t>(size_of(a.dtype));
  a.shape.erase(0);
  a.strides.erase(0);
  return a;
}

Array transposed(Array a) {
  std::swap(a.shape[0], a.shape[1]);
  std::swap(a.strides[0], a.strides[1]);
  return a;
}

// ---- the order of the steps ----

struct Order {
  std::int64_t T;
  bool reverse;

  std::int64_t step(std::int64_t i) const { return reverse ? T - 1 - i : i; }
  // The state before step t: where it stands among the states; the first step's is h0.
  std::int64_t before(std::int64_t t) const { return reverse ? t + 1 : t - 1; }
  std::int64_t first() const { return step(0); }
};

// The sequence as gru_step, step by step.
Tensor composed_states(const Tensors& in, const GruSequence& sequence) {
  const Tensors xs = unbind(in[0], 0);
  const Order order{static_cast<std::int64_t>(xs.size()), sequence.reverse};
  Tensors states(xs.size());
  Tensor h = in[1];
  for (std::int64_t i = 0; i < order.T; ++i) {
    const auto t = static_cast<std::size_t>(order.step(i));
    Tensor next = gru_step(xs[t], h, in[2], in[3]);
    if (sequence.real.defined())
      next = where(unsqueeze(select(sequence.real, 0, order.step(i)), 1), next, h);
    h = states[t] = next;
  }
  return stack(states, 0);
}

// ---- fused ----

struct Steps {
  Tensor states;  // (T, B, H)
  Tensor gates;   // (T, B, 4H): r, z, n and W_hn h + b_hn, for backward
};

Steps run_forward(const Tensor& xs, const Tensor& h0, const Tensor& weight, const Tensor& bias,
                  const GruSequence& sequence, bool keep_gates) {
  const std::int64_t T = xs.size(0), B = xs.size(1), H = xs.size(2) / 3;
  const Kernels& k = kernels(xs.device());
  Steps s{empty({T, B, H}, xs.dtype(), xs.device()), {}};
  if (keep_gates) s.gates = empty({T, B, 4 * H}, xs.dtype(), xs.device());
  // W_hhᵀ, laid out once for all steps.
  Array w = transposed(weight.array());
  Tensor turned;
  if (T > 1) {
    turned = empty({H, 3 * H}, xs.dtype(), xs.device());
    k.copy(turned.array(), w);
    w = turned.array();
  }
  const Tensor u = empty({B, 3 * H}, xs.dtype(), xs.device());
  const Order order{T, sequence.reverse};
  Array h = h0.array();
  for (std::int64_t i = 0; i < T; ++i) {
    const std::int64_t t = order.step(i);
    k.gemm(u.array(), h, w, false);
    k.gru_step(at(s.states, t), at(s.gates, t), at(xs, t), u.array(), array_or_none(bias), h,
               at(sequence.real, t));
    h = at(s.states, t);
  }
  return s;
}

struct Gradients {
  Tensor xs, h0, weight, bias;
};

// One way back through the steps leaves the gradients of all shares, u = W_hh h + b_hh; then the
// weight's is one product over all steps but the first, whose state is h0, and one more for that.
Gradients run_backward(const Tensor& dstates, const Steps& s, const Tensor& h0,
                       const Tensor& weight, const Order& order, bool parameters_too) {
  const std::int64_t T = order.T, B = h0.size(0), H = h0.size(1);
  const Kernels& k = kernels(h0.device());
  auto fresh = [&](const Shape& shape) { return empty(shape, h0.dtype(), h0.device()); };
  Gradients g{fresh({T, B, 3 * H}), raw::filled(0, {B, H}, h0), {}, {}};
  const Tensor du = fresh({T, B, 3 * H});
  for (std::int64_t i = T - 1; i >= 0; --i) {
    const std::int64_t t = order.step(i);
    const Array h = i == 0 ? h0.array() : at(s.states, order.before(t));
    k.gru_step_backward(at(g.xs, t), at(du, t), g.h0.array(), at(dstates, t), at(s.gates, t), h);
    k.gemm(g.h0.array(), at(du, t), weight.array(), true);
  }
  if (!parameters_too) return g;
  g.weight = fresh({3 * H, H});
  const std::int64_t first = order.first();
  k.gemm(g.weight.array(), transposed(at(du, first)), h0.array(), false);
  if (T > 1) {
    const auto later = [&](const Tensor& x, std::int64_t from) {
      const std::int64_t width = x.size(2);
      return alias(x, {(T - 1) * B, width}, {width, 1}, from * B * width).array();
    };
    k.gemm(g.weight.array(), transposed(later(du, order.reverse ? 0 : 1)),
           later(s.states, order.reverse ? 1 : 0), true);
  }
  g.bias = reshape(raw::reduce(Reduction::sum, reshape(du, {T * B, 3 * H}), {1, 3 * H}), {3 * H});
  return g;
}

}  // namespace

Tensor gru_step(const Tensor& xs, const Tensor& h, const Tensor& weight, const Tensor& bias,
                Caller caller) {
  check_gates("gru_step", "(B, 3H)", 2, xs, h, weight, bias, caller);
  const Tensors x = chunk(xs, 3, -1), u = chunk(linear(h, weight, bias), 3, -1);
  const Tensor r = sigmoid(x[0] + u[0]);
  const Tensor z = sigmoid(x[1] + u[1]);
  const Tensor n = tanh(x[2] + r * u[2]);
  return (1 - z) * n + z * h;
}

// h' = (1 - z) ⊙ n + z ⊙ h,  u = W_hh h + b_hh, a the sums inside σ and tanh:
// da_n = dh' ⊙ (1 - z) ⊙ (1 - n²)        da_z = dh' ⊙ (h - n) ⊙ z ⊙ (1 - z)
// da_r = da_n ⊙ u_n ⊙ r ⊙ (1 - r)        dx = (da_r, da_z, da_n),  du = (da_r, da_z, da_n ⊙ r)
// dh = dh' ⊙ z + du W_hh        dW_hh = Σ_t duᵀ h        db_hh = Σ du        [gru_states.grad]
Tensor gru_states(const Tensor& xs, const Tensor& h0, const Tensor& weight, const Tensor& bias,
                  const GruSequence& sequence, Caller caller) {
  check_gates("gru_states", "(T, B, 3H)", 3, xs, h0, weight, bias, caller);
  const Tensor& real = sequence.real;
  const std::int64_t T = xs.size(0), B = xs.size(1);
  if (real.defined() && (real.dtype() != boolean || real.shape() != Shape{T, B}))
    fail(std::string("gru_states: real is ") + name_of(real.dtype()) + " " + real.shape().str() +
             ", expected bool " + Shape{T, B}.str(),
         caller);
  const Tensors inputs{xs, h0, weight, bias};
  const Tensor first = dense_rows(h0);
  const bool parameters_too = weight.requires_grad() || (bias.defined() && bias.requires_grad());
  const bool recorded =
      grad_enabled() && (xs.requires_grad() || h0.requires_grad() || parameters_too);
  const Steps s = run_forward(dense_rows(xs), first, weight, bias.defined() ? packed(bias) : bias,
                              sequence, recorded);
  if (!recorded) return s.states;
  std::vector<Saved> saved{save(xs), save(h0), save(weight)};
  if (bias.defined()) saved.push_back(save(bias));
  saved.push_back(save(s.states.detach()));
  return differentiable_joint(
      "gru_states", {s.states}, inputs,
      [saved, gates = s.gates, first, sequence, parameters_too,
       has_bias = bias.defined()](const Tensors& dys) -> Tensors {
        const Tensors in{saved[0], saved[1], saved[2], has_bias ? saved[3].get() : Tensor()};
        if (grad_enabled())
          return composed_gradients([&](const Tensors& x) { return composed_states(x, sequence); },
                                    in, dys[0]);
        const Gradients g = run_backward(dense_rows(dys[0]), {saved.back(), gates}, first, in[2],
                                         {in[0].size(0), sequence.reverse}, parameters_too);
        return {g.xs, g.h0, g.weight, g.bias};
      })[0];
}

}  // namespace labgrad
