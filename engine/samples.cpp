#include "engine/samples.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "engine/philox.h"
#include "engine/samples/rows.h"

namespace labgrad {
namespace {

using Numbers = std::vector<double>;

// FNV-1a: a key from the row's label that no change of other rows touches.
std::uint64_t hash(const std::string& text, std::uint64_t more) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return (h ^ more) * 0x100000001b3;
}

// Multiples of 0.1 in random order, moved by 0.03 for each further input.
void fill_distinct(Numbers& x, std::uint64_t key, std::size_t input) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> at(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) at[i] = philox_uniform(key, i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return at[a] < at[b]; });
  const double middle = static_cast<double>(x.size()) / 2;
  for (std::size_t i = 0; i < x.size(); ++i)
    x[order[i]] = 0.1 * (static_cast<double>(i) - middle) + 0.03 * static_cast<double>(input);
}

double draw(const Domain& d, bool whole, std::uint64_t key, std::uint64_t& position) {
  if (d.dtype == boolean) return philox_uniform(key, position++) < 0.5 ? 1 : 0;
  const double low = whole ? -3 : d.low, high = whole ? 3 : d.high;
  if (whole || d.whole || d.dtype == i64)
    return std::min(std::floor(low + (high - low + 1) * philox_uniform(key, position++)), high);
  for (;;) {
    const double v = low + (high - low) * philox_uniform(key, position++);
    if (std::none_of(d.avoid.begin(), d.avoid.end(),
                     [&](double kink) { return std::abs(v - kink) < 0.1; }))
      return v;
  }
}

Numbers values_of(const SampleInput& input, bool whole, std::uint64_t key, std::size_t at) {
  Numbers x(static_cast<std::size_t>(input.shape.numel()));
  if (input.domain.distinct && !whole) {
    fill_distinct(x, key, at);
  } else {
    std::uint64_t position = 0;
    for (double& v : x)
      v = draw(input.domain, whole && is_floating(input.domain.dtype), key, position);
  }
  for (double& v : x) v = static_cast<float>(v);
  return x;
}

// The strides of a layout, the first element's offset, and how many elements the storage has.
struct Placement {
  Strides strides;
  std::int64_t offset = 0, size = 0;
};

Placement placement(const Shape& shape, Layout layout) {
  Placement p{contiguous_strides(shape), 0, shape.numel()};
  switch (layout) {
    case Layout::dense:
      break;
    case Layout::transposed: {
      std::int64_t stride = 1;
      for (int d = 0; d < shape.rank(); ++d) {
        p.strides[d] = stride;
        stride *= shape[d];
      }
      break;
    }
    case Layout::strided:
      for (int d = 0; d < shape.rank(); ++d) p.strides[d] *= 2;
      p.offset = 1;
      p.size = 2 * p.size + 1;
      break;
    case Layout::offset:
      p.offset = 3;
      p.size += 5;
      break;
    case Layout::expanded:
      for (int d = 0; d < shape.rank(); ++d)
        if (shape[d] > 1) {
          p.strides[d] = 0;
          break;
        }
      break;
  }
  return p;
}

Tensor laid_out(const Numbers& values, const Shape& shape, DType dtype,
                const SampleOptions& options) {
  const Placement p = placement(shape, options.layout);
  Tensor storage = empty({p.size}, dtype, Device::cpu);
  dispatch(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T gap{};
    if constexpr (std::is_floating_point_v<T>)
      gap = std::numeric_limits<T>::quiet_NaN();
    else
      gap = std::numeric_limits<T>::max();
    const std::span<T> out = storage.writable_span<T>();
    std::fill(out.begin(), out.end(), gap);
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto rest = static_cast<std::int64_t>(i);
      std::int64_t at = p.offset;
      for (int d = shape.rank() - 1; d >= 0; --d) {
        at += rest % shape[d] * p.strides[d];
        rest /= shape[d];
      }
      out[static_cast<std::size_t>(at)] = static_cast<T>(values[i]);
    }
  });
  return alias(moved(storage, options.device), shape, p.strides, p.offset);
}

}  // namespace

const char* name_of(Layout layout) {
  switch (layout) {
    case Layout::dense:
      return "dense";
    case Layout::transposed:
      return "transposed";
    case Layout::strided:
      return "strided";
    case Layout::offset:
      return "offset";
    case Layout::expanded:
      return "expanded";
  }
  return "?";
}

const std::vector<OpSample>& op_samples() {
  using namespace samples;
  static const Rows all = arithmetic_rows() + pointwise_rows() + reduction_rows() +
                          normalising_rows() + shape_rows() + product_rows() + indexing_rows() +
                          image_rows() + recurrent_rows();
  return all;
}

Tensors sample_inputs(const OpSample& row, std::size_t index, SampleOptions options) {
  const SampleCase& c = row.cases.at(index);
  Tensors xs;
  for (std::size_t k = 0; k < c.inputs.size(); ++k) {
    const SampleInput& input = c.inputs[k];
    const std::uint64_t key = hash(row.label(), 64 * index + k);
    const DType dtype = is_floating(input.domain.dtype) ? options.dtype : input.domain.dtype;
    xs.push_back(laid_out(values_of(input, options.whole, key, k), input.shape, dtype, options));
  }
  return xs;
}

GradcheckReport check_sample(const OpSample& row, int order) {
  GradcheckReport all;
  for (std::size_t i = 0; i < row.cases.size(); ++i) {
    if (row.cases[i].large) continue;
    std::string name = row.label() + " of";
    for (const SampleInput& input : row.cases[i].inputs) name += " " + input.shape.str();
    const Tensors xs = sample_inputs(row, i);
    const GradcheckReport one = order == 1 ? check_gradients(row.f, xs, {.op = name})
                                           : check_second_gradients(row.f, xs, {.op = name});
    if (all.ok()) all.message = one.message;
    all.relative_error = std::max(all.relative_error, one.relative_error);
    all.compared += one.compared;
  }
  return all;
}

}  // namespace labgrad
