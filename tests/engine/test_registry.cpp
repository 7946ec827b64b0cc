// No op without a row in the registry, and no row without its op.

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "engine/autograd.h"
#include "engine/backward.h"
#include "engine/create.h"
#include "engine/ops.h"
#include "engine/samples.h"

using namespace labgrad;

namespace {

// The text of the files of engine/ops/ that end in `ending`.
std::string sources(const std::string& ending) {
  std::stringstream all;
  for (const auto& file : std::filesystem::directory_iterator("engine/ops"))
    if (file.path().string().ends_with(ending) && file.path().filename() != "raw.h")
      all << std::ifstream(file.path()).rdbuf() << '\n';
  return all.str();
}

// The functions that headers declare: Tensor name(, at the start of a line.
std::set<std::string> declared() {
  std::set<std::string> names;
  std::istringstream lines(sources(".h"));
  for (std::string line; std::getline(lines, line);)
    for (const char* type : {"Tensor ", "Tensors ", "Extremes ", "Ordered "}) {
      if (!line.starts_with(type)) continue;
      const std::string rest = line.substr(std::string(type).size());
      const std::size_t end = rest.find('(');
      if (end != std::string::npos && !rest.starts_with("operator"))
        names.insert(rest.substr(0, end));
    }
  return names;
}

// The names under which ops record themselves: differentiable("name", ...
std::set<std::string> recorded_in_sources() {
  std::set<std::string> names;
  const std::string text = sources(".cpp");
  const std::string call = "differentiable";
  for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
    std::size_t open = text.find('(', at);
    open = text.find_first_not_of(" \n", open + 1);
    if (open == std::string::npos || text[open] != '"') continue;
    names.insert(text.substr(open + 1, text.find('"', open + 1) - open - 1));
  }
  return names;
}

void collect(const Tensors& from, std::set<std::string>& names) {
  std::set<const GraphNode*> seen;
  std::vector<GraphNode*> waiting;
  const auto visit = [&](GraphNode* node) {
    if (node && seen.insert(node).second) waiting.push_back(node);
  };
  for (const Tensor& y : from)
    if (y.defined()) visit(y.impl()->node.get());
  while (!waiting.empty()) {
    auto* node = static_cast<Node*>(waiting.back());
    waiting.pop_back();
    names.insert(node->op());
    for (const Edge& e : node->edges()) visit(e.node.get());
  }
}

// The names of all nodes that the rows leave, forward and backward.
std::set<std::string> recorded_by_rows() {
  std::set<std::string> names;
  for (const OpSample& row : op_samples())
    for (std::size_t i = 0; i < row.cases.size(); ++i) {
      if (row.cases[i].large) continue;
      Tensors xs = sample_inputs(row, i), wanted, ys, seeds;
      for (Tensor& x : xs)
        if (is_floating(x.dtype())) wanted.push_back(x.requires_grad_());
      for (const Tensor& y : row.f(xs))
        if (y.requires_grad()) {
          ys.push_back(y);
          seeds.push_back(ones_like(y, {.requires_grad = true}));
        }
      collect(ys, names);
      collect(grad(ys, wanted, seeds, {.create_graph = true, .allow_unused = true}), names);
    }
  return names;
}

struct WithoutGradient {
  const char* op;
  std::function<Tensor(const Tensor&)> f;
};
const std::vector<WithoutGradient> without_gradient{
    {"eq", [](const Tensor& x) { return eq(x, x); }},
    {"ne", [](const Tensor& x) { return ne(x, x); }},
    {"argmax", [](const Tensor& x) { return argmax(x, 0); }},
    {"argmin", [](const Tensor& x) { return argmin(x, 0); }},
    {"any", [](const Tensor& x) { return any(x); }},
    {"all", [](const Tensor& x) { return all(x); }},
    {"isnan", [](const Tensor& x) { return isnan(x); }},
    {"isinf", [](const Tensor& x) { return isinf(x); }},
    {"isfinite", [](const Tensor& x) { return isfinite(x); }},
    {"one_hot", [](const Tensor& x) { return one_hot(to(x, i64), 3); }},
};

}  // namespace

TEST_CASE("every public op has a row in the registry, or gives integers or bool") {
  std::set<std::string> rows, others;
  for (const OpSample& row : op_samples()) rows.insert(row.op);
  const Tensor x = tensor({0.0, 1.0, 2.0}, {.requires_grad = true});
  for (const WithoutGradient& op : without_gradient) {
    INFO(op.op);
    others.insert(op.op);
    const Tensor y = op.f(x);
    CHECK_FALSE(is_floating(y.dtype()));
    CHECK_FALSE(y.requires_grad());
    CHECK_THROWS_AS(y.backward(), Error);
  }
  const std::set<std::string> ops = declared();
  CHECK(ops.size() > 80);
  for (const std::string& op : ops) {
    INFO(op);
    CHECK(rows.contains(op) != others.contains(op));
  }
  for (const std::string& op : rows) {
    INFO(op);
    CHECK(ops.contains(op));
  }
}

TEST_CASE("every node that an op can record is recorded by a row") {
  const std::set<std::string> in_sources = recorded_in_sources(), by_rows = recorded_by_rows();
  CHECK(in_sources.size() > 50);
  for (const std::string& op : in_sources) {
    INFO(op);
    CHECK(by_rows.contains(op));
  }
}

TEST_CASE("rows have labels of their own, and the registry its share of odd shapes") {
  std::set<std::string> labels, empty_inputs, single, large;
  for (const OpSample& row : op_samples()) {
    INFO(row.label());
    CHECK(labels.insert(row.label()).second);
    CHECK_FALSE(row.cases.empty());
    for (const SampleCase& c : row.cases)
      for (const SampleInput& input : c.inputs) {
        if (input.shape.numel() == 0) empty_inputs.insert(row.op);
        if (input.shape.numel() == 1) single.insert(row.op);
        if (c.large) large.insert(row.op);
      }
  }
  CHECK(empty_inputs.size() > 50);
  CHECK(single.size() > 50);
  CHECK(large.size() > 40);
}

TEST_CASE("sample inputs are the same numbers in every dtype and layout") {
  for (const OpSample& row : op_samples())
    for (std::size_t i = 0; i < row.cases.size(); ++i) {
      if (row.cases[i].large) continue;
      const Tensors plain = sample_inputs(row, i);
      for (Layout layout : all_layouts) {
        const Tensors other = sample_inputs(row, i, {.dtype = f32, .layout = layout});
        for (std::size_t k = 0; k < plain.size(); ++k) {
          const std::vector<double> values = other[k].to_vector();
          for (double v : values) CHECK_FALSE(std::isnan(v));
          if (layout != Layout::expanded) CHECK(values == plain[k].to_vector());
        }
      }
    }
}
