#include "engine/ops/matmul.h"

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/raw.h"
#include "engine/ops/shape.h"

namespace labgrad {
namespace {

std::string compact(const Shape& shape) {  // "(3,4)"
  std::string s;
  for (char c : shape.str())
    if (c != ' ') s += c;
  return s;
}

[[noreturn]] void misfit(const char* op, const Tensor& a, const Tensor& b, const std::string& why,
                         const Caller& caller) {
  fail(std::string(op) + ": " + compact(a.shape()) + " x " + compact(b.shape()) + ": " + why,
       caller);
}

void check_operands(const char* op, const Tensor& a, const Tensor& b, const Caller& caller) {
  raw::check_devices(op, a, b);
  if (a.dtype() != b.dtype())
    misfit(op, a, b,
           std::string("dtypes ") + name_of(a.dtype()) + " and " + name_of(b.dtype()) +
               " differ; convert one with to(x, dtype)",
           caller);
  if (a.dtype() == boolean)
    misfit(op, a, b, "bool has no product; convert with to(x, f32)", caller);
}

// x[..., k] as one matrix [rows, k].
Tensor rows_of(const Tensor& x) {
  const std::int64_t k = x.shape().back();
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < x.rank(); ++d) rows *= x.shape()[d];
  return x.rank() == 2 ? x : reshape(x, {rows, k});
}

// The elements of a new tensor as one matrix.
Array matrix(const Tensor& y, std::int64_t rows, std::int64_t columns) {
  return {y.array().data, y.dtype(), {rows, columns}, {columns, 1}};
}

// The leading dimensions of a, and one more.
Shape with_last(Shape shape, std::int64_t last) {
  shape[shape.rank() - 1] = last;
  return shape;
}

// Matrices with broadcast leading dimensions, outside the graph.
Tensor product(const Tensor& a, const Tensor& b, const Caller& caller) {
  const Shape sa = a.shape(), sb = b.shape();
  if (sa.rank() == 2 && sb.rank() == 2) {
    Tensor y = empty({sa[0], sb[1]}, a.dtype(), a.device());
    kernels(a.device()).gemm(y.array(), a.array(), b.array(), false);
    return y;
  }
  auto leading = [](Shape s) {
    s.erase(s.rank() - 1);
    s.erase(s.rank() - 1);
    return s;
  };
  const Shape batch = broadcast_shapes(leading(sa), leading(sb), "matmul", caller);
  auto matrices = [&](std::int64_t m, std::int64_t n) {
    Shape s = batch;
    s.push_back(m);
    s.push_back(n);
    return s;
  };
  const std::int64_t m = sa[sa.rank() - 2], k = sa.back(), n = sb.back();
  Tensor y = empty(matrices(m, n), a.dtype(), a.device());
  kernels(a.device())
      .gemm(y.array(), a.array().expanded(matrices(m, k)), b.array().expanded(matrices(k, n)),
            false);
  return y;
}

// A[..., m, k] · B[k, n]: all rows of A in one product.
// Y = A·B        dA = dY·Bᵀ        dB = Aᵀ·dY over all rows        [matmul.grad]
Tensor matmul_rows(const Tensor& a, const Tensor& b) {
  Tensor flat;
  {
    NoGrad no_grad;
    flat = rows_of(a);
  }
  Tensor y = empty(with_last(a.shape(), b.shape()[1]), a.dtype(), a.device());
  const Array rows = matrix(y, flat.shape()[0], b.shape()[1]);
  kernels(a.device()).gemm(rows, flat.array(), b.array(), false);
  return differentiable(
      "matmul", y, wrt(a, [b = save(b)](const Tensor& dy) { return matmul(dy, transpose(b)); }),
      wrt(b, [a = save(a)](const Tensor& dy) { return matmul(t(rows_of(a)), rows_of(dy)); }));
}

// Y = A·B        dA = dY·Bᵀ        dB = Aᵀ·dY        [matmul.grad]
Tensor matmul_matrices(const Tensor& a, const Tensor& b, const Caller& caller) {
  return differentiable(
      "matmul", product(a, b, caller),
      wrt(a, [b = save(b)](const Tensor& dy) { return matmul(dy, transpose(b)); }),
      wrt(b, [a = save(a)](const Tensor& dy) { return matmul(transpose(a), dy); }));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, Caller caller) {
  check_operands("matmul", a, b, caller);
  if (a.rank() == 0 || b.rank() == 0)
    misfit("matmul", a, b, "a number (rank 0) has no matrix product; use *", caller);
  const std::int64_t inner = b.shape()[b.rank() == 1 ? 0 : b.rank() - 2];
  if (a.shape().back() != inner)
    misfit("matmul", a, b,
           "inner sizes " + std::to_string(a.shape().back()) + " and " + std::to_string(inner) +
               " differ",
           caller);
  if (a.rank() == 1) return squeeze(matmul(unsqueeze(a, 0), b, caller), b.rank() == 1 ? 0 : -2);
  if (b.rank() == 1) return squeeze(matmul(a, unsqueeze(b, 1), caller), -1);
  if (a.rank() > 2 && b.rank() == 2) return matmul_rows(a, b);
  return matmul_matrices(a, b, caller);
}

// Y = X·Wᵀ + b        dX = dY·W        dW = dYᵀ·X over all rows        db = Σ dY over all rows
// [linear.grad]
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Caller caller) {
  check_operands("linear", x, weight, caller);
  if (weight.rank() != 2 || x.rank() == 0 || x.shape().back() != weight.shape()[1])
    fail("linear: x of shape " + x.shape().str() + " and W of shape " + weight.shape().str() +
             ": x[..., in] and W[out, in] are expected",
         caller);
  const std::int64_t out = weight.shape()[0];
  if (bias.defined()) {
    check_operands("linear", x, bias, caller);
    if (bias.shape() != Shape{out})
      fail("linear: the bias has shape " + bias.shape().str() + ", expected (" +
               std::to_string(out) + ",) for W of shape " + weight.shape().str(),
           caller);
  }
  Tensor flat;
  {
    NoGrad no_grad;
    flat = rows_of(x);
  }
  Tensor y = empty(with_last(x.shape(), out), x.dtype(), x.device());
  const Array rows = matrix(y, flat.shape()[0], out);
  const Kernels& k = kernels(x.device());
  if (bias.defined())
    k.linear(rows, flat.array(), weight.array(), bias.array());
  else
    k.gemm(rows, flat.array(), weight.array().transposed(), false);
  return differentiable(
      "linear", y, wrt(x, [w = save(weight)](const Tensor& dy) { return matmul(dy, w); }),
      wrt(weight, [x = save(x)](const Tensor& dy) { return matmul(t(rows_of(dy)), rows_of(x)); }),
      wrt(bias, unchanged));
}

Tensor outer(const Tensor& a, const Tensor& b, Caller caller) {
  if (a.rank() != 1 || b.rank() != 1) misfit("outer", a, b, "two vectors are expected", caller);
  return mul(unsqueeze(a, 1), b, caller);
}

Tensor dot(const Tensor& a, const Tensor& b, Caller caller) {
  if (a.rank() != 1 || b.rank() != 1 || a.shape() != b.shape())
    misfit("dot", a, b, "two vectors of one length are expected", caller);
  return matmul(a, b, caller);
}

}  // namespace labgrad
