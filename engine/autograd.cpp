#include "engine/autograd.h"

#include <atomic>
#include <cmath>

#include "engine/counter.h"

namespace labgrad {
namespace {

std::atomic<std::uint64_t> created{0}, destroyed{0};

}  // namespace

namespace detail {
constinit thread_local bool detecting = false;
// The op whose backward runs on this thread, for messages; kept by the sweep.
constinit thread_local const char* running_op = nullptr;
}  // namespace detail

void Saved::changed() const {
  const std::string op = detail::running_op ? std::string("'") + detail::running_op + "'" : "an op";
  fail("backward of " + op + ": a tensor of shape " + x_.shape().str() +
       " that it saved has been changed in place (it is at version " +
       std::to_string(x_.version()) + ", saved at version " + std::to_string(version_) +
       "); change a copy instead, or after backward()");
}

Edge edge_to(const Tensor& x) {
  Edge e;
  if (!x.requires_grad()) return e;
  if (x.impl()->node) {
    e.node = x.impl()->node;
    e.output = x.impl()->output;
  } else {
    e.leaf = x.ref();
  }
  return e;
}

Node::Node(const char* op, std::span<const Tensor> ys)
    : outputs_(static_cast<std::uint32_t>(ys.size())),
      op_(op),
      sequence_(add_to(created, std::uint64_t{1})),
      first_(ys.size() == 1 ? SmallForm(ys[0]) : SmallForm()) {
  if (first_.kept) return;
  for (const Tensor& y : ys) extras().forms.emplace_back(y);
  if (ys.size() != 1) extras().pending.resize(ys.size());
}

Form Node::form(std::uint32_t output) const {
  if (!first_.kept) return extras_->forms[output];
  Form form;
  form.shape = Shape(std::span(first_.sizes).first(first_.rank));
  form.dtype = first_.dtype;
  form.device = first_.device;
  return form;
}

Node::Extras& Node::extras() {
  if (!extras_) extras_ = std::make_unique<Extras>();
  return *extras_;
}

Node::~Node() { add_to(destroyed, std::uint64_t{1}); }

std::int64_t live_nodes() { return static_cast<std::int64_t>(created.load() - destroyed.load()); }

DetectAnomaly::DetectAnomaly() : before_(std::exchange(detail::detecting, true)) {}
DetectAnomaly::~DetectAnomaly() { detail::detecting = before_; }

void check_finite(const Tensor& x, const std::string& what) {
  if (!is_floating(x.dtype())) return;
  const std::vector<double> values = x.to_vector();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    Shape index = x.shape();
    auto rest = static_cast<std::int64_t>(i);
    for (int d = x.rank() - 1; d >= 0; --d) {
      index[d] = rest % x.shape()[d];
      rest /= x.shape()[d];
    }
    const std::string where =
        detail::running_op ? std::string("in the backward of '") + detail::running_op + "', " : "";
    fail("anomaly: " + where + what + " of shape " + x.shape().str() + " has " +
         (std::isnan(values[i]) ? "NaN"
          : values[i] > 0       ? "inf"
                                : "-inf") +
         " at index " + index.str());
  }
}

void detail::record(Tensor& y, Ref<GraphNode> node, std::uint32_t output) {
  if (!is_floating(y.dtype())) return;
  y.impl()->node = std::move(node);
  y.impl()->output = output & 0x7fffffffU;  // its 31 bits
  y.impl()->requires_grad = true;
}

void Tensor::register_hook(Hook hook) {
  if (!requires_grad())
    fail(
        "register_hook: the tensor does not require a gradient, so the hook would never be called");
  if (impl_->node) {
    static_cast<Node&>(*impl_->node)
        .extras()
        .hooks.emplace_back(std::uint32_t{impl_->output}, std::move(hook));
    return;
  }
  impl_->ensure_extras().hooks.push_back(std::move(hook));
}

void Tensor::retain_grad() {
  if (!requires_grad()) fail("retain_grad: the tensor does not require a gradient");
  if (is_leaf()) return;
  if (impl_->ensure_extras().retained) return;
  auto slot = std::make_shared<Ref<TensorImpl>>();
  impl_->extras->retained = slot;
  // The hook holds the slot and not the tensor: a node that owned its output would never be freed.
  register_hook([slot](const Tensor& gradient) {
    *slot = gradient.ref();
    return Tensor();
  });
}

}  // namespace labgrad
