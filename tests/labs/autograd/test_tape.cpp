#include "labs/autograd/tape.h"

#include <doctest/doctest.h>

#include "engine/engine.h"

using namespace labgrad;
using namespace labgrad::labs;
using namespace labgrad::labs::autograd;

TEST_CASE("tape: leaves by name, then ops in the order of computation, with their inputs") {
  const Tensor a = tensor(2.0, {.dtype = f64, .requires_grad = true});
  const Tensor b = tensor(3.0, {.dtype = f64, .requires_grad = true});
  const Tensor constant = tensor(4.0, {.dtype = f64});
  const Tensor p = a * b;
  const Tensor unused = exp(a);
  const Tensor y = tanh(p + a * constant);
  const auto tape = read_tape(y, {{"b", b}, {"a", a}, {"p", p}, {"y", y}, {"unused", unused}});

  REQUIRE(tape.size() == 6);
  CHECK(tape[0].name == "b");
  CHECK(tape[1].name == "a");
  CHECK(tape[0].op.empty());
  CHECK(tape[2].name == "p");
  CHECK(tape[2].op == "mul");
  CHECK(tape[2].inputs == std::vector<std::size_t>{1, 0});
  CHECK(tape[3].name == "#3");
  CHECK(tape[3].inputs == std::vector<std::size_t>{1});  // the constant is no edge
  CHECK(tape[4].op == "add");
  CHECK(tape[5].name == "y");
  CHECK(tape[5].inputs == std::vector<std::size_t>{4});
  for (std::size_t i = 2; i + 1 < tape.size(); ++i) CHECK(tape[i].sequence < tape[i + 1].sequence);

  const GraphPicture graph = tape_graph(tape, "a graph", {{"2"}});
  CHECK(graph.nodes.size() == 6);
  CHECK(graph.edges.size() == 6);
  CHECK(graph.nodes[0].lines == std::vector<std::string>{"b", "2"});
  CHECK(graph.nodes[0].kind == NodeKind::parameter);
  CHECK(graph.nodes[5].lines == std::vector<std::string>{"y = tanh"});
  CHECK(graph.nodes[5].kind == NodeKind::result);
}

TEST_CASE("tape: an input used twice is one entry with two edges; no graph is an error") {
  const Tensor x = tensor(2.0, {.dtype = f64, .requires_grad = true});
  const auto tape = read_tape(x * x);
  REQUIRE(tape.size() == 2);
  CHECK(tape[1].inputs == std::vector<std::size_t>{0, 0});
  CHECK_THROWS_AS(read_tape(x.detach()), Error);
}
