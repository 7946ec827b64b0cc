// Part 0: recurrent networks against their equations, step by step, and what is wrong with them.

#include <chrono>
#include <cmath>

#include "engine/engine.h"
#include "labs/common/plot.h"
#include "labs/translation/sections.h"
#include "nn/linear.h"
#include "nn/recurrent.h"

namespace labgrad::labs::translation {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

// W x + b of gate g, in loops; W holds the gates one below the other.
Row affine(const Tensor& W, const Tensor& b, const Row& x, std::int64_t g, std::int64_t H) {
  Row y;
  for (std::int64_t i = g * H; i < (g + 1) * H; ++i) {
    double total = b.at({i});
    for (std::size_t j = 0; j < x.size(); ++j)
      total += W.at({i, static_cast<std::int64_t>(j)}) * x[j];
    y.push_back(total);
  }
  return y;
}

struct State {
  Row h, c;
};

// Of each gate: a = W_ih x + b_ih and u = W_hh h + b_hh.
struct Products {
  Rows a, u;
};
Products products(const Row& x, const State& s, const nn::GateWeights& w, std::int64_t gates) {
  const auto H = static_cast<std::int64_t>(s.h.size());
  Products p;
  for (std::int64_t g = 0; g < gates; ++g) {
    p.a.push_back(affine(w.weight_ih, w.bias_ih, x, g, H));
    p.u.push_back(affine(w.weight_hh, w.bias_hh, s.h, g, H));
  }
  return p;
}

State rnn(const Row& x, const State& s, const nn::GateWeights& w) {
  const auto [a, u] = products(x, s, w, 1);
  State next = s;
  for (std::size_t i = 0; i < s.h.size(); ++i) next.h[i] = std::tanh(a[0][i] + u[0][i]);
  return next;
}

State lstm(const Row& x, const State& s, const nn::GateWeights& w) {
  const auto [a, u] = products(x, s, w, 4);
  State next = s;
  for (std::size_t k = 0; k < s.h.size(); ++k) {
    const double i = sigma(a[0][k] + u[0][k]), f = sigma(a[1][k] + u[1][k]);
    const double g = std::tanh(a[2][k] + u[2][k]), o = sigma(a[3][k] + u[3][k]);
    next.c[k] = f * s.c[k] + i * g;
    next.h[k] = o * std::tanh(next.c[k]);
  }
  return next;
}

State gru(const Row& x, const State& s, const nn::GateWeights& w) {
  const auto [a, u] = products(x, s, w, 3);
  State next = s;
  for (std::size_t k = 0; k < s.h.size(); ++k) {
    const double r = sigma(a[0][k] + u[0][k]), z = sigma(a[1][k] + u[1][k]);
    const double n = std::tanh(a[2][k] + r * u[2][k]);
    next.h[k] = (1 - z) * n + z * s.h[k];
  }
  return next;
}

using Step = State (*)(const Row&, const State&, const nn::GateWeights&);

// All layers and directions of a module, from states of zero: the last layer's outputs.
Rows by_equations(const nn::Recurrent& module, Rows x, std::size_t H, Step step) {
  const std::size_t D = module.options.bidirectional ? 2 : 1;
  for (std::size_t layer = 0; layer * D < module.weights.size(); ++layer) {
    Rows out(x.size());
    for (std::size_t d = 0; d < D; ++d) {
      State s{Row(H), Row(H)};
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t t = d == 0 ? i : x.size() - 1 - i;
        s = step(x[t], s, module.weights[layer * D + d]);
        out[t].insert(out[t].end(), s.h.begin(), s.h.end());
      }
    }
    x = out;
  }
  return x;
}

Rows rows_of(const Tensor& x) {  // (T, 1, width)
  Rows rows;
  for (const Tensor& row : unbind(x, 0)) rows.push_back(row.to_vector());
  return rows;
}

double largest_difference(const Rows& a, const Rows& b) {
  double largest = 0;
  for (std::size_t t = 0; t < a.size(); ++t)
    for (std::size_t i = 0; i < a[t].size(); ++i)
      largest = std::max(largest, std::abs(a[t][i] - b[t][i]));
  return largest;
}

constexpr std::int64_t I = 5, H = 6, T = 12;

template <class Module>
void against_equations(Lab& lab, Table& table, const std::string& name, Step step) {
  double worst = 0;
  for (const nn::RecurrentOptions& options :
       {nn::RecurrentOptions{}, nn::RecurrentOptions{.layers = 2},
        nn::RecurrentOptions{.layers = 2, .bidirectional = true}}) {
    Module module(I, H, options);
    module.to(f64);
    const Tensor x = randn({T, 1, I}, {.dtype = f64});
    NoGrad no_grad;
    const double difference =
        largest_difference(rows_of(module.forward(x).out),
                           by_equations(module, rows_of(x), static_cast<std::size_t>(H), step));
    table.row(name, options.layers, options.bidirectional ? "both" : "one",
              module.parameter_count(), difference);
    worst = std::max(worst, difference);
  }
  lab.check_less(name + ": largest difference from the equations", worst, 1e-12);
}

void modules(Lab& lab) {
  lab.say(
      "A recurrent network reads a sequence x_1 .. x_T and carries a state h along. The plain one, "
      "and what it puts out:");
  lab.equation("rnn.1", "h' = tanh(W_ih x + b_ih + W_hh h + b_hh)");
  lab.equation("", "y = φ(W_hy h' + b_y)");
  lab.say("The LSTM keeps a second state c that gates write, forget and read:");
  lab.equation("lstm.1", "i = σ(W_ii x + b_ii + W_hi h + b_hi)");
  lab.equation("lstm.2", "f = σ(W_if x + b_if + W_hf h + b_hf)");
  lab.equation("lstm.3", "g = tanh(W_ig x + b_ig + W_hg h + b_hg)");
  lab.equation("lstm.4", "o = σ(W_io x + b_io + W_ho h + b_ho)");
  lab.equation("lstm.5", "c' = f ⊙ c + i ⊙ g");
  lab.equation("lstm.6", "h' = o ⊙ tanh(c')");
  lab.say(
      "The GRU has one state and two gates: r says how much of the old state the candidate n sees, "
      "z how much of it stays.");
  lab.equation("gru.1", "r = σ(W_ir x + b_ir + W_hr h + b_hr)");
  lab.equation("gru.2", "z = σ(W_iz x + b_iz + W_hz h + b_hz)");
  lab.equation("gru.3", "n = tanh(W_in x + b_in + r ⊙ (W_hn h + b_hn))");
  lab.equation("gru.5", "h' = (1 - z) ⊙ n + z ⊙ h");
  lab.say(
      "A second layer reads the states of the first; a second direction reads from the end. The "
      "modules against these equations, evaluated number by number in plain loops, on {} steps "
      "of width {} with H = {}, in double precision:",
      T, I, H);
  Table table({{"module"},
               {"layers", "d"},
               {"directions"},
               {"parameters", "d"},
               {"largest difference", ".1e"}});
  against_equations<nn::RNN>(lab, table, "RNN", rnn);
  against_equations<nn::LSTM>(lab, table, "LSTM", lstm);
  against_equations<nn::GRU>(lab, table, "GRU", gru);
  lab.table(table);

  // The output of the plain network, from its last state.
  nn::RNN plain(I, H);
  nn::Linear out(H, 3);
  const Tensor x = randn({T, 1, I});
  const Tensor y = sigmoid(out(plain.forward(x).out));
  lab.check("y of every step, with φ = σ", y.shape().str(), "= (12, 1, 3)",
            y.shape() == Shape{T, 1, 3});

  nn::GRU two(I, H, {.layers = 2, .dropout = 0.5});
  const Tensor once = two.forward(x).out, again = two.forward(x).out;
  lab.check_greater("dropout between two layers: training differs from run to run",
                    max(abs(once - again)).item(), 0);
  const nn::Evaluating evaluating(two);
  lab.check_equal("in evaluation it does not (numbers that differ)",
                  sum(two.forward(x).out != two.forward(x).out).item<std::int64_t>(), 0);
}

// ‖dh_T/dx_1‖ for a random direction of h_T, in the mean over `draws` networks.
template <class Module>
double reach(std::int64_t distance) {
  constexpr int draws = 4;
  constexpr std::int64_t width = 64;
  double total = 0;
  for (int i = 0; i < draws; ++i) {
    Module module(width, width);
    module.to(f64);
    const Tensor x = randn({distance + 1, 1, width}, {.dtype = f64, .requires_grad = true});
    const Tensor last = module.forward(x).h;
    const Tensor dx = grad(last, x, randn(last.shape(), {.dtype = f64}));
    total += norm(select(dx, 0, 0)).item() / draws;
  }
  return total;
}

double step_seconds(nn::GRU& layer, std::int64_t steps) {
  const Tensor x = randn({steps, 16, 64}, {.requires_grad = true});
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    sum(layer.forward(x).out).backward();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

void drawbacks(Lab& lab) {
  lab.say(
      "The tutorial says that recurrent networks have major drawbacks. The first: what happened "
      "long ago is hard to learn from, because the gradient must pass every step on its way back. "
      "The norm of the last state's gradient by an input some steps before, H = 64, as "
      "initialised, mean of 4 networks:");
  const auto prediction = lab.predict(
      "How many steps back must an input lie until the plain network's gradient by it has fallen "
      "below a hundredth?",
      {"2 to 4", "8 to 16", "32 or more"});
  Table table({{"steps back", "d"}, {"RNN", ".2e"}, {"LSTM", ".2e"}, {"GRU", ".2e"}});
  std::vector<Series> curves;
  for (const char* name : {"RNN", "LSTM", "GRU"})
    curves.push_back({.name = name, .style = Style::line_and_points});
  const std::vector<std::int64_t> distances = {1, 2, 4, 8, 16, 32, 64};
  for (const std::int64_t d : distances) {
    const std::vector<double> norms = {reach<nn::RNN>(d), reach<nn::LSTM>(d), reach<nn::GRU>(d)};
    table.row(d, norms[0], norms[1], norms[2]);
    for (std::size_t i = 0; i < 3; ++i) {
      curves[i].x.push_back(static_cast<double>(d));
      curves[i].y.push_back(norms[i]);
    }
  }
  const auto below = std::find_if(curves[0].y.begin(), curves[0].y.end(),
                                  [&](double norm) { return norm < curves[0].y.front() / 100; });
  const std::int64_t at = distances[std::min(
      distances.size() - 1, static_cast<std::size_t>(below - curves[0].y.begin()))];
  lab.reveal(prediction, static_cast<std::size_t>(at <= 4 ? 0 : at <= 16 ? 1 : 2));
  lab.table(table);
  lab.picture("gradient_by_distance", "What is left of the gradient some steps back.",
              draw_plot({.title = "Gradient of the last state by an earlier input",
                         .x = {.label = "steps back", .log = true},
                         .y = {.label = "norm", .log = true},
                         .series = curves}));
  const auto left = [](const Series& s) { return s.y.back() / s.y.front(); };
  for (const Series& s : curves)
    lab.check_less(s.name + ": share of the gradient left after 64 steps", left(s), 1e-3);
  lab.check_greater("the GRU's gate z lets more through than the plain network (factor)",
                    left(curves[2]) / left(curves[0]), 10);
  lab.say(
      "All three lose a factor at every step. The gates make it a smaller one: where z is near 1 "
      "the state is handed on as it is, and so is its gradient, and training can open a gate. That "
      "is why the models below are made of GRUs.");

  nn::GRU layer(64, 64);
  Table time({{"steps", "d"}, {"milliseconds", ".2f"}, {"a step, microseconds", ".1f"}});
  for (const std::int64_t steps : {8, 32, 128}) {
    const double s = step_seconds(layer, steps);
    time.row(steps, 1e3 * s, 1e6 * s / static_cast<double>(steps));
  }
  lab.say(
      "The second: step t waits for step t - 1. Forward and backward of one GRU of width 64 on 16 "
      "sequences; the time is a sum over the steps however many processors there are.");
  lab.table(time);
  lab.say(
      "The third is what the rest of this lab is about: a whole sentence has to fit into one state "
      "of fixed width.");
}

}  // namespace

void recurrent(Lab& lab) {
  modules(lab);
  drawbacks(lab);
}

}  // namespace labgrad::labs::translation
