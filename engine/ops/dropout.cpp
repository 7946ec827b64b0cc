#include "engine/ops/dropout.h"

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/raw.h"
#include "engine/ops/select.h"

namespace labgrad {

// y = x ⊙ m, m_i = 0 with probability p, else 1/(1-p)        dx = dy ⊙ m        [dropout.grad]
Tensor dropout(const Tensor& x, double p, bool training, Generator& generator) {
  if (!(p >= 0 && p <= 1))
    fail("dropout: p is " + std::to_string(p) +
         "; expected the probability of dropping an element, 0 to 1");
  if (!is_floating(x.dtype()))
    fail(std::string("dropout: needs a floating dtype (f32 or f64), got ") + name_of(x.dtype()) +
         " " + x.shape().str());
  if (!training || p == 0) return x;
  const std::uint64_t key = generator.fork_key();
  if (p == 1) {  // 0 ⊙ inf would be NaN
    Tensor all = empty({}, boolean, x.device());
    return masked_fill(x, all.fill_(true), 0);
  }
  Tensor mask = empty(x.shape(), x.dtype(), x.device());
  kernels(x.device()).dropout_mask(mask.array(), key, p);
  return differentiable("dropout", raw::zip(Binary::mul, "dropout", x, mask, Caller::here()),
                        wrt(x, [mask](const Tensor& dy) { return dy * mask; }));
}

}  // namespace labgrad
