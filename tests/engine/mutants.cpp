#include "tests/engine/mutants.h"

#include <cmath>

#include "engine/autograd.h"
#include "engine/backward.h"
#include "engine/create.h"
#include "engine/ops.h"

namespace labgrad::tests {

TensorFunction with_gradients(const TensorFunction& f, Gradients gradients) {
  return [=](const Tensors& xs) {
    Tensors ys;
    {
      NoGrad no_grad;
      for (const Tensor& y : f(xs)) ys.push_back(y.detach());
    }
    return differentiable_joint("mutant", ys, xs, [=, y = ys[0].detach()](const Tensors& dys) {
      Tensors inputs;
      for (const Tensor& x : xs) inputs.push_back(x.detach());
      Tensors dxs = gradients(inputs, y, dys[0]);
      for (std::size_t k = 0; k < xs.size(); ++k)
        if (!xs[k].requires_grad()) dxs[k] = {};
      return dxs;
    });
  };
}

Gradients gradients_of(const TensorFunction& f) {
  return [=](const Tensors& x, const Tensor&, const Tensor& dy) {
    const EnableGrad enable;
    Tensors leaves, wanted;
    for (const Tensor& v : x) {
      leaves.push_back(v.detach());
      if (is_floating(v.dtype())) wanted.push_back(leaves.back().requires_grad_());
    }
    const Tensor y = f(leaves)[0];
    const Tensors found = y.requires_grad() ? grad({y}, wanted, {dy}, {.allow_unused = true})
                                            : Tensors(wanted.size());
    Tensors dxs(x.size());
    std::size_t next = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (!is_floating(x[k].dtype())) continue;
      dxs[k] = found[next].defined() ? found[next] : zeros_like(x[k]);
      ++next;
    }
    return dxs;
  };
}

namespace {

using In = const Tensors&;
using T = const Tensor&;

const OpSample& row_of(const std::string& label) {
  for (const OpSample& row : op_samples())
    if (row.label() == label) return row;
  fail("mutants: the registry has no row '" + label + "'");
}

// The first of the repeats in place of their sum.
Tensor first_repeat(const Tensor& dy, const Shape& shape) {
  Tensor first = dy;
  while (first.rank() > shape.rank()) first = select(first, 0, 0);
  for (int d = 0; d < shape.rank(); ++d)
    if (shape[d] == 1 && first.shape()[d] > 1) first = narrow(first, d, 0, 1);
  return first;
}

std::vector<SampleCase> one_case(const std::vector<Shape>& shapes) {
  SampleCase c;
  for (const Shape& shape : shapes) c.inputs.push_back({shape});
  return {c};
}

Tensor normal_density(const Tensor& x) {
  return exp(square(x) * -0.5) * (1 / std::sqrt(2 * std::acos(-1.0)));
}

// dx of layer_norm without weight, from its parts: what is taken off dy, and 1/σ.
Tensor layer_norm_dx(T x, T dy, T r, bool minus_mean, bool minus_projection) {
  const Tensor h = (x - mean(x, -1, true)) * r;
  Tensor g = dy;
  if (minus_mean) g = g - mean(dy, -1, true);
  if (minus_projection) g = g - h * mean(dy * h, -1, true);
  return r * g;
}
Tensor variance(T x, std::int64_t correction = 0) {
  return var(x, -1, {.correction = correction, .keepdim = true});
}

// (softmax - target) of each row, times the row's share.
Tensor cross_entropy_dx(In x, T dy, double smoothing, T share) {
  const std::int64_t classes = x[0].size(1);
  const Tensor target =
      to(one_hot(x[1], classes), f64) * (1 - smoothing) + smoothing / static_cast<double>(classes);
  return (softmax(x[0], 1) - target) * reshape(share, {-1, 1}) * dy;
}
// 1/n, or 1/(number of rows that are not ignored) for those and 0 for the others.
Tensor equal_share(T target) {
  return full({target.numel()}, 1.0 / static_cast<double>(target.numel()), {.dtype = f64});
}
Tensor kept_share(T target, std::int64_t ignored) {
  const Tensor kept = to(target != ignored, f64);
  return kept / sum(kept);
}
SampleCase classes() { return {{{{6, 5}}, {{6}, {.low = 0, .high = 4, .dtype = i64}}}}; }

std::vector<Mutant> elementwise_mutants() {
  return {
      {"add", "a broadcast is not summed",
       [](In x, T, T dy) {
         return Tensors{dy, first_repeat(dy, x[1].shape())};
       }},
      {"add", "a broadcast is averaged",
       [](In x, T, T dy) {
         const auto repeats = static_cast<double>(dy.numel()) /
                              static_cast<double>(std::max<std::int64_t>(x[0].numel(), 1));
         return Tensors{dy / std::max(repeats, 1.0), dy};
       }},
      {"sub", "sign of db",
       [](In, T, T dy) {
         return Tensors{dy, dy};
       }},
      {"mul", "da and db exchanged",
       [](In x, T, T dy) {
         return Tensors{dy * x[0], dy * x[1]};
       }},
      {"mul", "dy left out",
       [](In x, T, T dy) {
         return Tensors{dy * x[1], dy * 0 + x[0]};
       }},
      {"div", "db without / b",
       [](In x, T y, T dy) {
         return Tensors{dy / x[1], -dy * y};
       }},
      {"pow", "exponent not reduced",
       [](In x, T y, T dy) {
         return Tensors{dy * x[1] * y, dy * y * log(x[0])};
       }},
      {"pow", "db without ln a",
       [](In x, T y, T dy) {
         return Tensors{dy * x[1] * y / x[0], dy * y};
       }},
      {"expand((2, 3, 4))", "the first repeat alone",
       [](In x, T, T dy) { return Tensors{first_repeat(dy, x[0].shape())}; }},
      {"tanh", "1 - y", [](In, T y, T dy) { return Tensors{dy * (1 - y)}; }},
      {"sigmoid", "y (1 + y)", [](In, T y, T dy) { return Tensors{dy * y * (1 + y)}; }},
      {"log1p", "1 / x", [](In x, T, T dy) { return Tensors{dy / x[0]}; }},
      {"sqrt", "without 1/2", [](In, T y, T dy) { return Tensors{dy / y}; }},
      {"erf", "without the factor 2",
       [](In x, T, T dy) { return Tensors{dy * exp(-square(x[0])) / std::sqrt(std::acos(-1.0))}; }},
      {"gelu", "the derivative of the tanh approximation",
       [](In x, T, T dy) {
         const double c = std::sqrt(2 / std::acos(-1.0));
         const Tensor t = tanh((x[0] + pow(x[0], 3) * 0.044715) * c);
         return Tensors{dy * (0.5 * (1 + t) + 0.5 * x[0] * (1 - square(t)) * c *
                                                  (1 + 3 * 0.044715 * square(x[0])))};
       }},
      {"gelu", "Φ(x) without x φ(x)",
       [](In x, T, T dy) { return Tensors{dy * 0.5 * (1 + erf(x[0] / std::sqrt(2.0)))}; }},
      {"gelu", "φ of another variance",
       [](In x, T, T dy) {
         return Tensors{
             dy * (0.5 * (1 + erf(x[0] / std::sqrt(2.0))) + x[0] * normal_density(x[0] * 1.01))};
       }},
      {"relu", "negative values pass", [](In, T, T dy) { return Tensors{dy}; }},
      {"clamp(-0.7, 0.9)", "passes above the bound",
       [](In x, T, T dy) { return Tensors{where(x[0] >= -0.7, dy, 0)}; }},
      {"where", "branches exchanged",
       [](In x, T, T dy) {
         return Tensors{{}, where(x[0], 0, dy), where(x[0], dy, 0)};
       }},
      {"maximum", "the loser gets the gradient",
       [](In x, T, T dy) {
         return Tensors{where(x[0] < x[1], dy, 0), where(x[0] > x[1], dy, 0)};
       }},
      {"masked_fill(-1.5)", "filled places pass",
       [](In, T, T dy) {
         return Tensors{{}, dy};
       }},
  };
}

std::vector<Mutant> reduction_mutants() {
  return {
      {"sum(0)", "spread over the wrong axis",
       [](In x, T, T dy) { return Tensors{expand(unsqueeze(dy, 1), x[0].shape())}; },
       one_case({{3, 3}})},
      {"mean", "not divided by n", [](In x, T, T dy) { return Tensors{expand(dy, x[0].shape())}; }},
      {"var", "divided by n in place of n - 1, at n = 256",
       [](In x, T, T dy) { return Tensors{dy * 2 * (x[0] - mean(x[0])) / 256}; },
       one_case({{256}})},
      {"var", "the mean is not taken off",
       [](In x, T, T dy) {
         return Tensors{dy * 2 * x[0] / static_cast<double>(x[0].numel() - 1)};
       }},
      {"norm", "not divided by the norm", [](In x, T, T dy) { return Tensors{dy * x[0]}; }},
      {"prod(-1, with zeros)", "y / x", [](In x, T y, T dy) { return Tensors{dy * y / x[0]}; }},
      {"max(0)", "the first place in place of the largest",
       [](In x, T, T dy) {
         return Tensors{pad(unsqueeze(dy, 0), {0, 0, 0, x[0].size(0) - 1})};
       },
       one_case({{4, 3}})},
      {"cumsum(0)", "summed from the front", [](In, T, T dy) { return Tensors{cumsum(dy, 0)}; }},
      {"logsumexp(-1, keepdim)", "e^x in place of softmax",
       [](In x, T, T dy) { return Tensors{dy * exp(x[0])}; }},
      {"softmax(-1)", "without Σ dy y", [](In, T y, T dy) { return Tensors{dy * y}; }},
      {"softmax(-1)", "Σ over the wrong axis",
       [](In, T y, T dy) { return Tensors{y * (dy - sum(dy * y, 0, true))}; }, one_case({{3, 3}})},
      {"log_softmax(-1)", "y in place of e^y",
       [](In, T y, T dy) { return Tensors{dy - y * sum(dy, -1, true)}; }},
      {"dropout(0.3)", "another mask",
       [](In x, T, T dy) {
         Generator generator(6);
         return Tensors{dropout(full_like(x[0], 1), 0.3, true, generator) * dy};
       }},
      {"dropout(0.3)", "without 1/(1 - p)",
       [](In, T y, T dy) { return Tensors{where(y != 0, dy, 0)}; }},
  };
}

std::vector<Mutant> layer_norm_mutants() {
  const std::string plain = "layer_norm(no weight, eps=1e-3)";
  return {
      {plain, "√σ² + eps in place of √(σ² + eps)",
       [](In x, T, T dy) {
         return Tensors{layer_norm_dx(x[0], dy, 1 / (sqrt(variance(x[0])) + 1e-3), true, true)};
       }},
      {plain, "n - 1 at n = 256",
       [](In x, T, T dy) {
         return Tensors{layer_norm_dx(x[0], dy, rsqrt(variance(x[0], 1) + 1e-3), true, true)};
       },
       one_case({{1, 256}})},
      {plain, "without mean(g)",
       [](In x, T, T dy) {
         return Tensors{layer_norm_dx(x[0], dy, rsqrt(variance(x[0]) + 1e-3), false, true)};
       }},
      {plain, "without h mean(g h)",
       [](In x, T, T dy) {
         return Tensors{layer_norm_dx(x[0], dy, rsqrt(variance(x[0]) + 1e-3), true, false)};
       }},
      {"layer_norm", "x in place of h for the weight",
       [](In x, T y, T dy) {
         Tensors right = gradients_of(row_of("layer_norm").f)(x, y, dy);
         right[1] = dy * x[0];
         return right;
       }},
  };
}

std::vector<Mutant> loss_mutants() {
  return {
      {"cross_entropy(none, smoothing 0.1)",
       "smoothing 0.1 taken for 0.11",
       [](In x, T, T dy) {
         return Tensors{cross_entropy_dx(x, reshape(dy, {-1, 1}), 0.11, full_like(dy, 1)), {}};
       },
       {classes()}},
      {"cross_entropy(sum)",
       "smoothing 0.01 where there is none",
       [](In x, T, T dy) {
         return Tensors{cross_entropy_dx(x, dy, 0.01, full({6}, 1.0, {.dtype = f64})), {}};
       },
       {classes()}},
      {"cross_entropy(ignore 2)",
       "ignored rows leak",
       [](In x, T, T dy) {
         return Tensors{cross_entropy_dx(x, dy, 0, equal_share(x[1])), {}};
       },
       {classes()}},
      {"cross_entropy(ignore 2)",
       "divided by the number of all rows",
       [](In x, T, T dy) {
         const Tensor kept = to(x[1] != 2, f64);
         return Tensors{cross_entropy_dx(x, dy, 0, equal_share(x[1]) * kept), {}};
       },
       {classes()}},
      {"cross_entropy(weights, ignore 2, smoothing 0.01)",
       "class weights left out",
       [](In x, T, T dy) {
         return Tensors{cross_entropy_dx(x, dy, 0.01, kept_share(x[1], 2)), {}};
       },
       {classes()}},
      {"mse_loss", "without the factor 2",
       [](In x, T, T dy) {
         const Tensor d = dy * (x[0] - x[1]) / static_cast<double>(x[0].numel());
         return Tensors{d, -d};
       }},
  };
}

std::vector<Mutant> shape_mutants() {
  return {
      {"transpose", "not transposed back", [](In, T, T dy) { return Tensors{dy}; },
       one_case({{3, 3}})},
      {"permute((1, 2, 0))", "the same permutation again",
       [](In, T, T dy) {
         return Tensors{permute(dy, {1, 2, 0})};
       },
       one_case({{3, 3, 3}})},
      {"flip({0})", "not flipped back", [](In, T, T dy) { return Tensors{dy}; }},
      {"narrow(1, 1, 2)", "put back at the start",
       [](In x, T, T dy) { return Tensors{place(dy, x[0].shape(), 1, 0, 1)}; }},
      {"cat(0)", "parts exchanged",
       [](In, T, T dy) {
         return Tensors{narrow(dy, 0, 2, 2), narrow(dy, 0, 0, 2)};
       },
       one_case({{2, 3}, {2, 3}})},
      {"pad({1, 2})", "cut at the wrong side",
       [](In x, T, T dy) { return Tensors{narrow(dy, -1, 2, x[0].size(-1))}; }},
      {"tril", "the other triangle", [](In, T, T dy) { return Tensors{triu(dy)}; }},
      {"matmul", "factors not transposed",
       [](In x, T, T dy) {
         return Tensors{matmul(dy, x[1]), matmul(x[0], dy)};
       },
       one_case({{3, 3}, {3, 3}})},
      {"matmul", "the first of a batch in place of the sum",
       [](In x, T, T dy) {
         const Tensor db = matmul(transpose(x[0]), dy);
         return Tensors{matmul(dy, transpose(x[1])), first_repeat(db, x[1].shape())};
       },
       one_case({{2, 3, 4}, {4, 2}})},
      {"linear", "the bias gets the mean over rows",
       [](In x, T, T dy) {
         return Tensors{matmul(dy, x[1]), matmul(transpose(dy), x[0]), mean(dy, 0)};
       },
       one_case({{3, 4}, {2, 4}, {2}})},
      {"gather(0)", "a position that repeats counts once",
       [](In x, T, T dy) {
         const Tensor zero = zeros_like(x[0]);
         const Tensor times = scatter_add(zero, 0, x[1], full_like(dy, 1));
         return Tensors{scatter_add(zero, 0, x[1], dy) / maximum(times, 1), {}};
       }},
      {"embedding", "a row that repeats gets its gradient once",
       [](In x, T y, T dy) {
         const Tensor times = sum(one_hot(reshape(x[1], {-1}), x[0].size(0)), 0);
         const Tensor right = gradients_of(row_of("embedding").f)(x, y, dy)[0];
         return Tensors{right / unsqueeze(to(maximum(times, 1), f64), 1), {}};
       }},
      {"sort", "left in sorted order", [](In, T, T dy) { return Tensors{dy}; }},
  };
}

std::vector<Mutant> image_mutants() {
  return {
      {"conv2d(padding=1)", "the filter turned round",
       [](In x, T, T dy) {
         const Conv2dOptions same{.padding = 1};
         return Tensors{conv2d_input_gradient(x[0].shape(), dy, flip(x[1], {2, 3}), same),
                        conv2d_weight_gradient(x[0], x[1].shape(), dy, same)};
       }},
      {"conv2d", "the weight gets the mean over the batch",
       [](In x, T, T dy) {
         return Tensors{conv2d_input_gradient(x[0].shape(), dy, x[1]),
                        conv2d_weight_gradient(x[0], x[1].shape(), dy) / 2};
       },
       one_case({{2, 1, 4, 3}, {2, 1, 3, 2}})},
      {"max_pool2d(2)", "to every element of the window",
       [](In x, T, T dy) { return Tensors{avg_pool2d_gradient(x[0].shape(), dy, 2) * 4}; },
       one_case({{1, 1, 4, 6}})},
      {"avg_pool2d((1, 2), padding not counted)", "divided by the padding, too",
       [](In x, T, T dy) {
         return Tensors{
             avg_pool2d_gradient(x[0].shape(), dy, {1, 2}, {.stride = 1, .padding = {0, 1}})};
       }},
      {"batch_norm(training)", "the statistics taken for constants",
       [](In x, T, T dy) {
         const Tensor mu = mean(x[0], 0), var = labgrad::var(x[0], 0, {.correction = 0});
         const Tensor h = batch_norm(x[0], mu, var);
         return Tensors{dy * x[1] * rsqrt(var + 1e-5), sum(dy * h, 0), sum(dy, 0)};
       },
       one_case({{5, 3}, {3}, {3}})},
  };
}

}  // namespace

std::vector<Mutant> mutants() {
  std::vector<Mutant> all;
  for (const auto& family : {elementwise_mutants(), reduction_mutants(), layer_norm_mutants(),
                             loss_mutants(), shape_mutants(), image_mutants()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

OpSample mutated(const Mutant& mutant) {
  OpSample row = row_of(mutant.label);
  row.f = with_gradients(row.f, mutant.wrong);
  if (!mutant.cases.empty()) row.cases = mutant.cases;
  return row;
}

}  // namespace labgrad::tests
