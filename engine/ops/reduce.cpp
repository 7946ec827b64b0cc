#include "engine/ops/reduce.h"

#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/raw.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"

namespace labgrad {

Shape Dims::kept(const Shape& x, const char* op) const {
  Shape kept = dims_.rank() == 0 ? Shape::filled(x.rank(), 1) : x;
  Shape seen = Shape::filled(x.rank(), 0);
  for (std::int64_t dim : dims_) {
    const int d = wrap_dim(dim, x.rank(), op);
    if (x.rank() == 0) continue;
    if (seen[d]++ > 0)
      fail(std::string(op) + ": dimension " + std::to_string(d) + " of a tensor of shape " +
           x.str() + " is named twice");
    kept[d] = 1;
  }
  return kept;
}

Shape Dims::result(const Shape& x, bool keepdim, const char* op) const {
  Shape y = kept(x, op);
  if (keepdim) return y;
  if (dims_.rank() == 0) return {};
  Shape dropped = Shape::filled(x.rank(), 0);
  for (std::int64_t dim : dims_) dropped[wrap_dim(dim, x.rank(), op)] = 1;
  for (int d = x.rank() - 1; d >= 0; --d)
    if (dropped[d] == 1) y.erase(d);
  return y;
}

namespace {

// A reduction's shapes: with the reduced dimensions as 1, and as the caller wants it.
struct Shapes {
  Shapes(const Tensor& x, const Dims& dims, bool keepdim, const char* op)
      : kept(dims.kept(x.shape(), op)), result(dims.result(x.shape(), keepdim, op)) {}

  Shape kept, result;
};

// y (dense, outside the graph) under another shape of as many elements.
Tensor reshaped(const Tensor& y, const Shape& shape) {
  return y.shape() == shape ? y : alias(y, shape, contiguous_strides(shape));
}

// A gradient with the reduced dimensions put back as 1.
Tensor restored(const Tensor& dy, const Shape& kept) {
  return dy.shape() == kept ? dy : reshape(dy, kept);
}

void check_floating(const Tensor& x, const char* op) {
  if (!is_floating(x.dtype()))
    fail(std::string(op) + ": needs a floating dtype (f32 or f64), got " + name_of(x.dtype()) +
         " " + x.shape().str() + "; convert it with to(x, f32)");
}

// How many elements go into one of the result.
double count(const Shape& x, const Shape& kept) {
  double n = 1;
  for (int d = 0; d < x.rank(); ++d)
    if (kept[d] != x[d]) n *= static_cast<double>(x[d]);
  return n;
}

Tensor counted(const Tensor& x) { return is_floating(x.dtype()) ? x : to(x, i64); }

}  // namespace

// y = Σ x        dx = dy repeated        [sum.grad]
Tensor sum(const Tensor& x, const Dims& dims, bool keepdim) {
  if (!is_floating(x.dtype()) && x.dtype() != i64) return sum(to(x, i64), dims, keepdim);
  const Shapes s(x, dims, keepdim, "sum");
  return differentiable("sum", reshaped(raw::reduce(Reduction::sum, x, s.kept), s.result),
                        wrt(x, [kept = s.kept, of = x.shape()](const Tensor& dy) {
                          return expand(restored(dy, kept), of);
                        }));
}

// y = Σ x / n        dx = dy / n repeated        [mean.grad]
Tensor mean(const Tensor& x, const Dims& dims, bool keepdim) {
  check_floating(x, "mean");
  const Shapes s(x, dims, keepdim, "mean");
  const double n = count(x.shape(), s.kept);
  Tensor y = raw::reduce(Reduction::sum, x, s.kept);
  y.div_(raw::number(n, y));
  return differentiable("mean", reshaped(y, s.result),
                        wrt(x, [kept = s.kept, of = x.shape(), n](const Tensor& dy) {
                          return expand(restored(dy / n, kept), of);
                        }));
}

// The product of pairs, of pairs of pairs, ...: an op made of others, so that no gradient has to
// divide by a factor that may be 0.
Tensor prod(const Tensor& x, std::int64_t dim, bool keepdim) {
  if (x.rank() == 0) {
    wrap_dim(dim, 0, "prod");
    return counted(x);
  }
  const int d = wrap_dim(dim, x.rank(), "prod");
  Tensor y = counted(x), odd;
  while (y.shape()[d] > 1) {
    const std::int64_t n = y.shape()[d], half = n / 2;
    if (n % 2 == 1) {
      const Tensor last = narrow(y, d, n - 1, 1);
      odd = odd.defined() ? odd * last : last;
    }
    y = narrow(y, d, 0, half) * narrow(y, d, half, half);
  }
  if (odd.defined()) y = y * odd;
  if (y.shape()[d] == 0) y = sum(y, d, true) + 1;  // 1, and still of x's graph
  return keepdim ? y : squeeze(y, d);
}

Tensor prod(const Tensor& x) { return prod(flatten(x), 0); }

namespace {

// x - μ. The mean is taken of the differences from each row's first element, so that a row of equal
// numbers deviates by exactly 0, whatever its sum would have been rounded to.
Tensor deviation(const Tensor& x, const Dims& dims, const Shape& kept) {
  if (x.numel() == 0) return x;
  const Tensor shifted = x - alias(x, kept, x.strides());
  return shifted - mean(shifted, dims, true);
}

// Σ (x - μ)² / left, in the shape `kept`.
Tensor raw_variance(const Tensor& x, const Dims& dims, const Shape& kept, double left) {
  NoGrad no_grad;
  Tensor squares = square(deviation(x, dims, kept));
  Tensor y = raw::reduce(Reduction::sum, squares, kept);
  return y.div_(raw::number(left, y));
}

}  // namespace

// y = Σ (x - μ)² / (n - c)        dx = 2 dy ⊙ (x - μ) / (n - c)        [var.grad]
Tensor var(const Tensor& x, const Dims& dims, VarOptions options) {
  check_floating(x, "var");
  const Shapes s(x, dims, options.keepdim, "var");
  const double left =
      std::max(0.0, count(x.shape(), s.kept) - static_cast<double>(options.correction));
  return differentiable("var", reshaped(raw_variance(x, dims, s.kept, left), s.result),
                        wrt(x, [x = save(x), kept = s.kept, dims, left](const Tensor& dy) {
                          return restored(dy, kept) * (2 / left) * deviation(x, dims, kept);
                        }));
}

// y = √var(x)        dx = dy ⊙ (x - μ) / ((n - c) y), 0 where y = 0        [std.grad]
Tensor std(const Tensor& x, const Dims& dims, VarOptions options) {
  check_floating(x, "std");
  const Shapes s(x, dims, options.keepdim, "std");
  const double left =
      std::max(0.0, count(x.shape(), s.kept) - static_cast<double>(options.correction));
  const Tensor variance = raw_variance(x, dims, s.kept, left);
  return differentiable(
      "std", reshaped(raw::map(Unary::sqrt, "std", variance), s.result),
      wrt(x, [x = save(x), kept = s.kept, dims, left](const Tensor& dy, const Tensor& y) {
        const Tensor scale = dy / (left * where(y == 0, 1, y));
        return restored(scale, kept) * deviation(x, dims, kept);
      }));
}

Tensor norm(const Tensor& x, double p) { return norm(x, p, {}); }

// y = (Σ |x|^p)^(1/p)        dx = dy ⊙ sign x ⊙ (|x|/y)^(p-1), 0 where y = 0        [norm.grad]
// For p = 2: y = √Σ x², dx = dy ⊙ x/y.
Tensor norm(const Tensor& x, double p, const Dims& dims, bool keepdim) {
  check_floating(x, "norm");
  if (!(p >= 1)) fail("norm: p is " + std::to_string(p) + "; expected 1 or more (or infinity)");
  if (std::isinf(p)) return amax(abs(x), dims, keepdim);
  const Shapes s(x, dims, keepdim, "norm");
  Tensor y;
  {
    NoGrad no_grad;
    const Tensor wide = to(x, f64);  // the powers of an f32 may lie beyond the range of f32
    const Tensor powers = p == 2 ? square(wide) : pow(abs(wide), p);
    const Tensor total = raw::reduce(Reduction::sum, powers, s.kept);
    y = to(p == 2 ? sqrt(total) : pow(total, 1 / p), x.dtype());
  }
  return differentiable(
      "norm", reshaped(y, s.result),
      wrt(x, [x = save(x), kept = s.kept, p](const Tensor& dy, const Tensor& out) {
        const Tensor length = restored(where(out == 0, 1, out), kept);
        const Tensor unit = x.get() / length;
        if (p == 2) return restored(dy, kept) * unit;
        return restored(dy, kept) * sign(x) * pow(abs(unit), p - 1);
      }));
}

// y = ln Σ e^x        dx = dy ⊙ e^(x - y)        [logsumexp.grad]
Tensor logsumexp(const Tensor& x, const Dims& dims, bool keepdim) {
  check_floating(x, "logsumexp");
  const Shapes s(x, dims, keepdim, "logsumexp");
  Tensor y;
  {
    NoGrad no_grad;
    const Tensor top = raw::reduce(Reduction::max, x, s.kept);
    const Tensor shift = where(isfinite(top), top, 0);
    y = log(raw::reduce(Reduction::sum, exp(x - shift), s.kept)) + shift;
  }
  return differentiable("logsumexp", reshaped(y, s.result),
                        wrt(x, [x = save(x), kept = s.kept](const Tensor& dy, const Tensor& out) {
                          // -inf - (-inf) would be NaN: where nothing but -inf was summed, no x has
                          // a share.
                          constexpr double inf = std::numeric_limits<double>::infinity();
                          const Tensor total = where(out == -inf, 0, out);
                          return restored(dy, kept) * exp(x.get() - restored(total, kept));
                        }));
}

namespace {

// y_k = Σ_(j ≤ k) x_j, or with reverse Σ_(j ≥ k) x_j        dx = the same of dy, the other way
// round        [cumsum.grad]
Tensor running_sum(const Tensor& x, int dim, bool reverse) {
  Tensor y = empty(x.shape(), x.dtype(), x.device());
  kernels(x.device()).cumsum(y.array(), x.array(), dim, reverse);
  return differentiable("cumsum", y, wrt(x, [dim, reverse](const Tensor& dy) {
                          return running_sum(dy, dim, !reverse);
                        }));
}

}  // namespace

Tensor cumsum(const Tensor& x, std::int64_t dim) {
  const int d = wrap_dim(dim, x.rank(), "cumsum");
  const Tensor numbers = counted(x);
  return x.rank() == 0 ? clone(numbers) : running_sum(numbers, d, false);
}

namespace {

Tensor truth(Reduction f, const Tensor& x, const Dims& dims, bool keepdim, const char* op) {
  NoGrad no_grad;
  const Shapes s(x, dims, keepdim, op);
  return reshaped(raw::reduce(f, x.dtype() == boolean ? x : x != 0, s.kept), s.result);
}

}  // namespace

Tensor any(const Tensor& x, const Dims& dims, bool keepdim) {
  return truth(Reduction::any, x, dims, keepdim, "any");
}
Tensor all(const Tensor& x, const Dims& dims, bool keepdim) {
  return truth(Reduction::all, x, dims, keepdim, "all");
}

}  // namespace labgrad
