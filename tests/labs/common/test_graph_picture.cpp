#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/error.h"
#include "labs/common/graph_picture.h"
#include "labs/common/layered_layout.h"
#include "tests/labs/common/xml.h"

using namespace labgrad;
using namespace labgrad::labs;
using tests::count_of;

namespace {

GraphPicture neuron() {
  return {"y = tanh(w·x + b)",
          {{"w", {"w", "2"}, NodeKind::parameter},
           {"x", {"x", "3"}, NodeKind::input},
           {"b", {"b"}, NodeKind::parameter},
           {"m", {"mul"}},
           {"a", {"add <1>"}},
           {"y", {"tanh"}, NodeKind::result}},
          {{"w", "m", "x"}, {"x", "m"}, {"m", "a"}, {"b", "a"}, {"a", "y"}, {"x", "y"}}};
}

}  // namespace

TEST_CASE("graph: the picture has every node, every edge, in both directions") {
  for (bool sideways : {true, false}) {
    GraphPicture g = neuron();
    g.left_to_right = sideways;
    const std::string svg = draw_graph(g);
    CHECK(tests::xml_fault(svg) == "");
    for (const char* text : {">w<", ">2<", ">mul<", ">add &lt;1&gt;<", ">tanh<"})
      CHECK(svg.find(text) != std::string::npos);
    CHECK(count_of(svg, "<polygon") == 6);  // an arrow head an edge
  }
  CHECK(tests::xml_fault(draw_graph({"empty", {}, {}})) == "");
}

TEST_CASE("graph: mistakes are named") {
  GraphPicture unknown = neuron();
  unknown.edges.push_back({"w", "nobody"});
  CHECK_THROWS_WITH_AS(draw_graph(unknown), doctest::Contains("nobody"), Error);
  GraphPicture twice = neuron();
  twice.nodes.push_back({"w", {"again"}});
  CHECK_THROWS_AS(to_dot(twice), Error);
  GraphPicture cycle = neuron();
  cycle.edges.push_back({"y", "m"});
  CHECK_THROWS_WITH_AS(draw_graph(cycle), doctest::Contains("cycle"), Error);
}

TEST_CASE("graph: DOT text") {
  GraphPicture g = neuron();
  g.nodes[0].lines[0] = "a \"quoted\" \\ name";
  const std::string dot = to_dot(g);
  CHECK(dot.rfind("digraph", 0) == 0);
  CHECK(dot.find("label=\"a \\\"quoted\\\" \\\\ name\\n2\"") != std::string::npos);
  CHECK(dot.find("\"w\" -> \"m\" [label=\"x\"];") != std::string::npos);
  CHECK(count_of(dot, " -> ") == 6);
}

TEST_CASE("graph: layers follow the edges and no two nodes overlap") {
  LayeredGraph g;
  for (int i = 0; i < 12; ++i) g.nodes.push_back({30, 20});
  // A ladder with long edges; nodes 10 and 11 feed the end only.
  for (std::size_t i = 0; i < 8; ++i) g.edges.emplace_back(i, i + 1);
  for (std::size_t i = 0; i < 6; ++i) g.edges.emplace_back(i, i + 3);
  for (std::size_t i : {9u, 10u, 11u}) g.edges.emplace_back(i, 8);
  layered_layout(g, 40, 10);
  for (const auto& [from, to] : g.edges) CHECK(g.nodes[from].along + 30 < g.nodes[to].along);
  CHECK(g.nodes[10].along == g.nodes[7].along);  // right before the node that it feeds
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    CHECK(g.nodes[i].across >= 10 - 1e-9);
    CHECK(g.nodes[i].across <= g.breadth - 10 + 1e-9);
    for (std::size_t j = 0; j < i; ++j)
      if (g.nodes[i].along == g.nodes[j].along)
        CHECK(std::abs(g.nodes[i].across - g.nodes[j].across) >= 30 - 1e-9);
  }
  // The edge 0 -> 3 passes the layers of 1 and 2.
  CHECK(g.bends[8].size() == 2);
}

TEST_CASE("graph: edges that can be drawn without crossing are") {
  LayeredGraph g;
  for (int i = 0; i < 6; ++i) g.nodes.push_back({10, 10});
  g.edges = {{0, 5}, {1, 4}, {2, 3}};  // crossed in the order of the numbers
  layered_layout(g, 10, 5);
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const double left = g.nodes[a].across - g.nodes[b].across;
      const double right = g.nodes[5 - a].across - g.nodes[5 - b].across;
      CHECK(left * right > 0);
    }
}
