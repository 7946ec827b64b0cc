#include "engine/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "engine/autograd.h"
#include "engine/backward.h"
#include "engine/create.h"
#include "engine/finite_difference.h"
#include "engine/philox.h"

namespace labgrad {
namespace {

using detail::flat;
using detail::FlatFunction;
using detail::Numbers;
using detail::Slope;

std::string text(double v, int digits = 9) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.*g", digits, v);
  return buffer;
}

bool same_bits(const Numbers& a, const Numbers& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

// Equal but for rounding: with and without a graph an op may run different kernels.
bool same_but_for_rounding(const Numbers& a, const Numbers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double u, double v) {
    return u == v || (std::isnan(u) && std::isnan(v)) ||
           std::abs(u - v) <= 1e-9 * (1 + std::abs(u));
  });
}

// One comparison.
struct Verdict {
  double off, allowed;
  bool good;
  // How far beyond the allowed, for finding the worst; NaN is as bad as can be.
  double excess() const { return std::isfinite(off) ? off / allowed : HUGE_VAL; }
};

class Check {
 public:
  Check(std::string call, FlatFunction& f, const GradcheckOptions& options)
      : call_(std::move(call)), f_(f), options_(options) {}
  GradcheckReport run();

 private:
  void check_jacobian();
  void check_direction();
  void name_worst(const Numbers& u, const Numbers& gradient);
  void check_linear(const std::vector<Numbers>& rows);
  void check_zero_cotangent();
  void check_repetition();
  void check_alone();

  // A number in ±[0.5, 1.5): never so small that it would hide what it multiplies.
  double draw() {
    const double v = 2 * philox_uniform(options_.seed, position_++) - 1;
    return v + (v < 0 ? -0.5 : 0.5);
  }
  Tensors random_cotangents();
  Verdict judge(double analytic, const Slope& numeric) const;
  // The slope of Σ u·f between two results; differences are summed, since they are small and so
  // are their rounding errors.
  Slope slope(const Numbers& u, const Numbers& plus, const Numbers& minus) const;
  bool sizes_hold(const Numbers& plus, const Numbers& minus);
  void complain(const std::string& what) {
    if (report_.message.empty()) report_.message = call_ + ": " + what;
  }
  void complain(const std::string& where, double analytic, const Slope& numeric, const Verdict& v) {
    complain(where + ": analytic " + text(analytic) + ", numeric " + text(numeric.central) +
             " (off by " + text(v.off, 3) + ", allowed " + text(v.allowed, 3) + ")");
  }

  std::string call_;
  FlatFunction& f_;
  GradcheckOptions options_;
  std::uint64_t position_ = 0;
  GradcheckReport report_;
};

GradcheckReport Check::run() {
  if (!same_but_for_rounding(f_.again(), f_.at())) {
    complain("called twice, it returns different values; give random ops a fixed seed");
    return report_;
  }
  if (f_.variables() * f_.results() <= options_.full_limit)
    check_jacobian();
  else
    for (int direction = 0; direction < 3; ++direction) check_direction();
  check_zero_cotangent();
  check_repetition();
  check_alone();
  return report_;
}

Verdict Check::judge(double analytic, const Slope& numeric) const {
  const double off = std::abs(analytic - numeric.central);
  const double allowed = options_.atol + options_.rtol * std::abs(numeric.central);
  bool good = off <= allowed;
  if (!good && options_.kinks)
    good = analytic >= std::min(numeric.left, numeric.right) - allowed &&
           analytic <= std::max(numeric.left, numeric.right) + allowed;
  return {off, allowed, good};
}

Slope Check::slope(const Numbers& u, const Numbers& plus, const Numbers& minus) const {
  double both = 0, left = 0, right = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    both += u[i] * (plus[i] - minus[i]);
    left += u[i] * (f_.at()[i] - minus[i]);
    right += u[i] * (plus[i] - f_.at()[i]);
  }
  return {both / (2 * options_.step), left / options_.step, right / options_.step};
}

bool Check::sizes_hold(const Numbers& plus, const Numbers& minus) {
  if (plus.size() == f_.at().size() && minus.size() == f_.at().size()) return true;
  complain("the output's size changes with the input's values");
  return false;
}

// Every entry: a column costs two evaluations, a row one backward pass.
void Check::check_jacobian() {
  std::vector<Numbers> rows;
  for (std::size_t m = 0; m < f_.outputs().size(); ++m) {
    const Tensor& y = f_.outputs()[m];
    Numbers one_hot(static_cast<std::size_t>(y.numel()));
    for (double& e : one_hot) {
      e = 1;
      Tensors cotangents(f_.outputs().size());
      cotangents[m] = from_values(one_hot, y.shape(), {.device = y.device()});
      rows.push_back(flat(f_.analytic(cotangents)));
      e = 0;
    }
  }

  const double h = options_.step;
  double worst = 0;
  std::size_t j = 0;
  for (std::size_t k : f_.wanted()) {
    double largest = 0, largest_off = 0;
    for (std::int64_t e = 0; e < f_.inputs()[k].numel(); ++e, ++j) {
      const Numbers plus = f_.moved(j, h), minus = f_.moved(j, -h);
      if (!sizes_hold(plus, minus)) return;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double at = f_.at()[i];
        const Slope numeric{(plus[i] - minus[i]) / (2 * h), (at - minus[i]) / h,
                            (plus[i] - at) / h};
        const Verdict v = judge(rows[i][j], numeric);
        ++report_.compared;
        largest = std::max(largest, std::abs(numeric.central));
        // Between the slopes of a kink the central difference is no measure of the error.
        if (v.off <= v.allowed || !v.good)
          largest_off = std::max(largest_off, std::isnan(v.off) ? HUGE_VAL : v.off);
        if (v.good || !(v.excess() > worst)) continue;
        worst = v.excess();
        report_.message.clear();
        complain(f_.variable(j) + ", by " + f_.result(i), rows[i][j], numeric, v);
      }
    }
    const double relative = largest > 0 ? largest_off / largest : largest_off;
    report_.relative_error = std::max(report_.relative_error, relative);
  }
  if (report_.ok()) check_linear(rows);
}

// The gradient of a random cotangent is that sum of the rows: a rule can be right for each
// cotangent with a single 1 and still not be linear.
void Check::check_linear(const std::vector<Numbers>& rows) {
  const Tensors cotangents = random_cotangents();
  const Numbers u = flat(cotangents), gradient = flat(f_.analytic(cotangents));
  for (std::size_t j = 0; j < gradient.size(); ++j) {
    double expected = 0, allowed = options_.atol;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      expected += u[i] * rows[i][j];
      allowed += options_.rtol * std::abs(u[i] * rows[i][j]);
    }
    if (std::abs(gradient[j] - expected) <= allowed) continue;
    return complain(f_.variable(j) + ": for a random cotangent analytic " + text(gradient[j]) +
                    ", while the gradients of its elements, numeric as well, add up to " +
                    text(expected));
  }
}

// uᵀJv from both sides, for a Jacobian that is too large to be seen entry by entry.
void Check::check_direction() {
  if (!report_.ok()) return;
  const Tensors cotangents = random_cotangents();
  const Numbers u = flat(cotangents), gradient = flat(f_.analytic(cotangents));
  Numbers v(gradient.size());
  for (double& e : v) e = draw();
  const Numbers plus = f_.moved(v, options_.step), minus = f_.moved(v, -options_.step);
  if (!sizes_hold(plus, minus)) return;
  double analytic = 0;
  for (std::size_t j = 0; j < v.size(); ++j) analytic += v[j] * gradient[j];
  const Slope numeric = slope(u, plus, minus);
  const Verdict verdict = judge(analytic, numeric);
  ++report_.compared;
  const double off = std::isnan(verdict.off) ? HUGE_VAL : verdict.off;
  report_.relative_error =
      std::max(report_.relative_error, off / std::max(1.0, std::abs(numeric.central)));
  if (verdict.good) return;
  name_worst(u, gradient);
  complain("along a random direction", analytic, numeric, verdict);
}

// After a direction has failed: a few hundred variables one by one, to name the worst of them.
void Check::name_worst(const Numbers& u, const Numbers& gradient) {
  const std::size_t stride = std::max<std::size_t>(1, gradient.size() / 256);
  double worst = 0;
  for (std::size_t j = 0; j < gradient.size(); j += stride) {
    const Slope numeric = slope(u, f_.moved(j, options_.step), f_.moved(j, -options_.step));
    const Verdict v = judge(gradient[j], numeric);
    if (v.good || !(v.excess() > worst)) continue;
    worst = v.excess();
    report_.message.clear();
    complain(f_.variable(j) + ", for a random cotangent", gradient[j], numeric, v);
  }
}

void Check::check_zero_cotangent() {
  Tensors zeros;
  for (const Tensor& y : f_.outputs()) zeros.push_back(zeros_like(y));
  const Numbers gradient = flat(f_.analytic(zeros));
  for (std::size_t j = 0; j < gradient.size(); ++j)
    if (!(gradient[j] == 0))
      return complain(f_.variable(j) + ": for a cotangent of zeros analytic " + text(gradient[j]) +
                      ", not 0");
}

void Check::check_repetition() {
  const Tensors u = random_cotangents();
  if (!same_bits(flat(f_.analytic(u)), flat(f_.analytic(u))))
    complain("a second backward pass over the same graph gives other gradients");
}

// What an input gets does not depend on whether others ask.
void Check::check_alone() {
  const Tensors u = random_cotangents();
  const Tensors together = f_.analytic(u);
  for (std::size_t i = 0; i < together.size(); ++i) {
    const std::size_t k = f_.wanted()[i];
    if (!same_bits(f_.analytic_alone(k, u).to_vector(), together[i].to_vector()))
      complain("the gradient by " + f_.input_names[k] +
               " differs when that is the only input that needs one");
  }
}

Tensors Check::random_cotangents() {
  Tensors us;
  for (const Tensor& y : f_.outputs()) {
    Numbers u(static_cast<std::size_t>(y.numel()));
    for (double& e : u) e = draw();
    us.push_back(from_values(u, y.shape(), {.device = y.device()}));
  }
  return us;
}

// ---- second order ----

// (x, u) -> uᵀ df/dx. Recorded if the caller is recording, so that it can be differentiated; the
// numeric side calls it without, and so also sees the kernels that are used only then.
Tensors first_gradients(const TensorFunction& f, std::size_t inputs, const Tensors& xu) {
  const bool recorded = grad_enabled();
  EnableGrad enable;
  Tensors xs(xu.begin(), xu.begin() + static_cast<std::ptrdiff_t>(inputs)), wanted, ys;
  for (Tensor& x : xs) {
    if (!is_floating(x.dtype())) continue;
    if (!recorded || !x.requires_grad()) x = x.detach().requires_grad_();
    wanted.push_back(x);
  }
  for (const Tensor& y : f(xs))
    if (y.requires_grad()) ys.push_back(y);
  const Tensors us(xu.begin() + static_cast<std::ptrdiff_t>(inputs), xu.end());
  Tensors gradients(wanted.size());
  if (!ys.empty())
    gradients = grad(ys, wanted, us, {.create_graph = recorded, .allow_unused = true});
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!gradients[i].defined()) gradients[i] = zeros_like(wanted[i]);
  return gradients;
}

std::string named(const char* check, const GradcheckOptions& options) {
  return std::string(check) + " of '" + options.op + "'";
}

}  // namespace

GradcheckReport check_gradients(const TensorFunction& f, const Tensors& inputs,
                                GradcheckOptions options) {
  const std::string call = named("gradcheck", options);
  FlatFunction flat_f(call, f, inputs);
  return Check(call, flat_f, options).run();
}

GradcheckReport check_second_gradients(const TensorFunction& f, const Tensors& inputs,
                                       GradcheckOptions options) {
  const std::string call = named("gradgradcheck", options);
  Tensors xu = inputs;
  std::vector<std::string> input_names, output_names;
  {
    const FlatFunction first(call, f, inputs);
    input_names = first.input_names;
    for (std::size_t k : first.wanted())
      output_names.push_back("the gradient by " + input_names[k]);
    std::uint64_t position = std::uint64_t{1} << 32;  // apart from the numbers of Check
    for (std::size_t m = 0; m < first.outputs().size(); ++m) {
      const Tensor& y = first.outputs()[m];
      if (!y.requires_grad()) continue;
      Numbers u(static_cast<std::size_t>(y.numel()));
      for (double& e : u) e = 4 * philox_uniform(options.seed, position++) - 2;
      xu.push_back(from_values(u, y.shape(), {.device = y.device()}));
      input_names.push_back("cotangent " + std::to_string(m));
    }
  }
  const TensorFunction g = [&](const Tensors& x) { return first_gradients(f, inputs.size(), x); };
  FlatFunction flat_g(call, g, xu);
  flat_g.input_names = input_names;
  flat_g.output_names = output_names;
  return Check(call, flat_g, options).run();
}

GradcheckReport gradcheck(const TensorFunction& f, const Tensors& inputs,
                          GradcheckOptions options) {
  GradcheckReport report = check_gradients(f, inputs, std::move(options));
  if (!report.ok()) fail(report.message);
  return report;
}

GradcheckReport gradgradcheck(const TensorFunction& f, const Tensors& inputs,
                              GradcheckOptions options) {
  GradcheckReport report = check_second_gradients(f, inputs, std::move(options));
  if (!report.ok()) fail(report.message);
  return report;
}

}  // namespace labgrad
