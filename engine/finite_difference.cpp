#include "engine/finite_difference.h"

#include "engine/autograd.h"
#include "engine/backward.h"
#include "engine/create.h"

namespace labgrad::detail {
namespace {

std::string element(std::int64_t position, const Shape& shape) {
  Shape index = shape;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    index[d] = position % shape[d];
    position /= shape[d];
  }
  return ", element " + index.str();
}

}  // namespace

Numbers flat(const Tensors& xs) {
  Numbers all;
  for (const Tensor& x : xs) {
    const Numbers v = x.to_vector();
    all.insert(all.end(), v.begin(), v.end());
  }
  return all;
}

FlatFunction::FlatFunction(std::string call, const TensorFunction& f, const Tensors& inputs)
    : call_(std::move(call)), f_(f), inputs_(inputs) {
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    input_names.push_back("input " + std::to_string(k));
    if (!is_floating(inputs[k].dtype())) continue;
    if (inputs[k].dtype() != f64)
      fail(call_ + ": input " + std::to_string(k) +
           " is f32, whose rounding errors hide wrong gradients; convert it with to(x, f64)");
    wanted_.push_back(k);
    n_in_ += inputs[k].numel();
  }
  if (wanted_.empty()) fail(call_ + ": no input is f64, so there is no gradient to check");
  xs_ = leaves(nullptr);
  ys_ = floating_outputs(xs_);
  if (ys_.empty()) fail(call_ + ": no output is f64, so there is no gradient to check");
  at_ = flat(ys_);
  for (std::size_t m = 0; m < ys_.size(); ++m) {
    output_names.push_back("output " + std::to_string(m));
    if (ys_[m].dtype() != f64)
      fail(call_ + ": from f64 inputs it returns output " + std::to_string(m) + " in f32");
  }
}

// The inputs as leaves that need a gradient: all f64 ones, or one alone.
Tensors FlatFunction::leaves(const std::size_t* only) const {
  Tensors xs = inputs_;
  for (std::size_t k : wanted_) {
    xs[k] = inputs_[k].detach();
    if (!only || *only == k) xs[k].requires_grad_();
  }
  return xs;
}

Tensors FlatFunction::floating_outputs(const Tensors& xs) const {
  Tensors ys;
  for (const Tensor& y : f_(xs))
    if (is_floating(y.dtype())) ys.push_back(y);
  return ys;
}

Numbers FlatFunction::values(const Tensors& xs) const {
  NoGrad no_grad;
  return flat(floating_outputs(xs));
}

Numbers FlatFunction::moved(std::size_t j, double h) const {
  Tensors xs = inputs_;
  for (std::size_t k : wanted_) {
    const auto n = static_cast<std::size_t>(inputs_[k].numel());
    if (j < n) {
      Numbers x = inputs_[k].to_vector();
      x[j] += h;
      xs[k] = from_values(x, inputs_[k].shape(), {.device = inputs_[k].device()});
      break;
    }
    j -= n;
  }
  return values(xs);
}

Numbers FlatFunction::moved(const Numbers& v, double h) const {
  Tensors xs = inputs_;
  std::size_t j = 0;
  for (std::size_t k : wanted_) {
    Numbers x = inputs_[k].to_vector();
    for (double& e : x) e += h * v[j++];
    xs[k] = from_values(x, inputs_[k].shape(), {.device = inputs_[k].device()});
  }
  return values(xs);
}

Tensors FlatFunction::analytic(const Tensors& cotangents) const {
  Tensors ends, seeds, starts;
  for (std::size_t m = 0; m < ys_.size(); ++m) {
    if (!ys_[m].requires_grad() || !cotangents[m].defined()) continue;
    ends.push_back(ys_[m]);
    seeds.push_back(cotangents[m]);
  }
  for (std::size_t k : wanted_) starts.push_back(xs_[k]);
  Tensors gradients(starts.size());
  if (!ends.empty())
    gradients = grad(ends, starts, seeds, {.retain_graph = true, .allow_unused = true});
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (!gradients[i].defined()) gradients[i] = zeros_like(starts[i]);
    if (gradients[i].shape() != starts[i].shape() || gradients[i].dtype() != f64)
      fail(call_ + ": the gradient by " + input_names[wanted_[i]] + " is " +
           name_of(gradients[i].dtype()) + " " + gradients[i].shape().str() +
           ", but the input f64 " + starts[i].shape().str());
  }
  return gradients;
}

Tensor FlatFunction::analytic_alone(std::size_t input, const Tensors& cotangents) const {
  const Tensors xs = leaves(&input);
  const Tensors ys = floating_outputs(xs);
  Tensors ends, seeds;
  for (std::size_t m = 0; m < ys.size(); ++m) {
    if (!ys[m].requires_grad()) continue;
    ends.push_back(ys[m]);
    seeds.push_back(cotangents[m]);
  }
  if (!ends.empty()) backward(ends, seeds);
  const Tensor gradient = xs[input].grad();
  return gradient.defined() ? gradient : zeros_like(xs[input]);
}

std::string FlatFunction::variable(std::size_t j) const {
  auto left = static_cast<std::int64_t>(j);
  for (std::size_t k : wanted_) {
    const Shape& shape = inputs_[k].shape();
    if (left < shape.numel()) return input_names[k] + element(left, shape);
    left -= shape.numel();
  }
  return {};
}

std::string FlatFunction::result(std::size_t i) const {
  auto left = static_cast<std::int64_t>(i);
  for (std::size_t m = 0; m < ys_.size(); ++m) {
    const Shape& shape = ys_[m].shape();
    if (left < shape.numel()) return output_names[m] + element(left, shape);
    left -= shape.numel();
  }
  return {};
}

}  // namespace labgrad::detail
