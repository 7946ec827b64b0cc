#include "labs/common/graph_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/error.h"
#include "labs/common/frame.h"
#include "labs/common/layered_layout.h"
#include "labs/common/svg.h"

namespace labgrad::labs {
namespace {

constexpr double margin = picture_margin, text_size = 12.0, line_height = 16.0;

const char* fill_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::input:
      return "#dbeaf5";
    case NodeKind::parameter:
      return "#fbe3cf";
    case NodeKind::op:
      return "#ffffff";
    case NodeKind::result:
      return "#d9efe6";
  }
  return "#ffffff";
}

std::map<std::string, std::size_t> index_by_id(const GraphPicture& graph) {
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (!index.emplace(graph.nodes[i].id, i).second)
      fail("graph '" + graph.title + "': two nodes have the id " + graph.nodes[i].id);
  for (const GraphEdge& edge : graph.edges)
    for (const std::string& id : {edge.from, edge.to})
      if (!index.count(id))
        fail("graph '" + graph.title + "': an edge names the unknown node " + id);
  return index;
}

struct Size {
  double width, height;
};

Size size_of(const GraphNode& node) {
  double width = 24.0;
  for (std::size_t l = 0; l < node.lines.size(); ++l)
    width = std::max(width, text_width(node.lines[l], text_size, l == 0));
  const double lines = static_cast<double>(std::max<std::size_t>(node.lines.size(), 1));
  return {width + 20.0, lines * line_height + 10.0};
}

void draw_node(Svg& svg, const GraphNode& node, Point middle) {
  const Size size = size_of(node);
  const Point corner{middle.first - size.width / 2, middle.second - size.height / 2};
  svg.rect(corner, size.width, size.height,
           {.stroke = ink, .width = 1.2, .fill = fill_of(node.kind)},
           node.kind == NodeKind::op ? size.height / 2.5 : 4.0);
  for (std::size_t l = 0; l < node.lines.size(); ++l)
    svg.text({middle.first, corner.second + 5 + line_height * (static_cast<double>(l) + 0.78)},
             node.lines[l], {.size = text_size, .anchor = Anchor::middle, .bold = l == 0});
}

// An S-shaped curve that leaves and arrives along the direction of the layers.
void draw_piece(Svg& svg, Point from, Point to, bool sideways) {
  const Pen pen{.stroke = muted, .width = 1.3};
  const double half = sideways ? (to.first - from.first) / 2 : (to.second - from.second) / 2;
  if (sideways) {
    svg.curve(from, {from.first + half, from.second}, {to.first - half, to.second}, to, pen);
  } else {
    svg.curve(from, {from.first, from.second + half}, {to.first, to.second - half}, to, pen);
  }
}

void draw_arrow_head(Svg& svg, Point tip, bool sideways) {
  const auto [x, y] = tip;
  const Pen pen{.fill = muted};
  if (sideways) {
    svg.polygon({{x, y}, {x - 8, y - 3.5}, {x - 8, y + 3.5}}, pen);
  } else {
    svg.polygon({{x, y}, {x - 3.5, y - 8}, {x + 3.5, y - 8}}, pen);
  }
}

std::string dot_text(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string draw_graph(const GraphPicture& graph) {
  const auto index = index_by_id(graph);
  const bool sideways = graph.left_to_right;
  LayeredGraph layout;
  for (const GraphNode& node : graph.nodes) {
    const Size size = size_of(node);
    layout.nodes.push_back(sideways ? LayeredNode{size.width, size.height}
                                    : LayeredNode{size.height, size.width});
  }
  double widest_label = 0.0;
  for (const GraphEdge& edge : graph.edges) {
    layout.edges.emplace_back(index.at(edge.from), index.at(edge.to));
    widest_label = std::max(widest_label, text_width(edge.label, 11.0));
  }
  layered_layout(layout, sideways ? 38.0 + widest_label : 44.0, 16.0);

  const double content = sideways ? layout.length : layout.breadth;
  const double width = std::max(content, 220.0) + 2 * margin;
  const double title = title_room(graph.title, width);
  const double top = margin + (title > 0 ? title + 8 : 0.0);
  const auto place = [&](double along, double across) {
    return sideways ? Point(margin + along, top + across) : Point(margin + across, top + along);
  };
  Svg svg(width, top + (sideways ? layout.breadth : layout.length) + margin, graph.title);
  draw_title(svg, graph.title);

  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const LayeredNode& from = layout.nodes[layout.edges[e].first];
    const LayeredNode& to = layout.nodes[layout.edges[e].second];
    std::vector<Point> path{place(from.along + from.length / 2, from.across)};
    for (const auto& [along, across] : layout.bends[e]) path.push_back(place(along, across));
    const Point tip = place(to.along - to.length / 2, to.across);
    path.push_back(place(to.along - to.length / 2 - 6, to.across));
    for (std::size_t i = 0; i + 1 < path.size(); ++i)
      draw_piece(svg, path[i], path[i + 1], sideways);
    draw_arrow_head(svg, tip, sideways);
    const Point middle{(path[0].first + path[1].first) / 2, (path[0].second + path[1].second) / 2};
    if (graph.edges[e].label.empty()) continue;
    const double room = text_width(graph.edges[e].label, 11.0) + 4;
    svg.rect({middle.first - room / 2, middle.second - 7}, room, 14, {.fill = "#ffffff"});
    svg.text({middle.first, middle.second + 4}, graph.edges[e].label,
             {.size = 11, .anchor = Anchor::middle});
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    draw_node(svg, graph.nodes[i], place(layout.nodes[i].along, layout.nodes[i].across));
  return svg.str();
}

std::string to_dot(const GraphPicture& graph) {
  index_by_id(graph);
  std::string out = fmt::format("digraph \"{}\" {{\n  rankdir={};\n", dot_text(graph.title),
                                graph.left_to_right ? "LR" : "TB");
  out += "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\"];\n";
  for (const GraphNode& node : graph.nodes) {
    std::string label;
    for (const std::string& line : node.lines)
      label += (label.empty() ? "" : "\\n") + dot_text(line);
    out += fmt::format("  \"{}\" [label=\"{}\", fillcolor=\"{}\"];\n", dot_text(node.id), label,
                       fill_of(node.kind));
  }
  for (const GraphEdge& edge : graph.edges)
    out += fmt::format("  \"{}\" -> \"{}\"{};\n", dot_text(edge.from), dot_text(edge.to),
                       edge.label.empty() ? "" : " [label=\"" + dot_text(edge.label) + "\"]");
  return out + "}\n";
}

}  // namespace labgrad::labs
