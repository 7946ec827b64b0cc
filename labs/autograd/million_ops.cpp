// Section 7, last part: a chain of a million ops, forward, backward and away.

#include <cmath>
#include <memory>

#include "engine/autograd.h"
#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/process_memory.h"
#include "labs/autograd/cost.h"
#include "labs/autograd/stopwatch.h"

namespace labgrad::labs::autograd {
namespace {

constexpr std::int64_t length = 1'000'000;

// How far the stack has grown below the place where the probe was made.
class StackProbe {
 public:
  StackProbe() : top_(static_cast<char*>(__builtin_frame_address(0))) {}
  double depth() const { return std::abs(static_cast<double>(here() - top_)); }

 private:
  // In a frame of its own, wherever it is called from.
  __attribute__((noinline)) static char* here() {
    return static_cast<char*>(__builtin_frame_address(0));
  }
  char* top_;
};

// What the first op of the chain sees of the stack when the sweep comes to it, and when it is
// freed.
struct Depths {
  StackProbe probe = {};
  double backward = 0, freed = 0;
};

// y = x, as the first op of the chain: its closure is called last in the sweep, and destroyed last
// when the chain goes.
Tensor observed(const Tensor& x, Depths& depths) {
  const std::shared_ptr<Depths> at_end(
      &depths, [](Depths* d) { d->freed = std::max(d->freed, d->probe.depth()); });
  NoGrad no_grad;
  const Tensor y = clone(x);
  EnableGrad record;
  return differentiable("observed", y, wrt(x, [at_end](const Tensor& dy) {
                          at_end->backward = at_end->probe.depth();
                          return dy;
                        }));
}

Tensor chain(const Tensor& x, Depths& depths) {
  const Tensor c = tensor(1 + 1.0 / static_cast<double>(length), {.dtype = f64});
  Tensor y = observed(x, depths);
  for (std::int64_t i = 0; i < length; ++i) y = y * c;
  return y;
}

}  // namespace

void million_ops(Lab& lab) {
  lab.say(
      "A chain of {:.0e} ops. In a recurrent network each step hangs on the one before, and so "
      "do the nodes of the graph. A sweep or a destructor that calls itself along the chain needs "
      "a frame on the stack for each op; at 100 bytes that is {:.0f} MB{}. The engine keeps its "
      "own list instead.",
      static_cast<double>(length), 100e-6 * static_cast<double>(length),
      stack_limit_bytes()
          ? fmt::format(", and a thread has {:.0f} MB here", *stack_limit_bytes() / 1e6)
          : "");
  lab.equation("", "y ← (1 + 10⁻⁶) y, a million times: y → e x, and dy/dx → e");

  const std::int64_t nodes_before = live_nodes();
  const double elements_before = static_cast<double>(memory_stats().live);
  const auto resident_before = resident_bytes();
  const Tensor x = tensor(1.0, {.dtype = f64, .requires_grad = true});
  Depths swept, dropped;
  Tensor y;
  const double forward = seconds([&] { y = chain(x, swept); });
  const std::int64_t nodes = live_nodes() - nodes_before;
  const auto resident_after = resident_bytes();
  reset_peak_memory();
  const double backward = seconds([&] { y.backward(); });
  const double peak = static_cast<double>(memory_stats().peak) - elements_before;
  const double value = y.item(), gradient = x.grad().item();
  const double away = seconds([&] { y = {}; });

  // The same chain once more, dropped whole.
  y = chain(x, dropped);
  const double dropped_whole = seconds([&] { y = {}; });

  Table table(
      {{"chain of a million"}, {"seconds", ".3f"}, {"ns an op", ".0f"}, {"stack, bytes", ",d"}});
  const auto row = [&](const std::string& what, double time, Cell depth) {
    table.row(what, time, 1e9 * time / static_cast<double>(length), depth);
  };
  row("forward", forward, {});
  row("backward, freeing what it has passed", backward, static_cast<std::int64_t>(swept.backward));
  row("dropping what is left", away, {});
  row("dropping a second chain without backward", dropped_whole,
      static_cast<std::int64_t>(dropped.freed));
  lab.table(table);
  if (resident_before && resident_after) {
    const double grown =
        static_cast<double>(*resident_after) - static_cast<double>(*resident_before);
    lab.say(
        "The process has grown by {:.0f} MB for it, about {:.0f} bytes an op. The elements of "
        "tensors took {:.0f} bytes at most during backward: the nodes keep the constant factor, "
        "and nothing of the million results.",
        grown / 1e6, grown / static_cast<double>(length), peak);
  }
  lab.check_equal("nodes alive after the forward pass", nodes, length + 1);
  lab.check_close("y against (1 + 10⁻⁶) to the power 10⁶ (relative)",
                  value / std::pow(1 + 1e-6, 1e6), 1, 1e-9);
  lab.check_close("y against e (relative)", value / std::exp(1.0), 1, 1e-6);
  lab.check_close("dy/dx is y/x", gradient / value, 1, 1e-9);
  lab.check_equal("nodes alive when it is gone", live_nodes() - nodes_before, 0);
  lab.check_less("stack that backward uses at the first op of the chain, bytes", swept.backward,
                 64 << 10);
  lab.check_less("stack that freeing the chain uses, bytes", dropped.freed, 64 << 10);
  lab.check_less("bytes of elements at the peak of backward", peak, 4096);
}

}  // namespace labgrad::labs::autograd
