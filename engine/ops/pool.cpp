#include "engine/ops/pool.h"

#include <algorithm>

#include "engine/autograd.h"
#include "engine/ops/index.h"
#include "engine/ops/join.h"
#include "engine/ops/raw.h"
#include "engine/ops/shape.h"

namespace labgrad {
namespace {

void check_images(const char* op, const Shape& x, DType dtype, const Caller& caller) {
  if (x.rank() != 4 || !is_floating(dtype))
    fail(std::string(op) + ": needs images (N, C, H, W) of a floating dtype, got " +
             name_of(dtype) + " " + x.str(),
         caller);
}

// How many windows there are along a dimension of n.
std::int64_t windows(const char* op, const Shape& x, int dim, std::int64_t kernel,
                     std::int64_t stride, std::int64_t padding, std::int64_t dilation, bool ceil,
                     const Caller& caller) {
  const std::string name = std::string(op) + ": ";
  if (kernel < 1 || stride < 1 || dilation < 1)
    fail(name + "kernel, stride and dilation must be at least 1", caller);
  if (padding < 0 || 2 * padding > kernel)
    fail(name + "padding " + std::to_string(padding) + " for a kernel of " +
             std::to_string(kernel) + "; it may be half the kernel at most",
         caller);
  const std::int64_t n = x[dim], room = n + 2 * padding - dilation * (kernel - 1) - 1;
  if (room < 0)
    fail(name + "a window of " + std::to_string(dilation * (kernel - 1) + 1) +
             " does not fit in dimension " + std::to_string(dim) + " of an input of shape " +
             x.str() + " with padding " + std::to_string(padding),
         caller);
  std::int64_t count = (ceil ? room + stride - 1 : room) / stride + 1;
  if (ceil && (count - 1) * stride >= n + padding) --count;
  // With dilation a window can step over all that there is.
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t first = i * stride - padding;
    if (first < 0) first += (-first + dilation - 1) / dilation * dilation;
    if (first >= n)
      fail(name + "window " + std::to_string(i) + " along dimension " + std::to_string(dim) +
               " holds nothing but padding: input of shape " + x.str(),
           caller);
  }
  return count;
}

Shape pooled_shape(const char* op, const Shape& x, const Pooling& p, bool ceil,
                   const Caller& caller) {
  return {x[0], x[1],
          windows(op, x, 2, p.kernel.h, p.stride.h, p.padding.h, p.dilation.h, ceil, caller),
          windows(op, x, 3, p.kernel.w, p.stride.w, p.padding.w, p.dilation.w, ceil, caller)};
}

// The planes made rows: x_(n,c,hw).
Tensor rows(const Tensor& x) { return flatten(x, 2, 3); }

Pooling pooling(Plane kernel, const MaxPool2dOptions& o) {
  return {kernel, o.stride.value_or(kernel), o.padding, o.dilation};
}

Pooling pooling(Plane kernel, const AvgPool2dOptions& o) {
  return {kernel, o.stride.value_or(kernel), o.padding, 1};
}

// The means of `count` windows along dim.
Tensor means_along(const Tensor& x, int dim, std::int64_t count) {
  const std::int64_t n = x.size(dim);
  Tensors parts;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = i * n / count, end = ((i + 1) * n + count - 1) / count;
    parts.push_back(mean(slice(x, dim, begin, end), dim, true));
  }
  return cat(parts, dim);
}

}  // namespace

Shape max_pool2d_shape(const char* op, const Tensor& x, Plane kernel,
                       const MaxPool2dOptions& options, const Caller& caller) {
  check_images(op, x.shape(), x.dtype(), caller);
  return pooled_shape(op, x.shape(), pooling(kernel, options), options.ceil_mode, caller);
}

// y = x_k, k the place of the window's largest        dx_k += dy        [max_pool2d.grad]
Extremes max_pool2d_with_indices(const Tensor& x, Plane kernel, const MaxPool2dOptions& options,
                                 Caller caller) {
  const char* op = "max_pool2d";
  const Shape shape = max_pool2d_shape(op, x, kernel, options, caller);
  const Pooling p = pooling(kernel, options);
  Tensor y = raw::channels_last(shape, x.dtype(), x.device());
  Tensor k = raw::channels_last(shape, i64, x.device());
  kernels(x.device()).max_pool2d(y.array(), k.array(), x.array(), p);
  return {differentiable("max_pool2d", y,
                         wrt(x,
                             [of = x.shape(), k = save(k), p](const Tensor& dy) {
                               if (grad_enabled()) {
                                 const Shape planes{of[0], of[1], of[2] * of[3]};
                                 const Tensor zeros = raw::filled(0, planes, dy);
                                 return reshape(scatter_add(zeros, 2, rows(k), rows(dy)), of);
                               }
                               Tensor dx = raw::channels_last(of, dy.dtype(), dy.device());
                               kernels(dy.device())
                                   .max_pool2d_backward(dx.array(), dy.array(), k.get().array(), p);
                               return dx;
                             })),
          k};
}

Tensor max_pool2d(const Tensor& x, Plane kernel, const MaxPool2dOptions& options, Caller caller) {
  return max_pool2d_with_indices(x, kernel, options, caller).values;
}

// y = Σ x / m over the window        dx = Σ dy / m over the windows that hold x
// [avg_pool2d.grad]
Tensor avg_pool2d(const Tensor& x, Plane kernel, const AvgPool2dOptions& options, Caller caller) {
  check_images("avg_pool2d", x.shape(), x.dtype(), caller);
  const Pooling p = pooling(kernel, options);
  const Shape shape = pooled_shape("avg_pool2d", x.shape(), p, options.ceil_mode, caller);
  Tensor y = raw::channels_last(shape, x.dtype(), x.device());
  kernels(x.device()).avg_pool2d(y.array(), x.array(), p, options.count_include_pad);
  return differentiable("avg_pool2d", y,
                        wrt(x, [of = x.shape(), kernel, options](const Tensor& dy) {
                          return avg_pool2d_gradient(of, dy, kernel, options);
                        }));
}

// z = Σ dy / m, the sum above read backwards, so its own gradient is the mean again
// [avg_pool2d_gradient.grad]
Tensor avg_pool2d_gradient(const Shape& x_shape, const Tensor& dy, Plane kernel,
                           const AvgPool2dOptions& options, Caller caller) {
  const char* op = "avg_pool2d_gradient";
  check_images(op, x_shape, dy.dtype(), caller);
  const Pooling p = pooling(kernel, options);
  const Shape shape = pooled_shape(op, x_shape, p, options.ceil_mode, caller);
  if (!(dy.shape() == shape))
    fail(std::string(op) + ": dy has shape " + dy.shape().str() + ", expected " + shape.str() +
             ", the shape of avg_pool2d's result",
         caller);
  Tensor dx = raw::channels_last(x_shape, dy.dtype(), dy.device());
  kernels(dy.device()).avg_pool2d_backward(dx.array(), dy.array(), p, options.count_include_pad);
  return differentiable("avg_pool2d_gradient", dx, wrt(dy, [kernel, options](const Tensor& dz) {
                          return avg_pool2d(dz, kernel, options);
                        }));
}

Tensor adaptive_avg_pool2d(const Tensor& x, Plane size, Caller caller) {
  const char* op = "adaptive_avg_pool2d";
  check_images(op, x.shape(), x.dtype(), caller);
  const std::int64_t h = x.size(2), w = x.size(3);
  if (size.h < 1 || size.w < 1 || h < 1 || w < 1)
    fail(std::string(op) + ": cannot make windows of size (" + std::to_string(size.h) + ", " +
             std::to_string(size.w) + ") from an input of shape " + x.shape().str(),
         caller);
  if (h % size.h == 0 && w % size.w == 0)
    return avg_pool2d(x, Plane(h / size.h, w / size.w), {}, caller);
  return means_along(means_along(x, 2, size.h), 3, size.w);
}

}  // namespace labgrad
