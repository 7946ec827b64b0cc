// labs/autograd: lab zero, what the engine does.

#include "labs/autograd/sections.h"

int main(int argc, char** argv) {
  using namespace labgrad::labs;
  Lab lab({.name = "autograd",
           .title = "Automatic differentiation from scratch",
           .summary = "The graph, the chain rule and finite differences: what happens between a "
                      "formula and its gradient, what goes wrong, and what it costs.",
           .seed = 1});
  lab.options().add_flag("dot", "print the graph of section neuron in the language of Graphviz");
  lab.start([](Lab& l) {
    l.say(
        "There is nothing to download: every number is made on the way. After each claim stands a "
        "check: what was measured, the bound, and whether it holds.");
  });
  lab.section("neuron", "1. One neuron by hand", autograd::one_neuron);
  lab.section("differences", "2. Finite differences", autograd::finite_differences);
  lab.section("ops", "3. Every op of the engine", autograd::every_op);
  lab.section("sharing", "4. Fan-out, broadcasting, views", autograd::sharing);
  lab.section("mistakes", "5. Things that go wrong, on purpose", autograd::mistakes);
  lab.section("network", "6. A network of two layers", autograd::two_layers);
  lab.section("cost", "7. What it costs", autograd::cost);
  return lab.run(argc, argv);
}
