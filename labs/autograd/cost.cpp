// Section 7: what the graph costs, in time and in bytes.

#include "labs/autograd/cost.h"

#include <algorithm>
#include <functional>

#include "engine/autograd.h"
#include "engine/engine.h"
#include "engine/memory.h"
#include "labs/autograd/sections.h"
#include "labs/autograd/stopwatch.h"
#include "labs/common/plot.h"

namespace labgrad::labs::autograd {

void time_of_ops(Lab& lab) {
  const double round = lab.by_budget(2e-3, 10e-3, 50e-3);
  lab.say(
      "Time. One call of an op on small f32 matrices, where the arithmetic is next to nothing and "
      "the rest shows: finding the shape, getting memory, making the node. Nanoseconds on this "
      "machine now; no check depends on them.");
  Table table({{"op"},
               {"shape"},
               {"no graph", ".0f"},
               {"with graph", ".0f"},
               {"the node", ".0f"},
               {"and backward", ".0f"}});
  const auto measure = [&](const std::string& name, const Tensor& x, const auto& op) {
    const Tensor seed = ones_like(op(x).detach());
    const double plain = nanoseconds_each(
        [&] {
          NoGrad no_grad;
          op(x);
        },
        round);
    const double graph = nanoseconds_each([&] { op(x); }, round);
    const double both = nanoseconds_each(
        [&] {
          Tensor(x).zero_grad();
          op(x).backward(seed);
        },
        round);
    // On large tensors the node is less than what one measurement differs from the next.
    if (x.numel() < 1000)
      table.row(name, x.shape().str(), plain, graph, graph - plain, both);
    else
      table.row(name, x.shape().str(), plain, graph, Cell{}, both);
  };
  for (const std::int64_t n : {8, 256}) {
    const Tensor x = randn({n, n}, {.requires_grad = true}), c = randn({n, n});
    measure("x + c", x, [&](const Tensor& a) { return a + c; });
    measure("x * c", x, [&](const Tensor& a) { return a * c; });
    measure("tanh(x)", x, [](const Tensor& a) { return tanh(a); });
    measure("sum(x)", x, [](const Tensor& a) { return sum(a); });
    measure("softmax(x, -1)", x, [](const Tensor& a) { return softmax(a, -1); });
    measure("transpose(x)", x, [](const Tensor& a) { return transpose(a); });
    measure("matmul(x, c)", x, [&](const Tensor& a) { return matmul(a, c); });
  }
  lab.table(table);

  Series plain{.name = "no graph", .style = Style::line_and_points};
  Series graph{.name = "with graph", .style = Style::line_and_points};
  for (std::int64_t n = 1; n <= 1'000'000; n *= 10) {
    const Tensor x = randn({n}, {.requires_grad = true});
    plain.x.push_back(static_cast<double>(n));
    graph.x.push_back(static_cast<double>(n));
    plain.y.push_back(nanoseconds_each(
        [&] {
          NoGrad no_grad;
          tanh(x);
        },
        round));
    graph.y.push_back(nanoseconds_each([&] { tanh(x); }, round));
  }
  lab.say(
      "The node costs the same whatever the size of the tensor, so it is lost in the arithmetic as "
      "soon as tensors are not tiny: tanh of {:.0f} element takes {:.0f} ns, of a million {:.2f} "
      "ns for each. That is why networks are computed in batches.",
      plain.x.front(), plain.y.front(), plain.y.back() / plain.x.back());
  lab.picture("time", "Time of one tanh against the number of elements.",
              draw_plot({.title = "One call of tanh",
                         .x = {.label = "elements", .log = true},
                         .y = {.label = "nanoseconds", .log = true},
                         .series = {plain, graph}}));
}

namespace {

constexpr std::int64_t links = 100, elements = 10'000;

struct Kept {
  std::int64_t nodes;
  double results;  // bytes alive, in results of one op
};

// What is alive at the end of a chain of ops, beyond what was before.
Kept kept_by(const std::function<Tensor(const Tensor&)>& op) {
  const Tensor x = rand({elements}, {.requires_grad = true});
  const std::int64_t nodes = live_nodes();
  const std::size_t bytes = memory_stats().live;
  Tensor y = x;
  for (std::int64_t i = 0; i < links; ++i) y = op(y);
  return {live_nodes() - nodes, static_cast<double>(memory_stats().live - bytes) /
                                    static_cast<double>(elements * sizeof(float))};
}

}  // namespace

void bytes_of_graph(Lab& lab) {
  lab.say(
      "Bytes. The graph keeps what the gradients will need, and each formula needs something "
      "else. Here a chain of {} equal ops on {} numbers, with y at its end; the unit is the bytes "
      "of one result.",
      links, elements);
  const auto prediction = lab.predict("Which of these chains keeps the least?",
                                      {"y = y + c", "y = tanh(y)", "y = y * y"});
  const Tensor c = rand({elements});
  Table table({{"op"}, {"gradient"}, {"it keeps"}, {"nodes", "d"}, {"results alive", ".0f"}});
  const auto row = [&](const std::string& op, const std::string& gradient, const std::string& what,
                       const Kept& kept) {
    table.row(op, gradient, what, kept.nodes, kept.results);
  };
  const std::int64_t nodes_before = live_nodes();
  const std::size_t bytes_before = memory_stats().live;
  const Kept sum = kept_by([&](const Tensor& y) { return y + c; });
  const Kept scaled = kept_by([&](const Tensor& y) { return y * c; });
  const Kept curved = kept_by([](const Tensor& y) { return tanh(y); });
  const Kept wave = kept_by([](const Tensor& y) { return sin(y); });
  const Kept squared = kept_by([](const Tensor& y) { return y * y; });
  const Kept silent = [&] {
    NoGrad no_grad;
    return kept_by([](const Tensor& y) { return tanh(y); });
  }();
  row("y + c", "dy", "nothing", sum);
  row("y * c", "dy ⊙ c", "c, the same one each time", scaled);
  row("tanh(y)", "dy ⊙ (1 - tanh²)", "its result", curved);
  row("sin(y)", "dy ⊙ cos y", "its input", wave);
  row("y * y", "dy ⊙ y, twice", "its input", squared);
  row("tanh(y), NoGrad", "none", "nothing", silent);
  const double kept[] = {sum.results, curved.results, squared.results};
  lab.reveal(prediction,
             static_cast<std::size_t>(std::min_element(std::begin(kept), std::end(kept)) -
                                      std::begin(kept)));
  lab.table(table);
  lab.check_equal("nodes of the chain of tanh", curved.nodes, links);
  lab.check_close("tanh keeps every result", curved.results, links, 0);
  lab.check_close("a sum keeps none: what is alive is y", sum.results, 1, 0);
  lab.check_equal("nodes under NoGrad", silent.nodes, 0);
  lab.check_close("results alive under NoGrad: y", silent.results, 1, 0);
  lab.check_equal(
      "bytes alive when the chains are gone, beyond those before",
      static_cast<std::int64_t>(memory_stats().live) - static_cast<std::int64_t>(bytes_before), 0);
  lab.check_equal("and nodes", live_nodes() - nodes_before, 0);
}

namespace {

struct Way {
  std::string name, keeps;
  // One step: computes the loss and keeps it.
  std::function<void(const std::function<Tensor()>& loss)> step;
  std::function<void()> forget;
  Series nodes = {};
  double nodes_a_step = 0, bytes_a_step = 0;
};

}  // namespace

void growing_losses(Lab& lab) {
  constexpr int steps = 1000;
  lab.say(
      "Memory that grows. A loop of {} steps that keeps its losses, for a curve or a mean. The "
      "loss is a tensor with a graph behind it; who keeps the tensor keeps what hangs on it.",
      steps);
  std::vector<double> numbers;
  Tensors kept;
  Tensor total;
  const auto forget_all = [&] {
    numbers.clear();
    kept.clear();
    total = {};
  };
  std::vector<Way> ways;
  ways.push_back({.name = "losses.push_back(loss.item())",
                  .keeps = "a number",
                  .step =
                      [&](const std::function<Tensor()>& loss) {
                        const Tensor l = loss();
                        l.backward();
                        numbers.push_back(l.item());
                      },
                  .forget = forget_all});
  ways.push_back({.name = "losses.push_back(loss)",
                  .keeps = "the loss and its node",
                  .step =
                      [&](const std::function<Tensor()>& loss) {
                        const Tensor l = loss();
                        l.backward();
                        kept.push_back(l);
                      },
                  .forget = forget_all});
  ways.push_back({.name = "total = total + loss",
                  .keeps = "the node, and one for the sum",
                  .step =
                      [&](const std::function<Tensor()>& loss) {
                        const Tensor l = loss();
                        l.backward();
                        total = total.defined() ? total + l : l;
                      },
                  .forget = forget_all});
  ways.push_back({.name = "the same list, without backward",
                  .keeps = "the whole graph",
                  .step = [&](const std::function<Tensor()>& loss) { kept.push_back(loss()); },
                  .forget = forget_all});
  ways.push_back({.name = "... and under NoGrad",
                  .keeps = "the loss",
                  .step =
                      [&](const std::function<Tensor()>& loss) {
                        NoGrad no_grad;
                        kept.push_back(loss());
                      },
                  .forget = forget_all});

  Plot plot{.title = "Live nodes while losses are collected",
            .x = {.label = "step"},
            .y = {.label = "nodes alive"}};
  Table table({{"each step"}, {"it keeps"}, {"nodes a step", ".2f"}, {"bytes a step", ".1f"}});
  Tensor w = rand({64}, {.requires_grad = true});
  const Tensor x = rand({64});
  for (Way& way : ways) {
    w.zero_grad();
    sum(w).backward();  // so that the gradient's own memory is there before counting
    const std::int64_t nodes = live_nodes();
    const std::size_t bytes = memory_stats().live;
    way.nodes.name = way.name;
    for (int step = 0; step < steps; ++step) {
      if (step % 100 == 0) {
        way.nodes.x.push_back(step);
        way.nodes.y.push_back(static_cast<double>(live_nodes() - nodes));
      }
      way.step([&] { return mean(square(tanh(w * x) - 0.5)); });
    }
    way.nodes.x.push_back(steps);
    way.nodes.y.push_back(static_cast<double>(live_nodes() - nodes));
    way.nodes_a_step = way.nodes.y.back() / steps;
    way.bytes_a_step = static_cast<double>(memory_stats().live - bytes) / steps;
    way.forget();
    table.row(way.name, way.keeps, way.nodes_a_step, way.bytes_a_step);
    plot.series.push_back(way.nodes);
  }
  lab.table(table);
  lab.picture("growing_losses",
              "What a list of losses holds on to; item() and NoGrad lie on the axis.",
              draw_plot(plot));
  lab.check_close("item(): nodes that stay, a step", ways[0].nodes_a_step, 0, 0);
  lab.check_close("tensors after backward: nodes that stay, a step", ways[1].nodes_a_step, 1, 0);
  lab.check_greater("a sum of losses: nodes that stay, a step", ways[2].nodes_a_step, 1.5);
  lab.check_greater("without backward: nodes that stay, a step", ways[3].nodes_a_step, 3.5);
  lab.check_close("under NoGrad: nodes that stay, a step", ways[4].nodes_a_step, 0, 0);
  lab.say(
      "What to do: keep `loss.item()`, a number. Where only values are wanted, work under NoGrad. "
      "If memory grows with the steps, print `live_nodes()` now and then: in a healthy loop it "
      "comes back to the same number after each step.");
}

void cost(Lab& lab) {
  time_of_ops(lab);
  bytes_of_graph(lab);
  growing_losses(lab);
  million_ops(lab);
}

}  // namespace labgrad::labs::autograd
