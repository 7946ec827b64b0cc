#pragma once
// Sums and other reductions over all dimensions or over some.
//
// Dims: one dimension, a list {0, -1}, or {} for all. Negative ones count from the end; naming one
// twice is an error. With keepdim a reduced dimension stays, with size 1.

#include <concepts>
#include <limits>
#include <vector>

#include "engine/tensor.h"

namespace labgrad {

class Dims {
 public:
  Dims() = default;
  template <std::integral T>
  requires(!std::same_as<T, bool>) Dims(T dim) { dims_.push_back(static_cast<std::int64_t>(dim)); }
  Dims(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  Dims(const std::vector<std::int64_t>& dims) : dims_(std::span<const std::int64_t>(dims)) {}

  // x's shape with 1 in these dimensions. Error: names op, dim and the permitted range.
  Shape kept(const Shape& x, const char* op) const;
  // The shape of the reduction's result. Error: as above.
  Shape result(const Shape& x, bool keepdim, const char* op) const;

 private:
  Shape dims_;  // a short list without a heap block, not a shape
};

// Σ x. Integers and bool give i64; over nothing 0.
Tensor sum(const Tensor& x, const Dims& dims = {}, bool keepdim = false);
// Σ x / n. Over nothing NaN. Error: x is not floating.
Tensor mean(const Tensor& x, const Dims& dims = {}, bool keepdim = false);
// Π x. Integers and bool give i64; over nothing 1. Gradients are right where factors are 0, too.
Tensor prod(const Tensor& x);
Tensor prod(const Tensor& x, std::int64_t dim, bool keepdim = false);

struct VarOptions {
  std::int64_t correction = 1;  // divide by n - correction: 1 is the unbiased estimate, 0 the
                                // mean square deviation of these numbers
  bool keepdim = false;
};
// Σ (x - mean)² / (n - correction). NaN if nothing is left to divide by. Error: not floating.
Tensor var(const Tensor& x, const Dims& dims = {}, VarOptions options = {});
// sqrt(var). Its gradient is 0 where all x are equal (the derivative does not exist there).
Tensor std(const Tensor& x, const Dims& dims = {}, VarOptions options = {});

// (Σ |x|^p)^(1/p); for p = inf the largest |x|. The gradient of the zero vector is 0 (for p = 2 the
// derivative does not exist there). Errors: x is not floating; p < 1.
Tensor norm(const Tensor& x, double p = 2);
Tensor norm(const Tensor& x, double p, const Dims& dims, bool keepdim = false);

// log Σ e^x, shifted by the maximum. -inf over nothing but -inf (gradient 0 there).
Tensor logsumexp(const Tensor& x, const Dims& dims, bool keepdim = false);

// The largest (smallest) values along dim and where they stand: the first of equal ones, which gets
// the whole gradient. NaN counts as larger (smaller) than all else. Error: dim has size 0.
struct Extremes {
  Tensor values;
  Tensor indices;  // i64
};
Extremes max(const Tensor& x, std::int64_t dim, bool keepdim = false);
Extremes min(const Tensor& x, std::int64_t dim, bool keepdim = false);
// Over all of x. Error: x has no elements.
Tensor max(const Tensor& x);
Tensor min(const Tensor& x);
// Over several dimensions; equal ones share the gradient.
Tensor amax(const Tensor& x, const Dims& dims = {}, bool keepdim = false);
Tensor amin(const Tensor& x, const Dims& dims = {}, bool keepdim = false);

// i64, without gradient. Over all: the position in row-major order.
Tensor argmax(const Tensor& x);
Tensor argmin(const Tensor& x);
Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim = false);
Tensor argmin(const Tensor& x, std::int64_t dim, bool keepdim = false);

// y_k = x_0 + ... + x_k along dim. Integers and bool give i64.
Tensor cumsum(const Tensor& x, std::int64_t dim);

// Is any (are all) of x non-zero? bool; over nothing false (true).
Tensor any(const Tensor& x, const Dims& dims = {}, bool keepdim = false);
Tensor all(const Tensor& x, const Dims& dims = {}, bool keepdim = false);

}  // namespace labgrad
