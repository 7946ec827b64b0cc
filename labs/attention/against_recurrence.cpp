// Section 7: what attention costs, and what it buys, against recurrent layers of the same width.

#include <chrono>
#include <cmath>

#include "engine/engine.h"
#include "labs/attention/sections.h"
#include "labs/common/plot.h"
#include "nn/attention.h"
#include "nn/recurrent.h"

namespace labgrad::labs::attention {
namespace {

constexpr std::int64_t width = 64, heads = 4;

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The shortest of several runs: what is left when nothing else disturbs.
double best_of(int runs, const std::function<void()>& work) {
  double best = seconds(work);
  for (int i = 1; i < runs; ++i) best = std::min(best, seconds(work));
  return best;
}

// The slope of a line through (ln T, ln time): time ~ T^slope.
double exponent(const std::vector<double>& T, const std::vector<double>& time) {
  const auto n = static_cast<double>(T.size());
  double x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < T.size(); ++i) {
    const double a = std::log(T[i]), b = std::log(time[i]);
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

void comparison(Lab& lab) {
  Table table({{"per layer, T steps of width d"}, {"RNN, LSTM, GRU"}, {"self-attention"}});
  table.row("steps between two tokens", "as many as lie between", "one")
      .row("parallel over the sequence", "no: step t needs step t - 1", "yes")
      .row("compute", "O(T d²)", "O(T² d + T d²)")
      .row("memory for backward", "O(T d)", "O(T²) a head, and O(T d)")
      .row("far dependencies", "the gradient passes every step", "a direct connection")
      .row("knows the order", "by itself", "only from position codes");
  lab.table(table);
}

void scores(Lab& lab) {
  Table table({{"T", ",d"}, {"attention scores", ",d"}, {"times those of T = 512", ",d"}});
  constexpr std::int64_t base = 512;
  for (const std::int64_t T : {512, 1024, 4096, 32768}) table.row(T, T * T, T * T / (base * base));
  lab.table(table);
  nn::MultiHeadAttention attention(width, heads);
  const std::int64_t few = attention.forward(zeros({1, 32, width})).weights.numel();
  const std::int64_t many = attention.forward(zeros({1, 128, width})).weights.numel();
  lab.check_equal("four times the tokens, this many times the scores", many / few, 16);
}

// ---- time, measured ----

struct Times {
  std::vector<double> T, forward, both;
};

Times measure(const std::vector<std::int64_t>& lengths, int runs,
              const std::function<Tensor(const Tensor&)>& layer) {
  Times times;
  for (const std::int64_t T : lengths) {
    const Tensor x = randn({1, T, width}, {.requires_grad = true});
    times.T.push_back(static_cast<double>(T));
    times.forward.push_back(best_of(runs, [&] {
      NoGrad no_grad;
      layer(x);
    }));
    times.both.push_back(best_of(runs, [&] { sum(layer(x)).backward(); }));
  }
  return times;
}

void time(Lab& lab) {
  const std::vector<std::int64_t> lengths = {64, 128, 256, 512, 1024};
  const int runs = lab.by_budget(2, 5, 9);
  nn::MultiHeadAttention attention(width, heads);
  nn::GRU gru(width, width, {.batch_first = true});
  const Times a = measure(lengths, runs, [&](const Tensor& x) { return attention.forward(x).out; });
  const Times g = measure(lengths, runs, [&](const Tensor& x) { return gru.forward(x).out; });

  lab.say(
      "One layer each of width {}, attention with {} heads, one sequence; milliseconds on this "
      "machine now, the best of {} runs.",
      width, heads, runs);
  Table table({{"T", ",d"},
               {"attention forward", ".3f"},
               {"and backward", ".3f"},
               {"GRU forward", ".3f"},
               {"and backward", ".3f"}});
  for (std::size_t i = 0; i < lengths.size(); ++i)
    table.row(lengths[i], 1e3 * a.forward[i], 1e3 * a.both[i], 1e3 * g.forward[i], 1e3 * g.both[i]);
  lab.table(table);
  const double of_attention = exponent(a.T, a.both), of_gru = exponent(g.T, g.both);
  lab.say(
      "Fitted to forward and backward, the time grows as T^{:.2f} for attention and T^{:.2f} for "
      "the "
      "GRU. Attention's exponent tends to 2 as the scores outgrow the products with W (from about "
      "T = 2d = {} on); below that it is nearer to 1. The GRU's is 1 at any length, but its steps "
      "wait for each other: each is a small product that no second core and no wide vector unit "
      "can "
      "make much shorter.",
      of_attention, of_gru, 2 * width);
  lab.picture(
      "time", "Time of one layer, forward and backward.",
      draw_plot(
          {.title = "Forward and backward through one layer",
           .x = {.label = "T", .log = true},
           .y = {.label = "seconds", .log = true},
           .series = {
               {.name = "self-attention", .x = a.T, .y = a.both, .style = Style::line_and_points},
               {.name = "GRU", .x = g.T, .y = g.both, .style = Style::line_and_points}}}));
}

// ---- path length, measured ----

// ‖d y_last / d x_first‖, in the mean over random cotangents: what the end knows of the beginning.
double reach(const std::function<Tensor(const Tensor&)>& layer, std::int64_t T) {
  const Tensor x = randn({1, T, width}, {.dtype = f64, .requires_grad = true});
  const Tensor last = select(layer(x), 1, T - 1);
  const Tensor dx = grad(last, x, randn(last.shape(), {.dtype = f64}));
  return norm(select(dx, 1, 0)).item();
}

void path(Lab& lab) {
  const auto prediction = lab.predict(
      "The gradient of the last output with respect to the first input: in which layer will it "
      "survive "
      "256 steps?",
      {"RNN", "LSTM", "GRU", "attention"});
  nn::RNN rnn(width, width, {.batch_first = true});
  nn::LSTM lstm(width, width, {.batch_first = true});
  nn::GRU gru(width, width, {.batch_first = true});
  nn::MultiHeadAttention attention(width, heads);
  // In f64: what is left after 256 steps is too small for f32.
  for (nn::Module* layer : std::initializer_list<nn::Module*>{&rnn, &lstm, &gru, &attention})
    layer->to(f64);
  const std::vector<std::pair<std::string, std::function<Tensor(const Tensor&)>>> layers = {
      {"RNN", [&](const Tensor& x) { return rnn.forward(x).out; }},
      {"LSTM", [&](const Tensor& x) { return lstm.forward(x).out; }},
      {"GRU", [&](const Tensor& x) { return gru.forward(x).out; }},
      {"attention", [&](const Tensor& x) { return attention.forward(x).out; }}};
  const std::vector<std::int64_t> lengths = {2, 8, 32, 128, 256};

  std::vector<Column> columns = {{"T", "d"}};
  std::vector<Series> curves;
  for (const auto& [name, layer] : layers) {
    columns.push_back({name, ".2e"});
    curves.push_back({.name = name, .style = Style::line_and_points});
  }
  Table table(columns, "‖d(last output)/d(first input)‖, layers as initialised");
  for (const std::int64_t T : lengths) {
    std::vector<Cell> row = {make_cell(T)};
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const double r = reach(layers[i].second, T);
      row.push_back(make_cell(r));
      curves[i].x.push_back(static_cast<double>(T));
      curves[i].y.push_back(r);
    }
    table.add_row(row);
  }
  lab.reveal(prediction, std::size_t{3});
  lab.table(table);
  lab.picture("path_length", "What is left of the gradient after T steps.",
              draw_plot({.title = "The gradient of the last output by the first input",
                         .x = {.label = "T", .log = true},
                         .y = {.label = "norm", .log = true},
                         .series = curves}));
  // An average over T keys gives each about 1/T of the gradient: from T = 2 to 256 a factor of 128,
  // up to chance. A recurrent layer loses a factor at every step.
  for (std::size_t i = 0; i < 3; ++i)
    lab.check_less(fmt::format("{}: share of the gradient left from T = 2 to 256", layers[i].first),
                   curves[i].y.back() / curves[i].y.front(), 1e-6);
  lab.check_greater("attention: share left (1/T alone would make it about 8e-3)",
                    curves[3].y.back() / curves[3].y.front(), 1e-3);
  lab.say(
      "In the recurrent layers the gradient passes {} steps and shrinks at each of them: the loss "
      "is exponential. In attention it takes one hop, and only shares out with the number of keys. "
      "This is what attention buys with its T² scores.",
      lengths.back() - 1);
}

}  // namespace

void against_recurrence(Lab& lab) {
  manual_seed(static_cast<std::uint64_t>(lab.seed()));
  comparison(lab);
  scores(lab);
  time(lab);
  path(lab);
}

}  // namespace labgrad::labs::attention
