#include "engine/ops/index.h"

#include <algorithm>

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/raw.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"

namespace labgrad {
namespace {

// Error unless every element of index is in 0 .. size-1.
void check_range(const char* op, const Tensor& index, std::int64_t size, const Caller& caller) {
  if (index.dtype() != i64)
    fail(std::string(op) + ": the indices must be i64, got " + name_of(index.dtype()) + " " +
             index.shape().str() + "; convert them with to(x, i64)",
         caller);
  const bool dense = index.is_contiguous() && index.device() == Device::cpu;
  const std::vector<std::int64_t> copied =
      dense ? std::vector<std::int64_t>() : index.to_vector<std::int64_t>();
  const std::span<const std::int64_t> values =
      dense ? index.span<std::int64_t>() : std::span<const std::int64_t>(copied);
  const auto wrong = std::find_if(values.begin(), values.end(),
                                  [size](std::int64_t i) { return i < 0 || i >= size; });
  if (wrong == values.end()) return;
  Shape at = index.shape();
  std::int64_t rest = wrong - values.begin();
  for (int d = at.rank() - 1; d >= 0; --d) {
    at[d] = rest % index.shape()[d];
    rest /= index.shape()[d];
  }
  fail(std::string(op) + ": index " + std::to_string(*wrong) + " at position " + at.str() +
           (size > 0 ? " is out of range; permitted are 0 .. " + std::to_string(size - 1)
                     : " has nothing to choose from: the dimension has size 0"),
       caller);
}

// gather and scatter_add: index has x's rank and, but along dim, no size above x's.
void check_index_shape(const char* op, const Tensor& x, const Tensor& index, int dim,
                       const Caller& caller) {
  bool fits = index.rank() == x.rank();
  for (int d = 0; fits && d < x.rank(); ++d) fits = d == dim || index.shape()[d] <= x.shape()[d];
  if (!fits)
    fail(std::string(op) + ": indices of shape " + index.shape().str() + " for a tensor of shape " +
             x.shape().str() + "; the ranks must agree, and no size but that of dimension " +
             std::to_string(dim) + " may be larger than the tensor's",
         caller);
}

Tensor copy_of(const Tensor& x) {
  NoGrad no_grad;
  return clone(x);
}

Tensor zeros(const Shape& shape, const Tensor& like) { return raw::filled(0, shape, like); }

void check_same_dtype(const char* op, const Tensor& x, const Tensor& src, const Caller& caller) {
  raw::check_devices(op, x, src);
  if (x.dtype() != src.dtype())
    fail(std::string(op) + ": " + name_of(src.dtype()) + " cannot be added to " +
             name_of(x.dtype()) + "; convert one with to(x, dtype)",
         caller);
}

// src added at the index to zeros of shape `of`: the gradients of gather and index_select. Where no
// graph is wanted, the zeros are written to directly instead of being copied first: they may be the
// table of a whole vocabulary.
Tensor scattered(const Shape& of, int d, const Tensor& index, const Tensor& src) {
  Tensor y = zeros(of, src);
  if (grad_enabled()) return scatter_add(y, d, index, src);
  kernels(y.device()).scatter_add(y.array(), index.array(), src.array(), d);
  return y;
}
Tensor added(const Shape& of, int d, const Tensor& index, const Tensor& src) {
  Tensor y = zeros(of, src);
  if (grad_enabled()) return index_add(y, d, index, src);
  kernels(y.device()).index_add(y.array(), index.array(), src.array(), d);
  return y;
}

}  // namespace

// y_ij = x_(index_ij, j)        dx_(index_ij, j) += dy_ij        [gather.grad]
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index, Caller caller) {
  const int d = wrap_dim(dim, x.rank(), "gather");
  if (x.rank() == 0 && index.rank() == 0)
    return reshape(gather(reshape(x, {1}), 0, reshape(index, {1}), caller), {});
  raw::check_devices("gather", x, index);
  check_index_shape("gather", x, index, d, caller);
  check_range("gather", index, x.shape()[d], caller);
  Tensor y = empty(index.shape(), x.dtype(), x.device());
  kernels(x.device()).gather(y.array(), x.array(), index.array(), d);
  return differentiable("gather", y,
                        wrt(x, [of = x.shape(), d, index = save(index)](const Tensor& dy) {
                          return scattered(of, d, index, dy);
                        }));
}

// y = x, y_(index_ij, j) += src_ij        dx = dy        dsrc_ij = dy_(index_ij, j)
// [scatter_add.grad]
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src,
                   Caller caller) {
  const int d = wrap_dim(dim, x.rank(), "scatter_add");
  if (x.rank() == 0 && index.rank() == 0 && src.rank() == 0)
    return reshape(scatter_add(reshape(x, {1}), 0, reshape(index, {1}), reshape(src, {1}), caller),
                   {});
  raw::check_devices("scatter_add", x, index);
  check_same_dtype("scatter_add", x, src, caller);
  check_index_shape("scatter_add", x, index, d, caller);
  check_range("scatter_add", index, x.shape()[d], caller);
  if (src.shape() != index.shape()) {
    if (src.rank() != index.rank())
      fail("scatter_add: a source of shape " + src.shape().str() + " for indices of shape " +
               index.shape().str() + "; the ranks must agree",
           caller);
    Tensor used = src;
    for (int i = 0; i < src.rank(); ++i) used = narrow(used, i, 0, index.shape()[i], caller);
    return scatter_add(x, dim, index, used, caller);
  }
  Tensor y = copy_of(x);
  kernels(x.device()).scatter_add(y.array(), index.array(), src.array(), d);
  return differentiable(
      "scatter_add", y, wrt(x, unchanged),
      wrt(src, [d, index = save(index)](const Tensor& dy) { return gather(dy, d, index); }));
}

// y_i = x_(index_i)        dx_(index_i) += dy_i        [index_select.grad]
Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index, Caller caller) {
  const int d = wrap_dim(dim, x.rank(), "index_select");
  if (x.rank() == 0) return index_select(reshape(x, {1}), dim, index, caller);
  raw::check_devices("index_select", x, index);
  if (index.rank() != 1)
    fail("index_select: the indices must have one dimension, got " + index.shape().str(), caller);
  check_range("index_select", index, x.shape()[d], caller);
  Shape shape = x.shape();
  shape[d] = index.numel();
  Tensor y = empty(shape, x.dtype(), x.device());
  kernels(x.device()).index_select(y.array(), x.array(), index.array(), d);
  return differentiable("index_select", y,
                        wrt(x, [of = x.shape(), d, index = save(index)](const Tensor& dy) {
                          return added(of, d, index, dy);
                        }));
}

// y = x, y_(index_i) += src_i        dx = dy        dsrc_i = dy_(index_i)        [index_add.grad]
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src,
                 Caller caller) {
  const int d = wrap_dim(dim, x.rank(), "index_add");
  raw::check_devices("index_add", x, index);
  check_same_dtype("index_add", x, src, caller);
  Shape expected = x.shape();
  if (x.rank() > 0) expected[d] = index.numel();
  if (x.rank() == 0 || index.rank() != 1 || src.shape() != expected)
    fail("index_add: x " + x.shape().str() + ", indices " + index.shape().str() + ", source " +
             src.shape().str() + "; the indices must have one dimension, and the source x's " +
             "shape but along dimension " + std::to_string(d) + ", one slice for each index",
         caller);
  check_range("index_add", index, x.shape()[d], caller);
  Tensor y = copy_of(x);
  kernels(x.device()).index_add(y.array(), index.array(), src.array(), d);
  return differentiable(
      "index_add", y, wrt(x, unchanged),
      wrt(src, [d, index = save(index)](const Tensor& dy) { return index_select(dy, d, index); }));
}

// y_i = W_(index_i)        dW_(index_i) += dy_i, but for the padding        [embedding.grad]
Tensor embedding(const Tensor& weight, const Tensor& indices,
                 std::optional<std::int64_t> padding_idx, Caller caller) {
  if (weight.rank() != 2)
    fail("embedding: the weight must be a matrix, one row for each index, got " +
             weight.shape().str(),
         caller);
  raw::check_devices("embedding", weight, indices);
  const std::int64_t rows = weight.shape()[0], width = weight.shape()[1];
  std::optional<std::int64_t> padding = padding_idx;
  if (padding && *padding < 0) *padding += rows;
  if (padding && (*padding < 0 || *padding >= rows))
    fail("embedding: padding_idx " + std::to_string(*padding_idx) + " is not one of the " +
             std::to_string(rows) + " rows",
         caller);
  check_range("embedding", indices, rows, caller);
  const Tensor flat = reshape(indices, {indices.numel()});
  Shape shape = indices.shape();
  shape.push_back(width);
  Tensor y = empty(shape, weight.dtype(), weight.device());
  const Array y_rows = alias(y, {flat.numel(), width}, {width, 1}).array();
  kernels(y.device()).index_select(y_rows, weight.array(), flat.array(), 0);
  return differentiable(
      "embedding", y,
      wrt(weight, [of = weight.shape(), flat = save(flat), padding](const Tensor& dy) {
        Tensor dy_rows = reshape(dy, {flat.get().numel(), of[1]});
        if (padding) dy_rows = where(unsqueeze(flat == *padding, 1), 0, dy_rows);
        return added(of, 0, flat, dy_rows);
      }));
}

Tensor one_hot(const Tensor& indices, std::int64_t classes, Caller caller) {
  if (classes < -1) fail("one_hot: " + std::to_string(classes) + " classes", caller);
  if (classes == -1 && indices.numel() == 0)
    fail("one_hot: without indices, the number of classes must be given", caller);
  if (classes == -1 && indices.dtype() == i64) {
    const std::vector<std::int64_t> values = indices.to_vector<std::int64_t>();
    classes = *std::max_element(values.begin(), values.end()) + 1;
  }
  check_range("one_hot", indices, classes, caller);
  Shape shape = indices.shape();
  shape.push_back(classes);
  const Tensor at = unsqueeze(indices, -1);
  return scatter_add(zeros(shape, indices), -1, at, raw::filled(1, at.shape(), at), caller);
}

// y_k = x_(index_k)        dx_(index_k) = dy_k        [sort.grad]
Ordered sort(const Tensor& x, std::int64_t dim, bool descending) {
  const int d = wrap_dim(dim, x.rank(), "sort");
  if (x.rank() == 0) {
    const Ordered one = sort(reshape(x, {1}), 0, descending);
    return {reshape(one.values, {}), reshape(one.indices, {})};
  }
  Tensor values = empty(x.shape(), x.dtype(), x.device());
  const Tensor indices = empty(x.shape(), i64, x.device());
  kernels(x.device()).sort(values.array(), indices.array(), x.array(), d, descending);
  values = differentiable("sort", values, wrt(x, [d, indices = save(indices)](const Tensor& dy) {
                            return scatter_add(zeros(dy.shape(), dy), d, indices, dy);
                          }));
  return {values, indices};
}

Ordered topk(const Tensor& x, std::int64_t k, std::int64_t dim, bool largest, Caller caller) {
  const int d = wrap_dim(dim, x.rank(), "topk");
  if (k < 0 || k > x.size(dim))
    fail("topk: " + std::to_string(k) + " of the " + std::to_string(x.size(dim)) +
             " elements along dimension " + std::to_string(d) + " of a tensor of shape " +
             x.shape().str(),
         caller);
  const Ordered all = sort(x, d, largest);
  if (x.rank() == 0) return all;
  return {slice(all.values, d, 0, k), slice(all.indices, d, 0, k)};
}

}  // namespace labgrad
