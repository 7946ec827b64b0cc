// The largest and the smallest; declared in engine/ops/reduce.h.

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/index.h"
#include "engine/ops/raw.h"
#include "engine/ops/reduce.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"

namespace labgrad {
namespace {

Tensor restored(const Tensor& dy, const Shape& kept) {
  return dy.shape() == kept ? dy : reshape(dy, kept);
}

// Values (if wanted) and indices along dim, without a graph. Error: nothing to choose from.
Extremes raw_extremes(bool largest, const Tensor& x, int dim, const Shape& kept, bool values,
                      const char* op) {
  if (x.shape()[dim] == 0)
    fail(std::string(op) + ": dimension " + std::to_string(dim) + " of a tensor of shape " +
         x.shape().str() + " has size 0: there is nothing to choose from");
  Extremes y;
  y.indices = empty(kept, i64, x.device());
  if (values) y.values = empty(kept, x.dtype(), x.device());
  kernels(x.device())
      .arg_reduce(largest, values ? y.values.array() : Array{}, y.indices.array(), x.array(), dim);
  return y;
}

// All of x in one row.
Tensor row(const Tensor& x) {
  const Tensor dense = packed(x);
  return alias(dense, {x.numel()}, {1});
}

// y_i = max_k x_ik, k* the first such k        dx_(i,k*) = dy_i, others 0   [max.grad] [min.grad]
Extremes extremes(bool largest, const Tensor& x, std::int64_t dim, bool keepdim, const char* op) {
  const int d = wrap_dim(dim, x.rank(), op);
  if (x.rank() == 0) {
    Extremes y = extremes(largest, reshape(x, {1}), 0, true, op);
    return {reshape(y.values, {}), alias(y.indices, {}, {})};
  }
  Shape kept = x.shape(), result = x.shape();
  kept[d] = 1;
  if (keepdim)
    result = kept;
  else
    result.erase(d);
  const Extremes y = raw_extremes(largest, x, d, kept, true, op);
  auto dense = [&result](const Tensor& t) { return alias(t, result, contiguous_strides(result)); };
  return {differentiable(op, dense(y.values),
                         wrt(x,
                             [of = x.shape(), d, k = save(y.indices)](const Tensor& dy) {
                               const Tensor zeros = raw::filled(0, of, dy);
                               return scatter_add(zeros, d, k, restored(dy, k.get().shape()));
                             })),
          dense(y.indices)};
}

// y = max x over some dimensions        dx = dy / m at the m places where x = y, else 0
// [amax.grad] [amin.grad]
Tensor extreme_of(Reduction f, const Tensor& x, const Dims& dims, bool keepdim, const char* op) {
  const Shape kept = dims.kept(x.shape(), op), result = dims.result(x.shape(), keepdim, op);
  if (x.numel() == 0 && kept.numel() > 0)
    fail(std::string(op) + ": a tensor of shape " + x.shape().str() +
         " has nothing to choose from");
  const Tensor y = raw::reduce(f, x, kept);
  return differentiable(op, alias(y, result, contiguous_strides(result)),
                        wrt(x, [x = save(x), kept, dims](const Tensor& dy, const Tensor& out) {
                          const Tensor there = x.get() == restored(out.detach(), kept);
                          const Tensor m = sum(to(there, dy.dtype()), dims, true);
                          return where(there, restored(dy, kept) / m, 0);
                        }));
}

Tensor position(bool largest, const Tensor& x, const char* op) {
  if (x.numel() == 0)
    fail(std::string(op) + ": the tensor of shape " + x.shape().str() + " has no elements");
  const Extremes y = raw_extremes(largest, row(x), 0, {1}, false, op);
  return alias(y.indices, {}, {});
}

Tensor position(bool largest, const Tensor& x, std::int64_t dim, bool keepdim, const char* op) {
  NoGrad no_grad;
  const int d = wrap_dim(dim, x.rank(), op);
  if (x.rank() == 0) return position(largest, x, op);
  Shape kept = x.shape();
  kept[d] = 1;
  const Extremes y = raw_extremes(largest, x, d, kept, false, op);
  return keepdim ? y.indices : squeeze(y.indices, d);
}

}  // namespace

Extremes max(const Tensor& x, std::int64_t dim, bool keepdim) {
  return extremes(true, x, dim, keepdim, "max");
}
Extremes min(const Tensor& x, std::int64_t dim, bool keepdim) {
  return extremes(false, x, dim, keepdim, "min");
}

Tensor max(const Tensor& x) { return max(reshape(x, {x.numel()}), 0).values; }
Tensor min(const Tensor& x) { return min(reshape(x, {x.numel()}), 0).values; }

Tensor amax(const Tensor& x, const Dims& dims, bool keepdim) {
  return extreme_of(Reduction::max, x, dims, keepdim, "amax");
}
Tensor amin(const Tensor& x, const Dims& dims, bool keepdim) {
  return extreme_of(Reduction::min, x, dims, keepdim, "amin");
}

Tensor argmax(const Tensor& x) { return position(true, x, "argmax"); }
Tensor argmin(const Tensor& x) { return position(false, x, "argmin"); }
Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim) {
  return position(true, x, dim, keepdim, "argmax");
}
Tensor argmin(const Tensor& x, std::int64_t dim, bool keepdim) {
  return position(false, x, dim, keepdim, "argmin");
}

}  // namespace labgrad
