#include "engine/ops/shape.h"

#include <algorithm>
#include <optional>

#include "engine/autograd.h"
#include "engine/ops/raw.h"

namespace labgrad {
namespace {

// Strides under which x's elements, in row-major order, have the shape `to`; none if there are no
// such strides. Neighbouring dimensions of x that lie evenly in memory form a run; each run must be
// divided among whole dimensions of `to`.
std::optional<Strides> view_strides(const Tensor& x, const Shape& to) {
  if (x.is_contiguous()) return contiguous_strides(to);
  Strides strides = to;
  int d = to.rank() - 1;
  std::int64_t run = 1, step = x.strides().back();
  for (int s = x.rank() - 1; s >= 0; --s) {
    run *= x.shape()[s];
    if (s > 0 && (x.shape()[s - 1] == 1 || x.strides()[s - 1] == run * step)) continue;
    std::int64_t used = 1;
    for (; d >= 0 && (used < run || to[d] == 1); --d) {
      strides[d] = used * step;
      used *= to[d];
    }
    if (used != run) return std::nullopt;
    if (s > 0) step = x.strides()[s - 1];
    run = 1;
  }
  return strides;
}

// `shape` with its -1 worked out.
Shape full_shape(const char* op, const Tensor& x, const Shape& shape, const Caller& caller) {
  Shape full = shape;
  int open = -1;
  std::int64_t known = 1;
  for (int d = 0; d < full.rank(); ++d) {
    if (full[d] == -1 && open >= 0)
      fail(std::string(op) + ": only one size can be -1, got " + shape.str(), caller);
    if (full[d] < -1)
      fail(std::string(op) + ": negative size in " + shape.str() + "; only -1 has a meaning",
           caller);
    if (full[d] == -1)
      open = d;
    else if (__builtin_mul_overflow(known, full[d], &known))
      fail(std::string(op) + ": " + shape.str() + " has more elements than can be counted", caller);
  }
  if (open >= 0 && known == 0)
    fail(std::string(op) + ": the -1 in " + shape.str() +
             " could stand for any size, since another size is 0",
         caller);
  if (open >= 0 && x.numel() % known == 0) full[open] = x.numel() / known;
  if (open >= 0 ? full[open] == -1 : known != x.numel())
    fail(std::string(op) + ": a tensor of shape " + x.shape().str() + " has " +
             std::to_string(x.numel()) + " elements, which do not fill " + shape.str(),
         caller);
  return full;
}

// Without elements there is no place to point to, whatever the offset says.
Tensor part(const Tensor& x, const Shape& shape, const Strides& strides, std::int64_t offset) {
  return alias(x, shape, strides, shape.numel() > 0 ? offset : 0);
}

void check_rank(const char* op, const Tensor& x, bool right, const char* wanted) {
  if (!right)
    fail(std::string(op) + ": needs " + wanted + ", got a tensor of shape " + x.shape().str());
}

}  // namespace

// y = x under another shape        dx = dy under x's shape        [reshape.grad]
Tensor reshape(const Tensor& x, const Shape& shape, Caller caller) {
  const Shape to = full_shape("reshape", x, shape, caller);
  const std::optional<Strides> strides = view_strides(x, to);
  return differentiable(
      "reshape", strides ? alias(x, to, *strides) : alias(packed(x), to, contiguous_strides(to)),
      wrt(x, [from = x.shape()](const Tensor& dy) { return reshape(dy, from); }));
}

Tensor view(const Tensor& x, const Shape& shape, Caller caller) {
  const Shape to = full_shape("view", x, shape, caller);
  const std::optional<Strides> strides = view_strides(x, to);
  if (!strides)
    fail("view: a tensor of shape " + x.shape().str() + " with strides " + x.strides().str() +
             " cannot be seen as " + to.str() + " without a copy; use reshape",
         caller);
  // The gradient of reshape, whose equation it shares; dy need not allow a view.
  return differentiable("view", alias(x, to, *strides),
                        wrt(x, [from = x.shape()](const Tensor& dy) { return reshape(dy, from); }));
}

Tensor flatten(const Tensor& x, std::int64_t first, std::int64_t last) {
  const int from = wrap_dim(first, x.rank(), "flatten"), to = wrap_dim(last, x.rank(), "flatten");
  if (from > to)
    fail("flatten: the first dimension, " + std::to_string(first) + ", comes after the last, " +
         std::to_string(last));
  if (x.rank() == 0) return reshape(x, {1});
  Shape shape;
  for (int d = 0; d < x.rank(); ++d) {
    if (d > from && d <= to)
      shape[from] *= x.shape()[d];
    else
      shape.push_back(x.shape()[d]);
  }
  return reshape(x, shape);
}

// y_ji = x_ij        dx_ij = dy_ji        [transpose.grad]
Tensor transpose(const Tensor& x, std::int64_t dim0, std::int64_t dim1) {
  const int d0 = wrap_dim(dim0, x.rank(), "transpose"), d1 = wrap_dim(dim1, x.rank(), "transpose");
  Shape shape = x.shape();
  Strides strides = x.strides();
  std::swap(shape[d0], shape[d1]);
  std::swap(strides[d0], strides[d1]);
  return differentiable("transpose", alias(x, shape, strides),
                        wrt(x, [d0, d1](const Tensor& dy) { return transpose(dy, d0, d1); }));
}

Tensor transpose(const Tensor& x) {
  check_rank("transpose", x, x.rank() >= 2, "at least two dimensions");
  return transpose(x, -2, -1);
}

Tensor t(const Tensor& x) {
  check_rank("t", x, x.rank() <= 2,
             "at most two dimensions (transpose exchanges the last two of more)");
  return x.rank() < 2 ? x : transpose(x, 0, 1);
}

// y = x with dimension d taken from p(d)        dx = dy with dimension p(d) taken from d
// [permute.grad]
Tensor permute(const Tensor& x, const Shape& dims, Caller caller) {
  auto misfit = [&] {
    fail("permute: " + dims.str() + " does not name each dimension of a tensor of shape " +
             x.shape().str() + " once",
         caller);
  };
  if (dims.rank() != x.rank()) misfit();
  Shape shape = x.shape(), back = Shape::filled(x.rank(), -1);
  Strides strides = x.strides();
  for (int d = 0; d < x.rank(); ++d) {
    const int from = wrap_dim(dims[d], x.rank(), "permute");
    if (back[from] != -1) misfit();
    back[from] = d;
    shape[d] = x.shape()[from];
    strides[d] = x.strides()[from];
  }
  return differentiable("permute", alias(x, shape, strides),
                        wrt(x, [back](const Tensor& dy) { return permute(dy, back); }));
}

Tensor movedim(const Tensor& x, std::int64_t from, std::int64_t to) {
  const int moved = wrap_dim(from, x.rank(), "movedim"), place = wrap_dim(to, x.rank(), "movedim");
  Shape dims;
  for (int d = 0; d < x.rank(); ++d)
    if (d != moved) dims.push_back(d);
  if (x.rank() > 0) dims.insert(place, moved);
  return permute(x, dims);
}

// y_i = x_(start + i step)        dx = dy at these places, 0 elsewhere        [slice.grad]
Tensor slice(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t stop,
             std::int64_t step) {
  check_rank("slice", x, x.rank() > 0, "at least one dimension");
  if (step < 1) fail("slice: the step must be at least 1, got " + std::to_string(step));
  const int d = wrap_dim(dim, x.rank(), "slice");
  const std::int64_t n = x.shape()[d];
  start = std::clamp<std::int64_t>(start < 0 ? start + n : start, 0, n);
  stop = std::clamp<std::int64_t>(stop < 0 ? stop + n : stop, start, n);
  step = std::min(step, std::max<std::int64_t>(n, 1));  // a larger step takes one element, too
  Shape shape = x.shape();
  Strides strides = x.strides();
  shape[d] = (stop - start) / step + ((stop - start) % step != 0);
  strides[d] *= step;
  return differentiable("slice", part(x, shape, strides, start * x.strides()[d]),
                        wrt(x, [of = x.shape(), d, start, step](const Tensor& dy) {
                          return place(dy, of, d, start, step);
                        }));
}

Tensor narrow(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t length,
              Caller caller) {
  check_rank("narrow", x, x.rank() > 0, "at least one dimension");
  const int d = wrap_dim(dim, x.rank(), "narrow");
  const std::int64_t n = x.shape()[d], from = start < 0 ? start + n : start;
  if (from < 0 || from > n || length < 0 || length > n - from)
    fail("narrow: " + std::to_string(length) + " elements from " + std::to_string(start) +
             " on do not lie in dimension " + std::to_string(d) + " of a tensor of shape " +
             x.shape().str(),
         caller);
  return slice(x, d, from, from + length);
}

// y = x_i        dx = dy at i, 0 elsewhere        [select.grad]
Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index, Caller caller) {
  check_rank("select", x, x.rank() > 0, "at least one dimension");
  const int d = wrap_dim(dim, x.rank(), "select");
  const std::int64_t n = x.shape()[d], i = index < 0 ? index + n : index;
  if (i < 0 || i >= n)
    fail("select: index " + std::to_string(index) + " is out of range at dimension " +
             std::to_string(d) + " of a tensor of shape " + x.shape().str() + "; permitted are " +
             std::to_string(-n) + " .. " + std::to_string(n - 1),
         caller);
  Shape shape = x.shape();
  Strides strides = x.strides();
  shape.erase(d);
  strides.erase(d);
  return differentiable("select", part(x, shape, strides, i * x.strides()[d]),
                        wrt(x, [of = x.shape(), d, i](const Tensor& dy) {
                          return place(unsqueeze(dy, d), of, d, i, 1);
                        }));
}

// y = 0 but x at start, start + step, ...        dx = dy at these places        [place.grad]
Tensor place(const Tensor& x, const Shape& shape, int dim, std::int64_t start, std::int64_t step) {
  Tensor y = raw::filled(0, shape, x);
  Strides strides = y.strides();
  const std::int64_t offset = start * strides[dim], count = x.shape()[dim];
  strides[dim] *= step;
  kernels(x.device()).copy(part(y, x.shape(), strides, offset).array(), x.array());
  return differentiable("place", y, wrt(x, [dim, start, step, count](const Tensor& dy) {
                          const std::int64_t stop =
                              count == 0 ? start : start + (count - 1) * step + 1;
                          return slice(dy, dim, start, stop, step);
                        }));
}

namespace {

// A view that only adds or drops dimensions of size 1: dx = dy with x's shape.
Tensor same_elements(const char* op, const Tensor& x, const Shape& shape, const Strides& strides) {
  return differentiable(op, alias(x, shape, strides),
                        wrt(x, [from = x.shape()](const Tensor& dy) { return reshape(dy, from); }));
}

}  // namespace

// y = x without sizes of 1        dx = dy with them        [squeeze.grad]
Tensor squeeze(const Tensor& x) {
  Shape shape;
  Strides strides;
  for (int d = 0; d < x.rank(); ++d) {
    if (x.shape()[d] == 1) continue;
    shape.push_back(x.shape()[d]);
    strides.push_back(x.strides()[d]);
  }
  return same_elements("squeeze", x, shape, strides);
}

Tensor squeeze(const Tensor& x, std::int64_t dim) {
  const int d = wrap_dim(dim, x.rank(), "squeeze");
  if (x.rank() == 0 || x.shape()[d] != 1) return x;
  Shape shape = x.shape();
  Strides strides = x.strides();
  shape.erase(d);
  strides.erase(d);
  return same_elements("squeeze", x, shape, strides);
}

// y = x with a size of 1 more        dx = dy without it        [unsqueeze.grad]
Tensor unsqueeze(const Tensor& x, std::int64_t dim) {
  const int d = wrap_dim(dim, x.rank() + 1, "unsqueeze");
  Shape shape = x.shape();
  Strides strides = x.strides();
  strides.insert(d, d < x.rank() ? shape[d] * strides[d] : 1);
  shape.insert(d, 1);
  return same_elements("unsqueeze", x, shape, strides);
}

// y_i = x_(n-1-i)        dx_i = dy_(n-1-i)        [flip.grad]
Tensor flip(const Tensor& x, const Shape& dims) {
  Strides reversed = x.strides();
  std::int64_t first = 0;
  std::array<bool, max_rank> seen{};
  for (std::int64_t dim : dims) {
    const int d = wrap_dim(dim, x.rank(), "flip");
    if (std::exchange(seen[static_cast<std::size_t>(d)], true))
      fail("flip: dimension " + std::to_string(d) + " is named twice in " + dims.str());
    if (x.rank() == 0) continue;
    reversed[d] = -reversed[d];
    first += (x.shape()[d] - 1) * x.strides()[d];
  }
  Tensor y = empty(x.shape(), x.dtype(), x.device());
  kernels(x.device()).copy(y.array(), part(x, x.shape(), reversed, first).array());
  return differentiable("flip", y, wrt(x, [dims](const Tensor& dy) { return flip(dy, dims); }));
}

}  // namespace labgrad
