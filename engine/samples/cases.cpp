#include "engine/samples/rows.h"

namespace labgrad::samples {

const Domain real{};
const Domain positive{0.2, 3};
const Domain nonzero{-2, 2, {0}};
const Domain distinct{.distinct = true};
const Domain mask{.dtype = boolean};

Cases shapes(const std::vector<Shape>& list, const Domain& domain) {
  Cases cases;
  for (const Shape& shape : list) cases.push_back({{{shape, domain}}});
  return cases;
}

Cases elementwise(const Domain& domain) {
  Cases cases = shapes({{}, {1}, {0}, {1, 0, 3}, {5}, {23}, {2, 3, 4}, {131}}, domain);
  cases.push_back({{{{257, 129}, domain}}, true});
  return cases;
}

Cases broadcasting(const Domain& a, const Domain& b) {
  const std::vector<std::pair<Shape, Shape>> pairs{
      {{}, {3}},           {{3, 1}, {3, 4}},       {{1, 4}, {3, 4}},
      {{2, 1, 4}, {3, 1}}, {{0, 1, 3}, {0, 4, 3}}, {{2, 3, 4}, {4}},
  };
  Cases cases{{{{{}, a}, {{}, b}}}, {{{{7}, a}, {{7}, b}}}};
  for (const auto& [first, second] : pairs) {
    cases.push_back({{{first, a}, {second, b}}});
    cases.push_back({{{second, a}, {first, b}}});
  }
  cases.push_back({{{{257, 129}, a}, {{129}, b}}, true});
  return cases;
}

Cases rows_of(const Domain& domain) {
  Cases cases = shapes({{5}, {1}, {3, 1}, {0, 4}, {2, 7}, {2, 3, 4}, {2, 131}}, domain);
  cases.push_back({{{{300, 131}, domain}}, true});
  return cases;
}

}  // namespace labgrad::samples
