#pragma once
// The tape. Each differentiable op leaves a Node that holds, for every input that needs it, a
// closure "gradient of the output in, gradient of this input out". The sweep over the nodes is in
// engine/backward.h.
//
// An op with its own gradient reads:
//
//   // Y = A·B          dA = dY·Bᵀ          dB = Aᵀ·dY                           [matmul.grad]
//   return differentiable("matmul", product(a, b),
//       wrt(a, [b = save(b)](const Tensor& dy) { return matmul(dy, transpose(b)); }),
//       wrt(b, [a = save(a)](const Tensor& dy) { return matmul(transpose(a), dy); }));
//
// - The closure of an input that needs no gradient is dropped at once, and with it what it saved.
// - The sweep checks each gradient's shape and dtype against the input's and sums over what was
//   broadcast, so no closure mentions broadcasting.
// - A closure may take (dy, y): y is the op's output. Never capture the output: the node would
//   then own itself.
// - Closures are written with differentiable ops, so they can be differentiated again.
// - Where a fused kernel is faster, the closure uses it when grad_enabled() is false: the sweep
//   then records nothing, and no second derivative can be asked of it. An example is layer_norm,
//   in engine/ops/norm.cpp.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "engine/tensor.h"

namespace labgrad {

// A tensor kept for backward. Reading it checks that nobody has changed it in place since.
class Saved {
 public:
  Saved() = default;
  explicit Saved(const Tensor& x) : x_(x), version_(x.version()) {}
  // Error: names the op whose backward runs, and the version found and expected.
  operator const Tensor&() const {
    if (x_.version() != version_) changed();
    return x_;
  }
  const Tensor& get() const { return *this; }

 private:
  [[noreturn]] void changed() const;

  Tensor x_;
  std::uint32_t version_ = 0;
};
// Where nothing is recorded, nothing is kept.
inline Saved save(const Tensor& x) { return grad_enabled() ? Saved(x) : Saved(); }

// Where a gradient goes: on to the node that made the input, or to rest in a leaf. Either knows the
// input's shape, dtype and device, for the sweep to check the gradient against.
struct Edge {
  Ref<GraphNode> node;
  std::uint32_t output = 0;
  Ref<TensorImpl> leaf;

  bool needed() const { return node || leaf; }
};

Edge edge_to(const Tensor& x);  // not needed() if x requires no gradient

// What a tensor's gradient has in common with it.
struct Form {
  Form() = default;
  explicit Form(const Tensor& x) : shape(x.shape()), dtype(x.dtype()), device(x.device()) {}

  bool operator==(const Form&) const = default;

  Shape shape;
  DType dtype = f32;
  Device device = Device::cpu;
};

class Node : public GraphNode {
  std::uint32_t outputs_;  // first, for it fills a gap behind the count

 public:
  Node(const char* op, std::span<const Tensor> ys);
  ~Node() override;

  const char* op() const override { return op_; }
  std::uint64_t sequence() const { return sequence_; }
  std::uint32_t outputs() const { return outputs_; }

  virtual std::span<Edge> edges() = 0;
  // Gradients of the inputs (undefined where not needed) from those of the outputs.
  virtual void backward(std::span<Tensor> dys, std::span<Tensor> dxs) = 0;
  // Drops what was saved; backward can't run any more.
  virtual void release() = 0;
  bool released() const { return released_; }

  // What few nodes have, kept apart so that the others stay small: a sweep through a large graph of
  // small tensors waits for memory.
  struct Extras {
    std::vector<std::pair<std::uint32_t, Hook>> hooks;  // with the output they belong to
    std::vector<Form> forms;  // of several outputs, or of one with more than 3 dimensions
    Tensors pending;          // the gradients of several outputs
  };
  Extras& extras();
  const Extras* has_extras() const { return extras_.get(); }

  Form form(std::uint32_t output) const;
  // Whether this has the form of that output.
  bool fits(std::uint32_t output, const Tensor& gradient) const {
    return first_.kept ? first_ == SmallForm(gradient) : form(output) == Form(gradient);
  }

  // During a sweep: the gradients of the outputs, as far as they have arrived.
  std::span<Tensor> pending() {
    return outputs_ == 1 ? std::span<Tensor>(&first_pending_, 1) : extras().pending;
  }
  const void* sweep = nullptr;  // the sweep that they belong to

 protected:
  bool released_ = false;

 private:
  // The form of the only output, if it has few dimensions: then all are kept.
  struct SmallForm {
    SmallForm() = default;
    explicit SmallForm(const Tensor& x)
        : kept(x.rank() <= 3),
          rank(static_cast<std::uint8_t>(x.rank())),
          dtype(x.dtype()),
          device(x.device()) {
      if (kept) std::copy(x.shape().begin(), x.shape().end(), sizes.begin());
    }
    bool operator==(const SmallForm&) const = default;

    std::array<std::int64_t, 3> sizes{};
    bool kept = false;
    std::uint8_t rank = 0;
    DType dtype = f32;
    Device device = Device::cpu;
  };

  const char* op_;
  std::uint64_t sequence_;
  Tensor first_pending_;
  std::unique_ptr<Extras> extras_;
  SmallForm first_;
};

// Nodes alive in the process: returns to its value before when a graph has been dropped.
std::int64_t live_nodes();

// While it lives on this thread, every op checks its result and every backward its gradients, and
// the first NaN or infinity is an error that names the op. Slow; for finding where it began.
class DetectAnomaly {
 public:
  DetectAnomaly();
  ~DetectAnomaly();
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

 private:
  bool before_;
};
namespace detail {
extern constinit thread_local bool detecting;
}
inline bool detecting_anomaly() { return detail::detecting; }
// Error: x has a NaN or infinity; the message starts with `what` and gives its index.
void check_finite(const Tensor& x, const std::string& what);

// ---- one input and the gradient with respect to it ----

template <class F>
struct Wrt {
  Edge edge;
  std::optional<F> gradient;  // none: the input needs no gradient
};

// With respect to x: gradient(dy) or gradient(dy, y).
template <class F>
Wrt<F> wrt(const Tensor& x, F gradient) {
  if (!grad_enabled() || !x.requires_grad()) return {};
  return {edge_to(x), std::move(gradient)};
}

// dx = dy: the gradient goes on as it is. The last input that needs one gets the very handle.
struct Unchanged {
  Tensor operator()(const Tensor& dy) const { return dy; }
};
inline constexpr Unchanged unchanged;

namespace detail {

template <class F>
inline constexpr bool takes_output = std::invocable<F&, const Tensor&, const Tensor&>;

// The output as its own node may keep it: the elements, without the node.
class SavedOutput {
 public:
  void set(const Tensor& y) { saved_.emplace(y.detach()); }
  void reset() { saved_.reset(); }
  // In a recorded sweep it stands for the op's output again, so that gradients flow through it.
  Tensor get(GraphNode* node) const {
    const Tensor& y = saved_->get();
    if (!grad_enabled()) return y;
    Tensor attached = y.detach();
    attached.impl()->node = Ref<GraphNode>(node);
    attached.impl()->requires_grad = true;
    return attached;
  }

 private:
  std::optional<Saved> saved_;
};

// The node of an op with one output and a fixed number of inputs.
template <class... F>
class OpNode final : public Node, public Recycled<OpNode<F...>> {
 public:
  OpNode(const char* op, const Tensor& y, Wrt<F>... inputs)
      : Node(op, std::span(&y, 1)),
        edges_{std::move(inputs.edge)...},
        gradients_(std::move(inputs.gradient)...) {
    if constexpr (keeps_output) {
      bool wanted = false;
      std::apply([&](auto&... g) { ((wanted |= wants_output(g)), ...); }, gradients_);
      if (wanted) y_.set(y);
    }
  }

  std::span<Edge> edges() override { return edges_; }

  void backward(std::span<Tensor> dys, std::span<Tensor> dxs) override {
    std::size_t last = 0, i = 0;
    std::apply([&](auto&... g) { ((last = g ? i : last, ++i), ...); }, gradients_);
    i = 0;
    std::apply([&](auto&... g) { ((dxs[i] = apply(g, dys[0], i == last), ++i), ...); }, gradients_);
  }

  void release() override {
    released_ = true;
    std::apply([](auto&... g) { (g.reset(), ...); }, gradients_);
    if constexpr (keeps_output) y_.reset();
    for (Edge& e : edges_) e = {};
  }

 private:
  static constexpr bool keeps_output = (takes_output<F> || ...);

  template <class G>
  static bool wants_output(const std::optional<G>& g) {
    return takes_output<G> && g.has_value();
  }
  template <class G>
  Tensor apply(std::optional<G>& g, Tensor& dy, bool last) {
    if (!g) return {};
    if constexpr (std::is_same_v<G, Unchanged>)
      return last ? std::move(dy) : dy;
    else if constexpr (takes_output<G>)
      return (*g)(dy, y_.get(this));
    else
      return (*g)(dy);
  }

  std::array<Edge, sizeof...(F)> edges_;
  std::tuple<std::optional<F>...> gradients_;
  struct Nothing {};
  [[no_unique_address]] std::conditional_t<keeps_output, SavedOutput, Nothing> y_;
};

// The node of an op with any number of inputs and outputs and one closure for all of them.
template <class F>
class JointNode final : public Node, public Recycled<JointNode<F>> {
 public:
  JointNode(const char* op, std::vector<Edge> edges, F gradients, const Tensors& ys)
      : Node(op, ys), edges_(std::move(edges)), gradients_(std::move(gradients)) {}

  std::span<Edge> edges() override { return edges_; }
  void backward(std::span<Tensor> dys, std::span<Tensor> dxs) override {
    Tensors gradients = (*gradients_)(Tensors(dys.begin(), dys.end()));
    if (gradients.size() != dxs.size())
      fail(std::string("backward of '") + op() + "': " + std::to_string(gradients.size()) +
           " gradients for " + std::to_string(dxs.size()) + " inputs");
    std::move(gradients.begin(), gradients.end(), dxs.begin());
  }
  void release() override {
    released_ = true;
    gradients_.reset();
    for (Edge& e : edges_) e = {};
  }

 private:
  std::vector<Edge> edges_;
  std::optional<F> gradients_;
};

void record(Tensor& y, Ref<GraphNode> node, std::uint32_t output);

}  // namespace detail

// Records that y is the result of `op`; the inputs and their gradients follow. y is new: no one
// else holds it yet.
template <class... F>
Tensor differentiable(const char* op, Tensor y, Wrt<F>... inputs) {
  if (detecting_anomaly()) check_finite(y, std::string("the result of '") + op + "'");
  if ((inputs.gradient.has_value() || ...)) {
    auto* node = new detail::OpNode<F...>(op, y, std::move(inputs)...);
    detail::record(y, Ref<GraphNode>::first(node), 0);
  }
  return y;
}

// The same for ops with a list of inputs, or several outputs, or gradients that are computed
// together: gradients(dys) takes the outputs' gradients and returns one for each input (an
// undefined Tensor where none is needed: ask inputs[i].requires_grad() beforehand).
template <class F>
Tensors differentiable_joint(const char* op, Tensors ys, const Tensors& inputs, F gradients) {
  if (detecting_anomaly())
    for (const Tensor& y : ys) check_finite(y, std::string("a result of '") + op + "'");
  bool needed = false;
  for (const Tensor& x : inputs) needed |= x.requires_grad();
  if (!needed || !grad_enabled()) return ys;
  std::vector<Edge> edges;
  for (const Tensor& x : inputs) edges.push_back(edge_to(x));
  const auto node = Ref<GraphNode>::first(
      new detail::JointNode<F>(op, std::move(edges), std::move(gradients), ys));
  std::uint32_t output = 0;
  for (Tensor& y : ys) detail::record(y, node, output++);
  return ys;
}

}  // namespace labgrad
