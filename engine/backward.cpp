#include "engine/backward.h"

#include <algorithm>
#include <unordered_set>

#include "engine/autograd.h"
#include "engine/node_queue.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"

namespace labgrad {

namespace detail {
extern constinit thread_local const char* running_op;
}

namespace {

// One input of grad(): the place whose gradient is wanted, and that gradient once it is complete.
struct Target {
  Edge edge;
  Tensor gradient;
  bool is(const Edge& e) const {
    return edge.leaf ? e.leaf == edge.leaf
                     : e.node && e.node == edge.node && e.output == edge.output;
  }
};

// Begins to bring a node into the cache: it will get a gradient soon.
void fetch(const GraphNode& node) {
  constexpr int smallest = 192;  // bytes; few nodes have less
  for (int at = 0; at < smallest; at += 64)
    __builtin_prefetch(reinterpret_cast<const std::byte*>(&node) + at, 1);
}

class Sweep {
 public:
  Sweep(bool retain, bool create, std::vector<Target>* targets)
      : retain_(retain), recording_(create), create_(create), targets_(targets) {}
  // Also on the way out of an exception: no half-summed gradient may stay behind.
  ~Sweep() {
    detail::running_op = outer_op_;
    while (!waiting_.empty()) forget(static_cast<Node&>(*waiting_.pop()));
    for (const Ref<TensorImpl>& leaf : leaves_) leaf->extras->pending = {};
  }
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  void seed(const Tensor& output, const Tensor& gradient) {
    Edge edge = edge_to(output);
    deliver(edge, gradient);
  }
  // Only nodes on a way to the targets need to run.
  void restrict_to(std::unordered_set<const GraphNode*> leading) { leading_ = std::move(leading); }
  void run();

 private:
  struct Running;
  void deliver(Edge& edge, Tensor gradient);
  void run_node(Running& running);
  void settle(const Ref<TensorImpl>& leaf);
  Tensor conform(Tensor gradient, const Edge& edge, const char* op, std::size_t input) const;
  Tensor sum(Tensor a, Tensor b) const;
  static Tensor hooked(Tensor gradient, const Hook& hook);
  static void forget(Node& node) {
    for (Tensor& dy : node.pending()) dy = {};
    node.sweep = nullptr;
  }
  bool is_target(const Node& node) const {
    return std::any_of(targets_->begin(), targets_->end(),
                       [&](const Target& t) { return t.edge.node.get() == &node; });
  }

  bool retain_;
  EnableGrad recording_;
  bool create_;
  std::vector<Target>* targets_;
  std::unordered_set<const GraphNode*> leading_;
  NodeQueue waiting_;  // all users of the youngest have run before it
  std::vector<Ref<TensorImpl>> leaves_;
  Tensors dxs_;
  const char* outer_op_ = detail::running_op;
};

// Leaves no gradient behind in the node that runs, however it ends, nor edges that have been moved.
struct Sweep::Running {
  explicit Running(Node& n) : node(n) {}
  ~Running() {
    forget(node);
    if (spent) node.release();
  }
  Node& node;
  bool spent = false;
};

// True if nobody else can see x's elements.
bool sole_owner(const Tensor& x) {
  return x.impl()->use_count() == 1 && x.impl()->storage->use_count() == 1 && x.is_contiguous();
}

Tensor Sweep::sum(Tensor a, Tensor b) const {
  if (!create_ && !a.impl()->node && sole_owner(a)) {
    kernels(a.device()).zip(Binary::add, a.array(), a.array(), b.array());
    return a;
  }
  return add(a, b);
}

// If the node at the edge's beginning will not run again, its hold on the next one becomes that of
// the queue: moving costs nothing, where a copy and its end are two atomic additions.
void Sweep::deliver(Edge& edge, Tensor gradient) {
  if (edge.leaf) {
    Ref<TensorImpl>& pending = edge.leaf->ensure_extras().pending;
    if (pending) {
      pending = sum(Tensor(std::move(pending)), std::move(gradient)).ref();
      return;
    }
    leaves_.push_back(retain_ ? edge.leaf : std::move(edge.leaf));
    pending = std::move(gradient).ref();
    return;
  }
  auto& node = static_cast<Node&>(*edge.node);
  if (targets_ && !leading_.contains(&node) && !is_target(node)) return;
  if (!node.sweep) {
    node.sweep = this;
    waiting_.push(node.sequence(), retain_ ? edge.node : std::move(edge.node));
  } else if (node.sweep != this) {
    fail(std::string("backward: it was called, from a hook, on a graph that is being swept (at '") +
         node.op() + "')");
  }
  Tensor& pending = node.pending()[edge.output];
  if (!pending.defined()) {
    pending = std::move(gradient);
    return;
  }
  pending = sum(std::move(pending), std::move(gradient));
}

bool fits(const TensorImpl& leaf, const Tensor& gradient) {
  return gradient.shape() == leaf.array.shape && gradient.dtype() == leaf.array.dtype &&
         gradient.device() == leaf.storage->device();
}

// The gradient with the input's shape and dtype. What the op has broadcast is summed here, and
// nowhere else.
Tensor Sweep::conform(Tensor gradient, const Edge& edge, const char* op, std::size_t input) const {
  const auto* node = static_cast<const Node*>(edge.node.get());
  if (!(node ? node->fits(edge.output, gradient) : fits(*edge.leaf, gradient))) {
    const Form form = node ? node->form(edge.output) : Form(Tensor(edge.leaf));
    if (!broadcasts_to(form.shape, gradient.shape()))
      fail(std::string("backward of '") + op + "': the gradient of input " + std::to_string(input) +
           " has shape " + gradient.shape().str() + ", the input " + form.shape.str());
    gradient = to(sum_to(gradient, form.shape), form.dtype);
    if (gradient.device() != form.device)
      fail(std::string("backward of '") + op + "': the gradient of input " + std::to_string(input) +
           " is on " + name_of(gradient.device()) + ", the input on " + name_of(form.device));
  }
  if (detecting_anomaly()) check_finite(gradient, "the gradient of input " + std::to_string(input));
  return gradient;
}

Tensor Sweep::hooked(Tensor gradient, const Hook& hook) {
  Tensor other = hook(gradient);
  if (!other.defined()) return gradient;
  if (other.shape() != gradient.shape() || other.dtype() != gradient.dtype())
    fail("hook: it returned a gradient of shape " + other.shape().str() + " and dtype " +
         name_of(other.dtype()) + ", expected " + gradient.shape().str() + " and " +
         name_of(gradient.dtype()));
  return other;
}

void Sweep::run_node(Running& running) {
  Node& node = running.node;
  const std::span<Tensor> dys = node.pending();
  if (const Node::Extras* extras = node.has_extras())
    for (const auto& [output, hook] : extras->hooks)
      if (dys[output].defined()) dys[output] = hooked(std::move(dys[output]), hook);
  if (targets_) {
    for (Target& t : *targets_)
      if (t.edge.node.get() == &node && dys[t.edge.output].defined())
        t.gradient = dys[t.edge.output];
    if (!leading_.contains(&node)) return;
  }
  if (node.released())
    fail(std::string("backward: the graph has been freed already at '") + node.op() +
         "', by an earlier backward(). To go through it again, give the first one retain_graph = "
         "true; to start anew from a value carried over (a hidden state), detach() it");
  const std::span<Edge> edges = node.edges();
  for (std::size_t i = 0; i < dys.size(); ++i)
    if (!dys[i].defined()) {
      const Form& form = node.form(static_cast<std::uint32_t>(i));
      dys[i] = empty(form.shape, form.dtype, form.device);
      dys[i].zero_();
    }

  for (const Edge& e : edges)
    if (e.node) fetch(*e.node);
  detail::running_op = node.op();
  if (dxs_.size() < edges.size()) dxs_.resize(edges.size());
  node.backward(dys, std::span(dxs_).first(edges.size()));
  forget(node);  // a gradient that nobody else holds may now be added to in place
  running.spent = !retain_;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    Tensor dx = std::move(dxs_[i]);
    if (!edges[i].needed() || !dx.defined()) continue;
    deliver(edges[i], conform(std::move(dx), edges[i], node.op(), i));
  }
}

void Sweep::settle(const Ref<TensorImpl>& leaf) {
  Tensor gradient(std::exchange(leaf->extras->pending, {}));
  for (const Hook& hook : leaf->extras->hooks) gradient = hooked(std::move(gradient), hook);
  if (targets_) {
    for (Target& t : *targets_)
      if (t.edge.leaf == leaf) t.gradient = gradient;
    return;
  }
  Ref<TensorImpl>& grad = leaf->extras->grad;
  if (grad && create_) {
    grad = add(Tensor(grad), gradient).ref();
  } else if (grad) {
    Tensor total(grad);
    NoGrad no_grad;
    total.add_(gradient);
  } else {
    // The first gradient is taken over, if nobody else holds it: what is done to the grad of one
    // leaf in place (clipping) must not show in another's, nor in the seed.
    grad = sole_owner(gradient) ? std::move(gradient).ref() : clone(gradient).ref();
  }
}

void Sweep::run() {
  while (!waiting_.empty()) {
    const Ref<GraphNode> node = waiting_.pop();
    Running running(static_cast<Node&>(*node));
    run_node(running);
  }
  detail::running_op = outer_op_;
  for (const Ref<TensorImpl>& leaf : leaves_) settle(leaf);
}

// The nodes from which a way leads back to a target.
std::unordered_set<const GraphNode*> nodes_towards(const std::vector<Target>& targets,
                                                   const Tensors& outputs) {
  std::vector<Node*> reached;
  std::unordered_set<const GraphNode*> seen;
  auto visit = [&](GraphNode* n) {
    if (n && seen.insert(n).second) reached.push_back(static_cast<Node*>(n));
  };
  for (const Tensor& y : outputs) visit(y.impl()->node.get());
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const Edge& e : reached[i]->edges()) visit(e.node.get());

  std::sort(reached.begin(), reached.end(),
            [](const Node* a, const Node* b) { return a->sequence() < b->sequence(); });
  std::unordered_set<const GraphNode*> leading;
  for (Node* n : reached)
    for (const Edge& e : n->edges())
      if ((e.node && leading.contains(e.node.get())) ||
          std::any_of(targets.begin(), targets.end(), [&](const Target& t) { return t.is(e); }))
        leading.insert(n);
  return leading;
}

void seed_all(Sweep& sweep, const char* function, const Tensors& outputs, const Tensors& seeds) {
  if (!seeds.empty() && seeds.size() != outputs.size())
    fail(std::string(function) + ": " + std::to_string(seeds.size()) + " seed gradients for " +
         std::to_string(outputs.size()) + " outputs");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& y = outputs[i];
    if (!y.requires_grad())
      fail(std::string(function) + ": the output of shape " + y.shape().str() +
           " does not require a gradient: nothing it was computed from does, or it was computed "
           "under NoGrad or after detach()");
    Tensor seed = seeds.empty() ? Tensor() : seeds[i];
    if (!seed.defined()) {
      if (y.numel() != 1)
        fail(std::string(function) + ": the output has shape " + y.shape().str() +
             "; only a single number has a gradient by itself. Reduce it first, for example with "
             "sum(), or pass a seed gradient of that shape");
      seed = empty(y.shape(), y.dtype(), y.device());
      seed.fill_(1);
    }
    if (seed.shape() != y.shape() || seed.dtype() != y.dtype())
      fail(std::string(function) + ": the seed gradient is " + name_of(seed.dtype()) + " " +
           seed.shape().str() + ", the output " + name_of(y.dtype()) + " " + y.shape().str());
    sweep.seed(y, seed);
  }
}

}  // namespace

void backward(const Tensors& outputs, const Tensors& seeds, BackwardOptions options) {
  Sweep sweep(options.retain_graph || options.create_graph, options.create_graph, nullptr);
  seed_all(sweep, "backward", outputs, seeds);
  sweep.run();
}

void Tensor::backward(const Tensor& seed, BackwardOptions options) const {
  labgrad::backward({*this}, seed.defined() ? Tensors{seed} : Tensors{}, options);
}

Tensors grad(const Tensors& outputs, const Tensors& inputs, const Tensors& seeds,
             GradOptions options) {
  std::vector<Target> targets;
  for (const Tensor& x : inputs) {
    if (!x.requires_grad())
      fail("grad: an input of shape " + x.shape().str() + " does not require a gradient");
    targets.push_back({edge_to(x), {}});
  }
  {
    Sweep sweep(options.retain_graph || options.create_graph, options.create_graph, &targets);
    for (const Tensor& y : outputs) y.array();
    sweep.restrict_to(nodes_towards(targets, outputs));
    seed_all(sweep, "grad", outputs, seeds);
    sweep.run();
  }
  Tensors gradients;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!targets[i].gradient.defined() && !options.allow_unused)
      fail("grad: the outputs do not depend on input " + std::to_string(i) + " of shape " +
           inputs[i].shape().str() +
           "; give allow_unused = true to get an undefined Tensor for it");
    gradients.push_back(targets[i].gradient);
  }
  return gradients;
}

Tensor grad(const Tensor& output, const Tensor& input, const Tensor& seed, GradOptions options) {
  return grad(Tensors{output}, Tensors{input}, seed.defined() ? Tensors{seed} : Tensors{},
              options)[0];
}

}  // namespace labgrad
