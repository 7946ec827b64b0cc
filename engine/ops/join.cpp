#include "engine/ops/join.h"

#include "engine/autograd.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/raw.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"

namespace labgrad {
namespace {

// The inputs in the dtype in which they meet.
Tensors in_common_dtype(const char* op, const Tensors& xs, const Caller& caller) {
  if (xs.empty()) fail(std::string(op) + ": needs at least one tensor, got none", caller);
  DType dtype = xs[0].dtype();
  for (const Tensor& x : xs) {
    raw::check_devices(op, xs[0], x);
    dtype = promote(dtype, x.dtype());
  }
  Tensors same;
  same.reserve(xs.size());
  for (const Tensor& x : xs) same.push_back(to(x, dtype));
  return same;
}

std::vector<bool> which_need_gradients(const Tensors& xs) {
  std::vector<bool> needed;
  for (const Tensor& x : xs) needed.push_back(x.requires_grad());
  return needed;
}

// The views of x of these sizes along dim, outside the graph.
Tensors parts(const Tensor& x, const std::vector<std::int64_t>& sizes, int dim) {
  NoGrad no_grad;
  Tensors ys;
  ys.reserve(sizes.size());
  std::int64_t start = 0;
  for (std::int64_t size : sizes) {
    ys.push_back(slice(x, dim, start, start + size));
    start += size;
  }
  return ys;
}

}  // namespace

// y = x1, x2, ... along dim        dxi = its part of dy        [cat.grad]
Tensor cat(const Tensors& tensors, std::int64_t dim, Caller caller) {
  const Tensors xs = in_common_dtype("cat", tensors, caller);
  if (xs[0].rank() == 0) fail("cat: numbers (rank 0) have no dimension to join; use stack", caller);
  const int d = wrap_dim(dim, xs[0].rank(), "cat");
  Shape shape = xs[0].shape();
  shape[d] = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    Shape like = xs[i].shape();
    if (like.rank() == shape.rank()) like[d] = shape[d];
    if (like != shape)
      fail("cat: tensor " + std::to_string(i) + " has shape " + xs[i].shape().str() +
               ", tensor 0 has " + xs[0].shape().str() + "; they may differ only in dimension " +
               std::to_string(d),
           caller);
    shape[d] += xs[i].shape()[d];
  }
  const Tensor y = empty(shape, xs[0].dtype(), xs[0].device());
  std::vector<std::int64_t> starts;
  std::int64_t start = 0;
  for (const Tensor& x : xs) {
    starts.push_back(start);
    const std::int64_t offset = x.numel() > 0 ? start * y.strides()[d] : 0;
    kernels(y.device()).copy(alias(y, x.shape(), y.strides(), offset).array(), x.array());
    start += x.shape()[d];
  }
  starts.push_back(start);
  return differentiable_joint("cat", {y}, xs,
                              [d, starts, needed = which_need_gradients(xs)](const Tensors& dys) {
                                Tensors dxs(needed.size());
                                for (std::size_t i = 0; i < dxs.size(); ++i)
                                  if (needed[i])
                                    dxs[i] = slice(dys[0], d, starts[i], starts[i + 1]);
                                return dxs;
                              })[0];
}

// y_i = xi along a new dimension        dxi = dy_i        [stack.grad]
Tensor stack(const Tensors& tensors, std::int64_t dim, Caller caller) {
  const Tensors xs = in_common_dtype("stack", tensors, caller);
  const int d = wrap_dim(dim, xs[0].rank() + 1, "stack");
  Shape shape = xs[0].shape();
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (xs[i].shape() != shape)
      fail("stack: tensor " + std::to_string(i) + " has shape " + xs[i].shape().str() +
               ", tensor 0 has " + shape.str() + "; they must agree",
           caller);
  shape.insert(d, static_cast<std::int64_t>(xs.size()));
  const Tensor y = empty(shape, xs[0].dtype(), xs[0].device());
  Strides strides = y.strides();
  strides.erase(d);
  std::int64_t offset = 0;
  for (const Tensor& x : xs) {
    kernels(y.device()).copy(alias(y, x.shape(), strides, offset).array(), x.array());
    if (x.numel() > 0) offset += y.strides()[d];
  }
  return differentiable_joint("stack", {y}, xs,
                              [d, needed = which_need_gradients(xs)](const Tensors& dys) {
                                Tensors dxs(needed.size());
                                for (std::size_t i = 0; i < dxs.size(); ++i)
                                  if (needed[i])
                                    dxs[i] = select(dys[0], d, static_cast<std::int64_t>(i));
                                return dxs;
                              })[0];
}

// yi = the i-th part of x        dx = dy1, dy2, ... along dim        [split.grad]
Tensors split(const Tensor& x, const std::vector<std::int64_t>& sizes, std::int64_t dim,
              Caller caller) {
  if (x.rank() == 0) fail("split: a number (rank 0) has no dimension to split", caller);
  const int d = wrap_dim(dim, x.rank(), "split");
  std::int64_t total = 0;
  bool negative = false;
  for (std::int64_t size : sizes) {
    total += size;
    negative |= size < 0;
  }
  if (negative || total != x.shape()[d])
    fail("split: sizes that add up to " + std::to_string(total) +
             (negative ? ", one of them negative," : "") + " for dimension " + std::to_string(d) +
             " of a tensor of shape " + x.shape().str(),
         caller);
  return differentiable_joint("split", parts(x, sizes, d), {x},
                              [d](const Tensors& dys) { return Tensors{cat(dys, d)}; });
}

Tensors split(const Tensor& x, std::int64_t size, std::int64_t dim, Caller caller) {
  if (size < 1) fail("split: parts of size " + std::to_string(size) + "; at least 1", caller);
  const std::int64_t n = x.size(dim);
  std::vector<std::int64_t> sizes;
  for (std::int64_t start = 0; start < n; start += size) sizes.push_back(std::min(size, n - start));
  if (sizes.empty()) sizes.push_back(0);
  return split(x, sizes, dim, caller);
}

Tensors chunk(const Tensor& x, std::int64_t n, std::int64_t dim, Caller caller) {
  if (n < 1) fail("chunk: into " + std::to_string(n) + " parts; at least 1", caller);
  const std::int64_t size = x.size(dim);
  return split(x, std::max<std::int64_t>((size + n - 1) / n, 1), dim, caller);
}

// yi = x_i        dx = dy1, dy2, ... along a new dimension        [unbind.grad]
Tensors unbind(const Tensor& x, std::int64_t dim) {
  if (x.rank() == 0) fail("unbind: a number (rank 0) has no dimension to take apart");
  const int d = wrap_dim(dim, x.rank(), "unbind");
  Tensors ys;
  {
    NoGrad no_grad;
    for (std::int64_t i = 0; i < x.shape()[d]; ++i) ys.push_back(select(x, d, i));
  }
  if (ys.empty()) return ys;
  return differentiable_joint("unbind", std::move(ys), {x},
                              [d](const Tensors& dys) { return Tensors{stack(dys, d)}; });
}

// y = x with a border        dx = dy without it: padded by the negative widths        [pad.grad]
Tensor pad(const Tensor& x, const std::vector<std::int64_t>& widths, Scalar value, Caller caller) {
  if (widths.size() % 2 != 0 || static_cast<int>(widths.size() / 2) > x.rank())
    fail("pad: " + std::to_string(widths.size()) + " widths for a tensor of shape " +
             x.shape().str() + "; two for each dimension, the last one first, are expected",
         caller);
  if (!is_floating(x.dtype()) && value.dtype == f32)
    fail(std::string("pad: the value is a real number, the tensor ") + name_of(x.dtype()) + " " +
             x.shape().str() + "; convert it with to(x, f32)",
         caller);
  Shape shape = x.shape(), kept = x.shape();
  std::int64_t from = 0, to = 0;  // where the kept part of x starts, in x and in y
  std::vector<std::int64_t> negative;
  for (int d = x.rank() - 1, i = 0; i + 1 < static_cast<int>(widths.size()); --d, i += 2) {
    const std::int64_t before = widths[static_cast<std::size_t>(i)];
    const std::int64_t after = widths[static_cast<std::size_t>(i) + 1];
    shape[d] += before + after;
    kept[d] += std::min<std::int64_t>(before, 0) + std::min<std::int64_t>(after, 0);
    from += std::max<std::int64_t>(-before, 0) * x.strides()[d];
    if (shape[d] < 0 || kept[d] < 0)
      fail("pad: widths " + std::to_string(before) + " and " + std::to_string(after) +
               " cut off more than dimension " + std::to_string(d) + " of a tensor of shape " +
               x.shape().str() + " has",
           caller);
    negative.push_back(-before);
    negative.push_back(-after);
  }
  Tensor y = empty(shape, x.dtype(), x.device());
  y.fill_(value);
  for (int d = x.rank() - 1, i = 0; i + 1 < static_cast<int>(widths.size()); --d, i += 2)
    to += std::max<std::int64_t>(widths[static_cast<std::size_t>(i)], 0) * y.strides()[d];
  if (kept.numel() > 0)
    kernels(x.device())
        .copy(alias(y, kept, y.strides(), to).array(), alias(x, kept, x.strides(), from).array());
  return differentiable("pad", y,
                        wrt(x, [negative](const Tensor& dy) { return pad(dy, negative); }));
}

namespace {

// True where column - row <= diagonal.
Tensor lower_triangle(const Shape& shape, std::int64_t diagonal, Device device) {
  const std::int64_t rows = shape[shape.rank() - 2], columns = shape.back();
  Tensor mask = empty({rows, columns}, boolean, Device::cpu);
  bool* m = mask.array().as<bool>();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) *m++ = j - i <= diagonal;
  return to(mask, device);
}

void check_matrix(const char* op, const Tensor& x) {
  if (x.rank() < 2)
    fail(std::string(op) + ": needs a matrix, got a tensor of shape " + x.shape().str());
}

}  // namespace

// Both are choices between x and 0, with the gradient of where.
Tensor tril(const Tensor& x, std::int64_t diagonal) {
  check_matrix("tril", x);
  return where(lower_triangle(x.shape(), diagonal, x.device()), x, raw::filled(0, {}, x));
}

Tensor triu(const Tensor& x, std::int64_t diagonal) {
  check_matrix("triu", x);
  return where(lower_triangle(x.shape(), diagonal - 1, x.device()), raw::filled(0, {}, x), x);
}

}  // namespace labgrad
