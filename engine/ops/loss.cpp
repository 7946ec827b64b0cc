#include "engine/ops/loss.h"

#include "engine/autograd.h"
#include "engine/composed.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/index.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/raw.h"
#include "engine/ops/reduce.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"
#include "engine/ops/softmax.h"

namespace labgrad {
namespace {

// Where the classes are: (C) or (N, C, d1, ...).
int class_dim(const Tensor& x) { return x.rank() == 1 ? 0 : 1; }

void check_scores(const char* op, const Tensor& x, const Tensor& weight, const Caller& caller) {
  if (x.rank() == 0)
    fail(std::string(op) + ": the scores are a single number; expected (C), (N, C) or (N, C, ...)",
         caller);
  if (!is_floating(x.dtype()))
    fail(std::string(op) + ": the scores must be f32 or f64, got " + name_of(x.dtype()), caller);
  const std::int64_t classes = x.shape()[class_dim(x)];
  if (weight.defined() && weight.shape() != Shape{classes})
    fail(std::string(op) + ": the class weights have shape " + weight.shape().str() +
             ", expected one for each of " + std::to_string(classes) + " classes",
         caller);
}

// Error unless target has the scores' shape without the classes, and each of its values is a class
// or ignore_index.
void check_targets(const char* op, const Tensor& x, const Tensor& target, std::int64_t ignore,
                   const Caller& caller) {
  Shape expected = x.shape();
  expected.erase(class_dim(x));
  if (target.dtype() != i64 || target.shape() != expected)
    fail(std::string(op) + ": the target is " + name_of(target.dtype()) + " " +
             target.shape().str() + "; for scores " + x.shape().str() + " expected i64 " +
             expected.str(),
         caller);
  const std::int64_t classes = x.shape()[class_dim(x)];
  const std::vector<std::int64_t> values = target.to_vector<std::int64_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == ignore || (values[i] >= 0 && values[i] < classes)) continue;
    Shape at = expected;
    auto rest = static_cast<std::int64_t>(i);
    for (int d = at.rank() - 1; d >= 0; --d) {
      at[d] = rest % expected[d];
      rest /= expected[d];
    }
    fail(std::string(op) + ": target " + std::to_string(values[i]) + " at " + at.str() +
             " is out of range; expected 0 .. " + std::to_string(classes - 1) +
             " or ignore_index " + std::to_string(ignore),
         caller);
  }
}

// What each target counts for: its class's weight, or 1; 0 if it is ignored.
Tensor counts_of(const Tensor& safe, const Tensor& kept, const Tensor& weight, DType dtype) {
  NoGrad no_grad;
  if (!weight.defined()) return to(kept, dtype);
  const Tensor w = index_select(to(weight, dtype), 0, reshape(safe, {safe.numel()}));
  return where(kept, reshape(w, safe.shape()), 0);
}

// What a mean divides by. A mean over nothing but ignored rows is 0.
Tensor total_of(const Tensor& counts) {
  const Tensor total = sum(counts);
  return where(total == 0, 1, total);
}

// Mean or sum of the rows' losses.
Tensor reduced(const Tensor& losses, const Tensor& counts, Reduce reduction) {
  switch (reduction) {
    case Reduce::none:
      return losses;
    case Reduce::sum:
      return sum(losses);
    case Reduce::mean:
      break;
  }
  return sum(losses) / total_of(counts);
}

// -Σ over the classes of w ⊙ p ⊙ logp; p undefined: all 1.
Tensor cross(const Tensor& p, const Tensor& logp, const Tensor& weight) {
  const int c = class_dim(logp);
  Tensor terms = p.defined() ? p * logp : logp;
  if (weight.defined()) {
    Shape column = Shape::filled(logp.rank(), 1);
    column[c] = weight.numel();
    terms = terms * reshape(weight.detach(), column);
  }
  return -sum(terms, c);
}

// x along the class dimension, at each row's class.
Tensor at_class(const Tensor& x, const Tensor& target) {
  const int c = class_dim(x);
  return squeeze(gather(x, c, unsqueeze(target, c)), c);
}

// loss_i = -(1 - ε) w_(t_i) logp_(i, t_i) - ε/C Σ_c w_c logp_ic, 0 where t_i is ignored
Tensor class_loss(const char* op, const Tensor& logp, const Tensor& target,
                  const CrossEntropyOptions& o, const Caller& caller) {
  check_targets(op, logp, target, o.ignore_index, caller);
  const int c = class_dim(logp);
  const Tensor kept = target != o.ignore_index;
  const Tensor safe = where(kept, target, 0);
  const Tensor counts = counts_of(safe, kept, o.weight, logp.dtype());
  Tensor losses = -at_class(logp, safe) * counts;
  if (o.label_smoothing > 0) {
    const double share = o.label_smoothing / static_cast<double>(logp.shape()[c]);
    losses = (1 - o.label_smoothing) * losses + share * cross({}, logp, o.weight);
  }
  // A choice and not a product: an ignored row may hold -inf.
  return reduced(where(kept, losses, 0), counts, o.reduction);
}

// The same from the scores, without smoothing, w_i the weight of row i and n the sum of all:
// z_i = ln Σ_c e^x_ic (as max and rest),  loss = Σ_i w_i (z_i - x_(i, t_i)) / n
// dx_ic = dloss w_i / n (e^(x_ic - z_i) - [c = t_i])        [cross_entropy.grad]
Tensor fused_class_loss(const Tensor& x, const Tensor& target, const CrossEntropyOptions& o,
                        const Caller& caller) {
  check_targets("cross_entropy", x, target, o.ignore_index, caller);
  const int c = class_dim(x);
  Tensor z, loss, safe, share;
  {
    NoGrad no_grad;
    const Tensor kept = target != o.ignore_index;
    safe = where(kept, target, 0);
    const Tensor counts = counts_of(safe, kept, o.weight, x.dtype());
    Shape two = x.shape();
    two[c] = 2;
    z = empty(two, x.dtype(), x.device());
    kernels(x.device()).log_sum_exp(z.array(), x.array(), c);
    // A choice and not a product: an ignored row may hold -inf.
    const Tensor missing = (select(z, c, 0) - at_class(x, safe)) + select(z, c, 1);
    const Tensor losses = where(kept, missing * counts, 0);
    loss = reduced(losses, counts, o.reduction);
    share = o.reduction == Reduce::mean ? counts / total_of(counts) : counts;
  }
  return differentiable(
      "cross_entropy", loss,
      wrt(x, [x = save(x), target = save(target), z, safe, share, o, c, caller](const Tensor& dy) {
        if (grad_enabled())
          return composed_gradients(
              [&](const Tensors& in) {
                return class_loss("cross_entropy", log_softmax(in[0], c), target, o, caller);
              },
              {x}, dy)[0];
        const Tensor s = unsqueeze(share * dy, c);
        const Tensor dx = empty(x.get().shape(), dy.dtype(), dy.device());
        kernels(dy.device())
            .cross_entropy_backward(dx.array(), x.get().array(), z.array(),
                                    unsqueeze(safe, c).array(), s.array(), c);
        return dx;
      }));
}

// loss_i = -Σ_c w_c q_ic logp_ic with q = (1 - ε) target + ε/C
Tensor distribution_loss(const Tensor& logp, const Tensor& target, const CrossEntropyOptions& o,
                         const Caller& caller) {
  if (target.shape() != logp.shape())
    fail("cross_entropy: a target of distributions must have the scores' shape " +
             logp.shape().str() + ", got " + target.shape().str() + "; class numbers must be i64",
         caller);
  const auto classes = static_cast<double>(logp.shape()[class_dim(logp)]);
  const double e = o.label_smoothing;
  const Tensor losses = cross(e > 0 ? (1 - e) * target + e / classes : target, logp, o.weight);
  return reduced(losses, raw::filled(1, losses.shape(), losses), o.reduction);
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& target, CrossEntropyOptions o,
                     Caller caller) {
  check_scores("cross_entropy", logits, o.weight, caller);
  if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1))
    fail("cross_entropy: label_smoothing is " + std::to_string(o.label_smoothing) +
             "; expected 0 to 1",
         caller);
  if (!is_floating(target.dtype()) && o.label_smoothing == 0)
    return fused_class_loss(logits, target, o, caller);
  const Tensor logp = log_softmax(logits, class_dim(logits));
  return is_floating(target.dtype()) ? distribution_loss(logp, target, o, caller)
                                     : class_loss("cross_entropy", logp, target, o, caller);
}

Tensor nll_loss(const Tensor& logp, const Tensor& target, NllOptions o, Caller caller) {
  check_scores("nll_loss", logp, o.weight, caller);
  return class_loss("nll_loss", logp, target,
                    {.ignore_index = o.ignore_index, .weight = o.weight, .reduction = o.reduction},
                    caller);
}

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduce reduction, Caller caller) {
  if (x.shape() != target.shape())
    fail("mse_loss: the prediction has shape " + x.shape().str() + ", the target " +
             target.shape().str() + "; reshape one of them (nothing is broadcast here)",
         caller);
  const Tensor squares = square(x - target);
  return reduction == Reduce::none  ? squares
         : reduction == Reduce::sum ? sum(squares)
                                    : mean(squares);
}

}  // namespace labgrad
