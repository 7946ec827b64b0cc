#include "engine/create.h"

#include <algorithm>
#include <cmath>

#include "engine/ops/broadcast.h"

namespace labgrad {
namespace {

Tensor blank(const Shape& shape, const TensorOptions& o, DType otherwise) {
  return empty(shape, o.dtype.value_or(otherwise), o.device.value_or(default_device()));
}

Tensor finish(Tensor x, const TensorOptions& o) {
  if (o.requires_grad) x.requires_grad_();
  return x;
}

// Values that were made in host memory, brought to the dtype and the device asked for.
Tensor finish_from_host(const Tensor& x, const TensorOptions& o) {
  NoGrad no_grad;
  return finish(to(to(x, o.dtype.value_or(x.dtype())), o.device.value_or(default_device())), o);
}

TensorOptions like(const Tensor& x, TensorOptions o) {
  if (!o.dtype) o.dtype = x.dtype();
  if (!o.device) o.device = x.device();
  return o;
}

bool is_whole(Scalar v) { return v.dtype != f32; }

}  // namespace

Tensor zeros(const Shape& shape, TensorOptions o) { return full(shape, 0.0, o); }
Tensor ones(const Shape& shape, TensorOptions o) { return full(shape, 1.0, o); }

Tensor full(const Shape& shape, Scalar value, TensorOptions o) {
  return finish(blank(shape, o, value.dtype).fill_(value), o);
}

Tensor zeros_like(const Tensor& x, TensorOptions o) { return zeros(x.shape(), like(x, o)); }
Tensor ones_like(const Tensor& x, TensorOptions o) { return ones(x.shape(), like(x, o)); }
Tensor full_like(const Tensor& x, Scalar value, TensorOptions o) {
  return full(x.shape(), value, like(x, o));
}

Tensor arange(Scalar end, TensorOptions o) { return arange(0, end, 1, o); }
Tensor arange(Scalar start, Scalar end, TensorOptions o) { return arange(start, end, 1, o); }

Tensor arange(Scalar start, Scalar end, Scalar step, TensorOptions o) {
  const double count = std::ceil((end.value - start.value) / step.value);
  if (step.value == 0 || !(count >= 0) || !(count < 9e15))
    fail("arange: from " + std::to_string(start.value) + " to " + std::to_string(end.value) +
         " in steps of " + std::to_string(step.value) +
         " does not arrive; the step must be non-zero and lead from start towards end");
  const auto n = static_cast<std::int64_t>(count);
  const bool whole = is_whole(start) && is_whole(end) && is_whole(step);
  Tensor x = empty({n}, whole ? i64 : f64, Device::cpu);
  if (whole) {
    std::int64_t v = start.integer;
    for (std::int64_t& element : x.writable_span<std::int64_t>()) {
      element = v;
      v += step.integer;
    }
  } else {
    std::int64_t i = 0;
    for (double& element : x.writable_span<double>())
      element = start.value + step.value * static_cast<double>(i++);
  }
  if (!o.dtype) o.dtype = whole ? i64 : f32;
  return finish_from_host(x, o);
}

Tensor linspace(double start, double end, std::int64_t steps, TensorOptions o) {
  if (steps < 0) fail("linspace: " + std::to_string(steps) + " steps; expected 0 or more");
  Tensor x = empty({steps}, f64, Device::cpu);
  const std::span<double> out = x.writable_span<double>();
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  // Each half is counted from its own end, so that the last number is exactly `end`.
  for (std::int64_t i = 0; i < steps; ++i)
    out[static_cast<std::size_t>(i)] = i < (steps + 1) / 2
                                           ? start + step * static_cast<double>(i)
                                           : end - step * static_cast<double>(steps - 1 - i);
  if (!o.dtype) o.dtype = f32;
  return finish_from_host(x, o);
}

Tensor eye(std::int64_t n, std::optional<std::int64_t> m, TensorOptions o) {
  const std::int64_t columns = m.value_or(n);
  Tensor x = blank({n, columns}, o, f32).zero_();
  alias(x, {std::min(n, columns)}, {columns + 1}).fill_(1);
  return finish(x, o);
}

NestedList::NestedList(std::initializer_list<NestedList> parts) {
  shape_.push_back(static_cast<std::int64_t>(parts.size()));
  for (const NestedList& part : parts) {
    if (part.shape_ != parts.begin()->shape_)
      fail("tensor: the nested list is ragged: a part of shape " + part.shape_.str() +
           " stands beside one of shape " + parts.begin()->shape_.str() +
           "; all parts of a list must have the same shape");
    values_.insert(values_.end(), part.values_.begin(), part.values_.end());
  }
  if (parts.size() > 0)
    for (std::int64_t n : parts.begin()->shape_) shape_.push_back(n);
}

Tensor tensor(const NestedList& values, TensorOptions o) {
  const std::vector<Scalar>& from = values.values();
  DType kind = from.empty() ? f32 : boolean;
  for (const Scalar& v : from) kind = promote(kind, v.dtype);
  if (!o.dtype) o.dtype = kind;
  Tensor x = empty(values.shape(), kind == f32 ? f64 : i64, Device::cpu);
  if (kind == f32)
    std::transform(from.begin(), from.end(), x.writable_span<double>().begin(),
                   [](const Scalar& v) { return v.value; });
  else
    std::transform(from.begin(), from.end(), x.writable_span<std::int64_t>().begin(),
                   [](const Scalar& v) { return v.integer; });
  return finish_from_host(x, o);
}

namespace {

template <class To, class Values>
Tensor copied(const Values& values, const Shape& shape, const TensorOptions& o) {
  Tensor x = empty(shape, dtype_of<To>, Device::cpu);
  if (x.numel() != static_cast<std::int64_t>(values.size()))
    fail("from_values: " + std::to_string(values.size()) + " values for shape " + shape.str() +
         ", which has " + std::to_string(x.numel()) + " elements");
  std::transform(values.begin(), values.end(), x.template writable_span<To>().begin(),
                 [](auto v) { return static_cast<To>(v); });
  return finish_from_host(x, o);
}

}  // namespace

Tensor from_values(std::span<const float> v, const Shape& shape, TensorOptions o) {
  return copied<float>(v, shape, o);
}
Tensor from_values(std::span<const double> v, const Shape& shape, TensorOptions o) {
  return copied<double>(v, shape, o);
}
Tensor from_values(std::span<const std::int64_t> v, const Shape& shape, TensorOptions o) {
  return copied<std::int64_t>(v, shape, o);
}
Tensor from_values(std::span<const int> v, const Shape& shape, TensorOptions o) {
  return copied<std::int64_t>(v, shape, o);
}
Tensor from_values(std::span<const std::uint8_t> v, const Shape& shape, TensorOptions o) {
  return copied<std::int64_t>(v, shape, o);
}
Tensor from_values(std::span<const bool> v, const Shape& shape, TensorOptions o) {
  return copied<bool>(v, shape, o);
}
Tensor from_values(const std::vector<bool>& v, const Shape& shape, TensorOptions o) {
  return copied<bool>(v, shape, o);
}

// ---- random ----

namespace {

// fill(span) on x's elements in row-major order; numbers are drawn in host memory on every device.
template <class F>
void fill_floating(Tensor& x, const char* op, F fill) {
  dispatch_floating(x.dtype(), op, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (x.is_contiguous() && x.device() == Device::cpu) {
      fill(x.template writable_span<T>());
      return;
    }
    // Before anything is drawn: an in-place change that is not allowed must not advance the stream.
    x.add_(0);
    Tensor drawn = empty(x.shape(), x.dtype(), Device::cpu);
    fill(drawn.template writable_span<T>());
    x.copy_(to(drawn, x.device()));
  });
}

}  // namespace

Tensor rand(const Shape& shape, TensorOptions o) { return rand(shape, default_generator(), o); }
Tensor rand(const Shape& shape, Generator& generator, TensorOptions o) {
  Tensor x = blank(shape, o, f32);
  fill_floating(x, "rand", [&](auto out) { generator.uniform(out); });
  return finish(x, o);
}

Tensor randn(const Shape& shape, TensorOptions o) { return randn(shape, default_generator(), o); }
Tensor randn(const Shape& shape, Generator& generator, TensorOptions o) {
  Tensor x = blank(shape, o, f32);
  fill_floating(x, "randn", [&](auto out) { generator.normal(out); });
  return finish(x, o);
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, TensorOptions o) {
  return randint(low, high, shape, default_generator(), o);
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator,
               TensorOptions o) {
  Tensor x = empty(shape, i64, Device::cpu);
  generator.random_ints(x.writable_span<std::int64_t>(), low, high);
  return finish_from_host(x, o);
}

Tensor randperm(std::int64_t n, TensorOptions o) { return randperm(n, default_generator(), o); }
Tensor randperm(std::int64_t n, Generator& generator, TensorOptions o) {
  const std::vector<std::int64_t> order = generator.randperm(n);
  return from_values(std::span<const std::int64_t>(order), {n}, o);
}

Tensor& uniform_(Tensor& x, double low, double high, Generator& generator) {
  fill_floating(x, "uniform_", [&](auto out) { generator.uniform(out, low, high); });
  return x;
}

Tensor& normal_(Tensor& x, double mean, double std, Generator& generator) {
  fill_floating(x, "normal_", [&](auto out) { generator.normal(out, mean, std); });
  return x;
}

}  // namespace labgrad
