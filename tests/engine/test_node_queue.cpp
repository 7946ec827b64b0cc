#include "engine/node_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/autograd.h"
#include "engine/random.h"

using namespace labgrad;

namespace {

struct Numbered final : public GraphNode {
  explicit Numbered(std::uint64_t n, int& count) : sequence(n), alive(count) { ++alive; }
  ~Numbered() override { --alive; }
  const char* op() const override { return "numbered"; }
  std::uint64_t sequence;
  int& alive;
};

// Pushes them in the given order, and pops one after every third, as a sweep does in between. What
// is popped must be the youngest of all that wait.
void check_order(const std::vector<std::uint64_t>& arrivals) {
  int alive = 0;
  std::vector<std::uint64_t> waiting;
  {
    NodeQueue queue;
    const auto pop = [&] {
      const auto youngest = std::max_element(waiting.begin(), waiting.end());
      const Ref<GraphNode> node = queue.pop();
      REQUIRE(static_cast<const Numbered&>(*node).sequence == *youngest);
      CHECK(node->use_count() == 1);
      waiting.erase(youngest);
    };
    std::size_t pushed = 0;
    for (const std::uint64_t n : arrivals) {
      queue.push(n, Ref<GraphNode>(new Numbered(n, alive)));
      waiting.push_back(n);
      if (++pushed % 3 == 0) pop();
    }
    while (!waiting.empty()) pop();
    CHECK(queue.empty());
    CHECK(alive == 0);
  }
}

}  // namespace

TEST_CASE("node queue: the youngest goes first, in whatever order they arrive") {
  std::vector<std::uint64_t> order(2000);
  std::iota(order.begin(), order.end(), 0u);
  SUBCASE("ascending") {}
  SUBCASE("descending") { std::reverse(order.begin(), order.end()); }
  SUBCASE("mixed") {
    const auto shuffled = Generator(7).randperm(static_cast<std::int64_t>(order.size()));
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<std::uint64_t>(shuffled[i]);
  }
  SUBCASE("nearly ascending, each a little late") {
    for (std::size_t i = 0; i + 100 < order.size(); i += 70)
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(i),
                  order.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                  order.begin() + static_cast<std::ptrdiff_t>(i) + 69);
  }
  check_order(order);
}

TEST_CASE("node queue: what still waits is let go") {
  int alive = 0;
  {
    NodeQueue queue;
    for (std::uint64_t n : {5u, 9u, 1u, 7u}) queue.push(n, Ref<GraphNode>(new Numbered(n, alive)));
    queue.pop();
    CHECK(alive == 3);
  }
  CHECK(alive == 0);
}
