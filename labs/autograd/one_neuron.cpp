// Section 1: y = tanh(w1 x1 + w2 x2 + b), forward and backward, beside what a pencil gives.

#include <algorithm>
#include <cmath>
#include <memory>

#include "engine/engine.h"
#include "labs/autograd/sections.h"
#include "labs/autograd/tape.h"

namespace labgrad::labs::autograd {
namespace {

// The neuron with a name for each step.
struct Neuron {
  Tensor x1, x2, w1, w2, b;
  Tensor p1, p2, s, n, y;

  Neuron(double x1_value, double x2_value, double w1_value, double w2_value, double b_value) {
    const auto leaf = [](double value) {
      return tensor(value, {.dtype = f64, .requires_grad = true});
    };
    x1 = leaf(x1_value), x2 = leaf(x2_value);
    w1 = leaf(w1_value), w2 = leaf(w2_value), b = leaf(b_value);
    p1 = w1 * x1;
    p2 = w2 * x2;
    s = p1 + p2;
    n = s + b;
    y = tanh(n);
  }

  std::vector<Named> named() const {
    return {{"x1", x1}, {"w1", w1}, {"x2", x2}, {"w2", w2}, {"b", b},
            {"p1", p1}, {"p2", p2}, {"s", s},   {"n", n},   {"y", y}};
  }
};

constexpr double x1 = 0.5, x2 = -1.5, w1 = 2.0, w2 = 0.8, b = 0.7;

void forward(Lab& lab, const Neuron& neuron, const std::vector<TapeEntry>& tape) {
  lab.say(
      "Calling the ops has computed the value, and on the way each op has left a node in a list, "
      "the tape: its name, and where its inputs came from. This is that list as the engine holds "
      "it; the leaves at its head are the five numbers we made.");
  Table table({{"name"}, {"op"}, {"inputs"}, {"formula"}, {"value", ".6f"}});
  const std::vector<std::pair<std::string, std::string>> formulas = {
      {"p1", "w1 x1"}, {"p2", "w2 x2"}, {"s", "p1 + p2"}, {"n", "s + b"}, {"y", "tanh n"}};
  const auto named = neuron.named();
  const auto value = [&](const std::string& name) {
    for (const Named& each : named)
      if (each.name == name) return each.tensor.item();
    return std::nan("");
  };
  for (const TapeEntry& entry : tape) {
    std::vector<std::string> inputs;
    for (const std::size_t i : entry.inputs) inputs.push_back(tape[i].name);
    std::string formula;
    for (const auto& [name, text] : formulas)
      if (name == entry.name) formula = text;
    table.row(entry.name, entry.op.empty() ? "leaf" : entry.op, join_names(inputs), formula,
              value(entry.name));
  }
  lab.table(table);
  lab.check_equal("the tape has this many leaves and ops", std::ssize(tape), 10);
  lab.check_close("y is std::tanh(w1 x1 + w2 x2 + b)", neuron.y.item(),
                  std::tanh(w1 * x1 + w2 * x2 + b), 1e-15);
}

// What the chain rule says, written down without the engine.
struct ByHand {
  std::string name, rule;
  double value;
};

std::vector<ByHand> by_hand() {
  const double y = std::tanh(w1 * x1 + w2 * x2 + b);
  const double dn = 1 - y * y;
  return {{"n", "1 - y²", dn},
          {"s", "∂y/∂n · 1", dn},
          {"b", "∂y/∂n · 1", dn},
          {"p1", "∂y/∂s · 1", dn},
          {"p2", "∂y/∂s · 1", dn},
          {"x1", "∂y/∂p1 · w1", dn * w1},
          {"w1", "∂y/∂p1 · x1", dn * x1},
          {"x2", "∂y/∂p2 · w2", dn * w2},
          {"w2", "∂y/∂p2 · x2", dn * x2}};
}

// One step of the sweep, as the hook of a tensor saw it.
struct Arrival {
  std::string name;
  double gradient;
};

// The hooks outlive this call, so they share the list.
std::vector<Arrival> sweep(Neuron& neuron) {
  const auto arrivals = std::make_shared<std::vector<Arrival>>();
  for (Named& each : neuron.named())
    each.tensor.register_hook([arrivals, name = each.name](const Tensor& gradient) {
      arrivals->push_back({name, gradient.item()});
      return Tensor();
    });
  neuron.y.backward({}, {.retain_graph = true});
  return *arrivals;
}

// ∂(output)/∂(input) of one op alone, asked of the engine.
double local_derivative(const Tensor& output, const Tensor& input) {
  return grad(output, input, {}, {.retain_graph = true}).item();
}

void backward(Lab& lab, Neuron& neuron, const std::vector<TapeEntry>& tape) {
  lab.say(
      "backward() goes through the tape from its end. It starts with ∂y/∂y = 1. At each node a "
      "gradient has arrived, ∂y/∂(this value); the op multiplies it by its local derivative, the "
      "one thing that it knows, and sends the product on to its input. That is the chain rule, "
      "once for each edge of the graph. The rows are in the order in which hooks on the nodes saw "
      "the sweep come by.");
  const auto named = neuron.named();
  const auto tensor_of = [&](const std::string& name) {
    for (const Named& each : named)
      if (each.name == name) return each.tensor;
    fail("no tensor is called " + name);
  };
  const std::vector<std::pair<std::string, std::string>> rules = {{"y", "1 - y²"},
                                                                  {"n", "1"},
                                                                  {"s", "1"},
                                                                  {"p1", "the other factor"},
                                                                  {"p2", "the other factor"}};
  Table table({{"node"},
               {"op"},
               {"value", ".6f"},
               {"∂y/∂node", ".6f"},
               {"to"},
               {"local derivative"},
               {"its value", ".6f"},
               {"sent on", ".6f"}});
  const std::vector<Arrival> arrivals = sweep(neuron);
  std::size_t edges = 0;
  double worst = 0;
  for (const Arrival& arrival : arrivals) {
    const auto entry = std::find_if(tape.begin(), tape.end(),
                                    [&](const TapeEntry& e) { return e.name == arrival.name; });
    if (entry->op.empty()) continue;
    const Tensor output = tensor_of(arrival.name);
    std::string rule;
    for (const auto& [name, text] : rules)
      if (name == arrival.name) rule = text;
    bool first = true;
    for (const std::size_t i : entry->inputs) {
      const double local = local_derivative(output, tensor_of(tape[i].name));
      const double sent = arrival.gradient * local;
      if (first)
        table.row(arrival.name, entry->op, output.item(), arrival.gradient, tape[i].name, rule,
                  local, sent);
      else
        table.row("", "", Cell{}, Cell{}, tape[i].name, rule, local, sent);
      first = false;
      ++edges;
      for (const Arrival& next : arrivals)
        if (next.name == tape[i].name) worst = std::max(worst, std::abs(next.gradient - sent));
    }
  }
  lab.table(table);
  lab.check_equal("one product for each edge", static_cast<std::int64_t>(edges), 9);
  lab.check_less("what is sent is what arrives (largest difference)", worst, 1e-15);
  lab.check_true("the sweep began at y and came to n next",
                 arrivals.at(0).name == "y" && arrivals.at(1).name == "n");
}

void beside_the_hand(Lab& lab, const Neuron& neuron) {
  lab.say(
      "The same by hand: differentiate tanh once, then go from right to left. Beside it stands the "
      "engine's gradient, and a third opinion that knows no calculus: the central difference of y "
      "when that one number is moved by h = 10⁻⁵ to either side.");
  const auto moved = [](const std::string& name, double h) {
    const auto at = [&](const char* own, double value) { return name == own ? value + h : value; };
    const Neuron other(at("x1", x1), at("x2", x2), at("w1", w1), at("w2", w2), at("b", b));
    return other.y.item();
  };
  Table table(
      {{"name"}, {"by hand"}, {"value", ".9f"}, {"engine", ".9f"}, {"difference quotient", ".9f"}});
  double worst = 0, worst_quotient = 0;
  for (const ByHand& hand : by_hand())
    for (const Named& each : neuron.named()) {
      if (each.name != hand.name) continue;
      const double engine = labgrad::grad(neuron.y, each.tensor, {}, {.retain_graph = true}).item();
      worst = std::max(worst, std::abs(engine - hand.value));
      if (!each.tensor.is_leaf()) {
        table.row("∂y/∂" + hand.name, hand.rule, hand.value, engine, Cell{});
        continue;
      }
      constexpr double h = 1e-5;
      const double quotient = (moved(hand.name, h) - moved(hand.name, -h)) / (2 * h);
      worst_quotient = std::max(worst_quotient, std::abs(engine - quotient));
      table.row("∂y/∂" + hand.name, hand.rule, hand.value, engine, quotient);
    }
  lab.table(table);
  lab.check_less("engine against hand (largest difference)", worst, 1e-15);
  lab.check_less("engine against difference quotient (largest difference)", worst_quotient, 1e-9);
  lab.check_close("the gradient in w1.grad() is the same number", neuron.w1.grad().item(),
                  by_hand()[6].value, 1e-15);
}

}  // namespace

void one_neuron(Lab& lab) {
  lab.equation("", "y = tanh(w1 x1 + w2 x2 + b)");
  lab.say("With x1 = {}, x2 = {}, w1 = {}, w2 = {} and b = {}.", x1, x2, w1, w2, b);
  Neuron neuron(x1, x2, w1, w2, b);
  const auto tape = read_tape(neuron.y, neuron.named());
  forward(lab, neuron, tape);

  const auto prediction = lab.predict(fmt::format(
      "y = tanh({:.2f}) = {:.4f}, and the derivative of tanh is 1 - tanh². What is ∂y/∂w1?",
      neuron.n.item(), neuron.y.item()));
  lab.equation("tanh.grad", "y = tanh n      ∂y/∂n = 1 - y²");
  lab.equation("mul.grad", "p = w x         ∂p/∂w = x        ∂p/∂x = w");
  lab.equation("add.grad", "n = s + b       ∂n/∂s = 1        ∂n/∂b = 1");
  backward(lab, neuron, tape);
  lab.reveal(prediction, neuron.w1.grad().item(), 0.01);
  beside_the_hand(lab, neuron);

  std::vector<std::vector<std::string>> lines;
  for (const TapeEntry& entry : tape)
    for (const Named& each : neuron.named())
      if (each.name == entry.name)
        lines.push_back(
            {fmt::format("{:.4f}", each.tensor.item()),
             fmt::format("∂y/∂{}: {:.4f}", entry.name,
                         grad(neuron.y, each.tensor, {}, {.retain_graph = true}).item())});
  const GraphPicture graph = tape_graph(tape, "y = tanh(w1 x1 + w2 x2 + b)", lines);
  lab.picture("neuron",
              "The graph that the engine recorded. Values flow to the right, gradients back to the "
              "left along the same edges.",
              draw_graph(graph));
  if (lab.options().flag("dot")) lab.show(to_dot(graph));
  lab.say(
      "Nothing more is needed for a network of a million weights: the same sweep, with matrices in "
      "place of numbers. Each op brings its forward value and its local derivative; everything "
      "else, the order, the sums, the shapes, is the engine's. One sweep gives all {} gradients of "
      "the leaves, for a small multiple of the "
      "cost of one forward pass; difference quotients need two forward passes for each of them.",
      std::count_if(tape.begin(), tape.end(), [](const TapeEntry& e) { return e.op.empty(); }));
}

}  // namespace labgrad::labs::autograd
