#pragma once
// Making tensors with values.
//
//   zeros({2, 3})   full({3}, 1.5, {.dtype = f64})   tensor({{1, 2}, {3, 4}})   arange(0, 10, 2)

#include <initializer_list>
#include <optional>
#include <ranges>
#include <span>
#include <vector>

#include "engine/random.h"
#include "engine/tensor.h"

namespace labgrad {

struct TensorOptions {
  std::optional<DType> dtype = {};    // none: what the function says, f32 for most
  std::optional<Device> device = {};  // none: default_device()
  bool requires_grad = false;
};

// A tensor of the given shape, f32 unless options say otherwise.
Tensor zeros(const Shape& shape, TensorOptions options = {});
Tensor ones(const Shape& shape, TensorOptions options = {});
// dtype: that of the value (f32 for real ones).
Tensor full(const Shape& shape, Scalar value, TensorOptions options = {});
// With x's shape, dtype and device, unless options say otherwise.
Tensor zeros_like(const Tensor& x, TensorOptions options = {});
Tensor ones_like(const Tensor& x, TensorOptions options = {});
Tensor full_like(const Tensor& x, Scalar value, TensorOptions options = {});

// start, start + step, ... without end itself. i64 if all three are whole, else f32.
// Error: step is 0 or leads away from end.
Tensor arange(Scalar end, TensorOptions options = {});
Tensor arange(Scalar start, Scalar end, TensorOptions options = {});
Tensor arange(Scalar start, Scalar end, Scalar step, TensorOptions options = {});
// `steps` numbers in equal distances, the first is start and the last end.
Tensor linspace(double start, double end, std::int64_t steps, TensorOptions options = {});
// Ones on the diagonal of an n x m matrix (n x n if m is left out).
Tensor eye(std::int64_t n, std::optional<std::int64_t> m = {}, TensorOptions options = {});

// Numbers in nested braces. Made by the compiler from {{1, 2}, {3, 4}}.
class NestedList {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> NestedList(T value) : values_{Scalar(value)} {}
  // Error: the parts differ in shape.
  NestedList(std::initializer_list<NestedList> parts);

  const Shape& shape() const { return shape_; }
  const std::vector<Scalar>& values() const { return values_; }  // in row-major order

 private:
  Shape shape_;
  std::vector<Scalar> values_;
};
// tensor({{1, 2}, {3, 4}}): i64 if all numbers are written whole, bool if all are bool, else f32.
Tensor tensor(const NestedList& values, TensorOptions options = {});

// The values in row-major order, as a copy. The dtype follows the C++ type: f32, f64, bool, i64
// for all integers. Error: the number of values is not that of the shape's elements.
Tensor from_values(std::span<const float> values, const Shape& shape, TensorOptions options = {});
Tensor from_values(std::span<const double> values, const Shape& shape, TensorOptions options = {});
Tensor from_values(std::span<const std::int64_t> values, const Shape& shape,
                   TensorOptions options = {});
Tensor from_values(std::span<const int> values, const Shape& shape, TensorOptions options = {});
Tensor from_values(std::span<const std::uint8_t> values, const Shape& shape,
                   TensorOptions options = {});
Tensor from_values(std::span<const bool> values, const Shape& shape, TensorOptions options = {});
Tensor from_values(const std::vector<bool>& values, const Shape& shape, TensorOptions options = {});

// ---- random; the draws are PyTorch's (engine/random.h), in row-major order ----

// Uniform in [0, 1).
Tensor rand(const Shape& shape, TensorOptions options = {});
Tensor rand(const Shape& shape, Generator& generator, TensorOptions options = {});
// Standard normal.
Tensor randn(const Shape& shape, TensorOptions options = {});
Tensor randn(const Shape& shape, Generator& generator, TensorOptions options = {});
// Whole numbers in low .. high - 1; i64. Error: low >= high.
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, TensorOptions options = {});
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator,
               TensorOptions options = {});
// A random order of 0 .. n-1; i64.
Tensor randperm(std::int64_t n, TensorOptions options = {});
Tensor randperm(std::int64_t n, Generator& generator, TensorOptions options = {});

// Fill in place; floating dtypes. Errors as for every in-place change: use NoGrad for parameters.
Tensor& uniform_(Tensor& x, double low, double high, Generator& generator = default_generator());
Tensor& normal_(Tensor& x, double mean, double std, Generator& generator = default_generator());

}  // namespace labgrad
