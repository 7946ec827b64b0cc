#include "engine/ops/attention.h"

#include "engine/autograd.h"
#include "engine/composed.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/matmul.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

namespace labgrad {
namespace {

Tensor composed_scores(const Tensors& in) {
  return matmul(tanh(unsqueeze(in[0], 2) + unsqueeze(in[1], 1)), in[2]);
}

std::string described(const Tensor& x) {
  return std::string(name_of(x.dtype())) + " " + x.shape().str() + " on " + name_of(x.device());
}

}  // namespace

// t = tanh(q_iu + k_ju),  e_ij = Σ_u v_u t,  g = de_ij v_u (1 - t²):
// dq_iu = Σ_j g        dk_ju = Σ_i g        dv_u = Σ_ij de_ij t        [additive_scores.grad]
Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& v, Caller caller) {
  const bool shapes = q.rank() == 3 && k.rank() == 3 && v.rank() == 1 && q.size(0) == k.size(0) &&
                      q.size(2) == v.size(0) && k.size(2) == v.size(0);
  const bool types = is_floating(q.dtype()) && k.dtype() == q.dtype() && v.dtype() == q.dtype() &&
                     k.device() == q.device() && v.device() == q.device();
  if (!shapes || !types)
    fail("additive_scores: q is " + described(q) + ", k " + described(k) + ", v " + described(v) +
             "; expected (B, Q, U), (B, K, U) and (U) of one floating dtype on one device",
         caller);
  const Tensors dense{packed(q), packed(k), packed(v)};
  Tensor e = empty({q.size(0), q.size(1), k.size(1)}, q.dtype(), q.device());
  kernels(q.device())
      .additive_scores(e.array(), dense[0].array(), dense[1].array(), dense[2].array());
  const std::vector<Saved> saved{save(q), save(k), save(v)};
  return differentiable_joint(
      "additive_scores", {e}, {q, k, v}, [saved, dense](const Tensors& dys) -> Tensors {
        const Tensors in{saved[0], saved[1], saved[2]};
        if (grad_enabled()) return composed_gradients(composed_scores, in, dys[0]);
        auto like = [](const Tensor& x, const Shape& shape) {
          return empty(shape, x.dtype(), x.device());
        };
        const Tensor dq = like(in[0], in[0].shape()), dk = like(in[1], in[1].shape());
        const Tensor dv = like(in[2], {in[0].size(0), in[2].size(0)});
        kernels(dq.device())
            .additive_scores_backward(dq.array(), dk.array(), dv.array(), packed(dys[0]).array(),
                                      dense[0].array(), dense[1].array(), dense[2].array());
        return {dq, dk, sum(dv, 0)};
      })[0];
}

}  // namespace labgrad
