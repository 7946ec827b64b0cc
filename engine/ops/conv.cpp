#include "engine/ops/conv.h"

#include "engine/autograd.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/raw.h"
#include "engine/ops/shape.h"

namespace labgrad {
namespace {

Convolution geometry(const Conv2dOptions& o) {
  return {o.stride, o.padding.top, o.padding.left, o.dilation, o.groups};
}

std::string sizes(const Shape& x, const Shape& w) {
  return "input " + x.str() + ", weight " + w.str();
}

// The shape of conv2d's result. Error: the shapes or options don't fit.
Shape result_shape(const char* op, const Shape& x, const Shape& w, const Conv2dOptions& o,
                   const Caller& caller) {
  const std::string name = std::string(op) + ": ";
  if (x.rank() != 4 || w.rank() != 4)
    fail(name + "needs an input (N, C, H, W) and a weight (O, C/groups, kh, kw), got " +
             sizes(x, w) + "; a single image becomes a batch by unsqueeze(x, 0)",
         caller);
  if (o.stride.h < 1 || o.stride.w < 1 || o.dilation.h < 1 || o.dilation.w < 1 || o.groups < 1)
    fail(name + "stride, dilation and groups must be at least 1", caller);
  if (x[1] != w[1] * o.groups || w[0] % o.groups != 0)
    fail(name + "the input has " + std::to_string(x[1]) +
             " channels, but the weight's filters read " + std::to_string(w[1]) +
             " channels in each of " + std::to_string(o.groups) + " groups, and the " +
             std::to_string(w[0]) + " filters must divide by the groups: " + sizes(x, w),
         caller);
  const std::int64_t high = x[2] + o.padding.top + o.padding.bottom - o.dilation.h * (w[2] - 1) - 1;
  const std::int64_t wide = x[3] + o.padding.left + o.padding.right - o.dilation.w * (w[3] - 1) - 1;
  if (high < 0 || wide < 0 || w[2] < 1 || w[3] < 1)
    fail(name + "the filter does not fit in the padded image: " + sizes(x, w) + ", padding " +
             Shape({o.padding.top, o.padding.left, o.padding.bottom, o.padding.right}).str() +
             " (top, left, bottom, right), dilation " + Shape({o.dilation.h, o.dilation.w}).str(),
         caller);
  return {x[0], w[0], high / o.stride.h + 1, wide / o.stride.w + 1};
}

void check_operands(const char* op, const Tensor& a, const Tensor& b, const Caller& caller) {
  raw::check_devices(op, a, b);
  if (a.dtype() != b.dtype() || !is_floating(a.dtype()))
    fail(std::string(op) + ": needs one floating dtype (f32 or f64), got " + name_of(a.dtype()) +
             " " + a.shape().str() + " and " + name_of(b.dtype()) + " " + b.shape().str(),
         caller);
}

void check_gradient(const char* op, const Tensor& dy, const Shape& expected, const Caller& caller) {
  if (!(dy.shape() == expected))
    fail(std::string(op) + ": dy has shape " + dy.shape().str() + ", expected " + expected.str() +
             ", the shape of conv2d's result",
         caller);
}

// y = x * w, without bias        dx = dy *ᵀ w        dw = x ⋆ dy        [conv2d.grad]
Tensor convolved(const Tensor& x, const Tensor& w, const Conv2dOptions& o, const Shape& shape) {
  Tensor y = raw::channels_last(shape, x.dtype(), x.device());
  kernels(x.device()).conv2d(y.array(), x.array(), w.array(), geometry(o));
  return differentiable(
      "conv2d", y,
      wrt(x, [of = x.shape(), w = save(w),
              o](const Tensor& dy) { return conv2d_input_gradient(of, dy, w, o); }),
      wrt(w, [x = save(x), of = w.shape(), o](const Tensor& dy) {
        return conv2d_weight_gradient(x, of, dy, o);
      }));
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const Conv2dOptions& options, Caller caller) {
  check_operands("conv2d", x, weight, caller);
  const Shape shape = result_shape("conv2d", x.shape(), weight.shape(), options, caller);
  const Tensor y = convolved(x, weight, options, shape);
  if (!bias.defined()) return y;
  check_operands("conv2d", x, bias, caller);
  if (!(bias.shape() == Shape{shape[1]}))
    fail("conv2d: the bias has shape " + bias.shape().str() + ", expected " +
             Shape({shape[1]}).str() + ", a number for each filter of the weight " +
             weight.shape().str(),
         caller);
  return y + reshape(bias, {shape[1], 1, 1});
}

// z = dy *ᵀ w: z_nchw = Σ dy_noij w_ocab, (h, w) under (a, b) of the filter at (i, j)
// d(dy) = dz * w        dw = dz ⋆ dy        [conv2d_input_gradient.grad]
Tensor conv2d_input_gradient(const Shape& x_shape, const Tensor& dy, const Tensor& weight,
                             const Conv2dOptions& options, Caller caller) {
  const char* op = "conv2d_input_gradient";
  check_operands(op, dy, weight, caller);
  check_gradient(op, dy, result_shape(op, x_shape, weight.shape(), options, caller), caller);
  Tensor dx = raw::channels_last(x_shape, dy.dtype(), dy.device());
  kernels(dy.device())
      .conv2d_input_gradient(dx.array(), dy.array(), weight.array(), geometry(options));
  return differentiable(
      "conv2d_input_gradient", dx,
      wrt(dy, [w = save(weight), options](const Tensor& dz) { return conv2d(dz, w, {}, options); }),
      wrt(weight, [dy = save(dy), of = weight.shape(), options](const Tensor& dz) {
        return conv2d_weight_gradient(dz, of, dy, options);
      }));
}

// z = x ⋆ dy: z_ocab = Σ x_nchw dy_noij, the same pairs
// dx = dy *ᵀ dz        d(dy) = x * dz        [conv2d_weight_gradient.grad]
Tensor conv2d_weight_gradient(const Tensor& x, const Shape& weight_shape, const Tensor& dy,
                              const Conv2dOptions& options, Caller caller) {
  const char* op = "conv2d_weight_gradient";
  check_operands(op, x, dy, caller);
  check_gradient(op, dy, result_shape(op, x.shape(), weight_shape, options, caller), caller);
  Tensor dw = empty(weight_shape, x.dtype(), x.device());
  kernels(x.device()).conv2d_weight_gradient(dw.array(), x.array(), dy.array(), geometry(options));
  return differentiable(
      "conv2d_weight_gradient", dw,
      wrt(x, [of = x.shape(), dy = save(dy),
              options](const Tensor& dz) { return conv2d_input_gradient(of, dy, dz, options); }),
      wrt(dy, [x = save(x), options](const Tensor& dz) { return conv2d(x, dz, {}, options); }));
}

}  // namespace labgrad
