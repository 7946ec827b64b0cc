// Section 2: the error of a central difference against its step, in f64 and in f32.

#include <cmath>
#include <limits>

#include "engine/engine.h"
#include "engine/gradcheck.h"
#include "labs/autograd/sections.h"
#include "labs/common/plot.h"

namespace labgrad::labs::autograd {
namespace {

// Root mean square of the relative error of (eˣ⁺ʰ - eˣ⁻ʰ) / 2h over many x: eˣ is its own
// derivative, and its third one. All values are computed in x's dtype.
double error_of(const Tensor& x, double h) {
  const Tensor quotient = (exp(x + h) - exp(x - h)) / (2 * h);
  const Tensor relative = to(quotient, f64) / exp(to(x, f64)) - 1;
  return std::sqrt(mean(square(relative)).item());
}

struct Curve {
  std::string name;
  double u;  // half the distance from 1 to the next number: the largest relative rounding error
  std::vector<double> h = {}, error = {};

  std::size_t best() const {
    return static_cast<std::size_t>(std::min_element(error.begin(), error.end()) - error.begin());
  }
  // Smallest of h²/6 + u/h: where its derivative h/3 - u/h² is 0.
  double best_in_theory() const { return std::cbrt(3 * u); }
  double theory(double step) const { return step * step / 6 + u / step; }
  double at(double step) const {
    std::size_t nearest = 0;
    for (std::size_t i = 0; i < h.size(); ++i)
      if (std::abs(std::log(h[i] / step)) < std::abs(std::log(h[nearest] / step))) nearest = i;
    return error[nearest];
  }
  // The slope of the curve between two steps, both axes logarithmic.
  double slope(double from, double to) const {
    return std::log(at(to) / at(from)) / std::log(to / from);
  }
};

Curve measure(const Tensor& points, DType dtype, const std::string& name, double u) {
  Curve curve{.name = name, .u = u};
  const Tensor x = labgrad::to(points, dtype);
  constexpr int per_decade = 4;
  for (int k = per_decade; k <= 12 * per_decade; ++k) {
    const double h = std::pow(10.0, -static_cast<double>(k) / per_decade);
    curve.h.push_back(h);
    curve.error.push_back(error_of(x, h));
  }
  return curve;
}

void print(Lab& lab, const Curve& f64_curve, const Curve& f32_curve) {
  Table table({{"h", ".0e"},
               {"truncation h²/6", ".1e"},
               {"f64 rounding u/h", ".1e"},
               {"f64 error", ".1e"},
               {"f32 rounding u/h", ".1e"},
               {"f32 error", ".1e"}});
  for (int k = 1; k <= 12; ++k) {
    const double h = std::pow(10.0, -k);
    table.row(h, h * h / 6, f64_curve.u / h, f64_curve.at(h), f32_curve.u / h, f32_curve.at(h));
  }
  lab.table(table);
  Plot plot{.title = "Error of the central difference of eˣ",
            .x = {.label = "step h", .log = true},
            .y = {.label = "relative error", .log = true, .min = 1e-12, .max = 10}};
  for (const Curve* curve : {&f64_curve, &f32_curve}) {
    plot.series.push_back(
        {.name = curve->name, .x = curve->h, .y = curve->error, .style = Style::line_and_points});
    Series theory{.name = curve->name + ", h²/6 + u/h", .x = curve->h, .dashed = true};
    for (const double h : curve->h) theory.y.push_back(curve->theory(h));
    plot.series.push_back(std::move(theory));
  }
  lab.picture("finite_differences",
              "The V. On its right flank the step is too long, on its left flank rounding eats "
              "what is left of the difference.",
              draw_plot(plot));
}

// Large arguments: a step that is right for 1 is too short for 10⁶.
void scaled_step(Lab& lab) {
  const double step = GradcheckOptions{}.step;
  const Tensor x = linspace(1e6, 2e6, 101, {.dtype = f64});
  const auto error = [&](const Tensor& h) {
    const Tensor quotient = (log(x + h) - log(x - h)) / (2 * h);
    return std::sqrt(mean(square(quotient * x - 1)).item());
  };
  const double fixed = error(full_like(x, step)), scaled = error(step * x);
  Table table({{"derivative of ln x, x from 10⁶ to 2·10⁶"}, {"relative error", ".1e"}});
  table.row(fmt::format("h = {:.0e}", step), fixed)
      .row(fmt::format("h = {:.0e} |x|", step), scaled);
  lab.table(table);
  lab.check_greater("scaled with x the step is better by this factor", fixed / scaled, 100);
}

void which_to_use(Lab& lab, const Curve& f64_curve, const Curve& f32_curve) {
  const double step = GradcheckOptions{}.step;
  lab.say(
      "The tests of the engine take f64 and h = {:.0e}, near the bottom of the V: there the error "
      "is {:.0e}, and they accept a relative difference of {:.0e}. A gradient that is wrong by one "
      "part in a thousand stands out by far. In f32 the same step has an error of {:.0e}, larger "
      "than such a mistake; even the best step leaves {:.0e}, and that is the error of a smooth "
      "function at a good point.",
      step, f64_curve.at(step), GradcheckOptions{}.rtol, f32_curve.at(step),
      f32_curve.error[f32_curve.best()]);
  lab.check_less("error in f64 at the step that the tests use", f64_curve.at(step),
                 GradcheckOptions{}.rtol / 100);
  lab.check_greater("error in f32 at that step: a fault of 1/1000 would hide in it",
                    f32_curve.at(step), 1e-3);
  lab.say(
      "The step has to fit the size of x: near 10⁶ neighbouring numbers lie further apart than "
      "near 1, and the function changes more slowly. The tests choose their inputs between -2 and "
      "2, so that h can stay as it is; elsewhere scale it with |x|.");
  scaled_step(lab);
}

}  // namespace

void finite_differences(Lab& lab) {
  lab.equation("", "f'(x) = (f(x + h) - f(x - h)) / 2h - h²/6 f'''(x) - ...");
  lab.say(
      "To check a gradient one needs a second way to it. The central difference is one: it needs "
      "nothing but the function. Its formula is exact for h → 0; the term left out, h²/6 f''', is "
      "the truncation error. But a computer rounds: f(x + h) and f(x - h) each carry a relative "
      "error of up to u (f64: 2⁻⁵³, f32: 2⁻²⁴), their difference keeps that error and gets small, "
      "and dividing by 2h blows it up to about u/h.");
  const auto prediction =
      lab.predict("In f64, which step gives the smallest error?",
                  {"h = 1e-2", "h = 1e-5", "h = 1e-8", "h = 1e-12: the smaller the better"});

  const Tensor points = linspace(0.5, 1.5, 501, {.dtype = f64});
  const Curve f64_curve = measure(points, f64, "f64", std::numeric_limits<double>::epsilon() / 2);
  const Curve f32_curve =
      measure(points, f32, "f32", double{std::numeric_limits<float>::epsilon()} / 2);
  const double steps[] = {1e-2, 1e-5, 1e-8, 1e-12};
  lab.reveal(prediction,
             static_cast<std::size_t>(std::min_element(std::begin(steps), std::end(steps),
                                                       [&](double a, double b) {
                                                         return f64_curve.at(a) < f64_curve.at(b);
                                                       }) -
                                      std::begin(steps)));
  lab.say(
      "Measured on f(x) = eˣ, which is its own derivative, at {} points between {} and {}; the "
      "error is relative, its root mean square over the points.",
      points.numel(), points.at({0}), points.at({points.numel() - 1}));
  print(lab, f64_curve, f32_curve);

  lab.say(
      "The sum h²/6 + u/h is smallest where its slope h/3 - u/h² is 0, at h = (3u)^(1/3): "
      "{:.1e} in f64, {:.1e} in f32. What is left there is about (3u)^(2/3)/2. So a difference "
      "quotient gives two thirds of the digits that the numbers have, and never more.",
      f64_curve.best_in_theory(), f32_curve.best_in_theory());
  for (const Curve* curve : {&f64_curve, &f32_curve}) {
    const double best = curve->h[curve->best()], theory = curve->best_in_theory();
    lab.check_between(curve->name + ": the best step, times that of the theory", best / theory, 0.2,
                      3);
    lab.check_between(curve->name + ": the smallest error, times that of the theory",
                      curve->error[curve->best()] / curve->theory(theory), 0.1, 3);
  }
  lab.check_close("f64, right flank: the error goes as h to the power", f64_curve.slope(1e-3, 1e-1),
                  2, 0.05);
  lab.check_close("f64, left flank: the error goes as h to the power", f64_curve.slope(1e-10, 1e-7),
                  -1, 0.15);
  which_to_use(lab, f64_curve, f32_curve);
}

}  // namespace labgrad::labs::autograd
