#pragma once
// Tensor: a handle on shared elements (storage), the way they are read (shape, strides, dtype), and
// what autograd knows of it. Copying a Tensor copies the handle; views share the storage.
//
// Ops are free functions (engine/ops.h) and operators; the methods here look at a tensor, read it,
// change it in place, or concern its gradient.

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/kernels.h"
#include "engine/ref.h"
#include "engine/storage.h"

namespace labgrad {

class Tensor;
using Tensors = std::vector<Tensor>;
using Hook = std::function<Tensor(const Tensor& gradient)>;

// A number given where a tensor could stand: x * 2, full({3}, true). It remembers whether it was
// written as an integer, for then i64 * 2 stays i64 (and f32 * 2.0 stays f32 in any case).
struct Scalar {
  template <class T>
  requires std::is_arithmetic_v<T> Scalar(T v)
      : value(static_cast<double>(v)),
        integer(std::is_integral_v<T> ? static_cast<std::int64_t>(v) : 0),
        dtype(std::is_same_v<T, bool> ? boolean
              : std::is_integral_v<T> ? i64
                                      : f32) {}

  double value;
  std::int64_t integer;  // exact, where it was written as an integer
  DType dtype;           // boolean, i64 or f32: the kind it was written as
};

// What a tensor knows of the graph: the op that made it. autograd.h has the rest.
class GraphNode : public Counted {
 public:
  virtual ~GraphNode() = default;
  virtual const char* op() const = 0;

  // Frees a node and all that only it held, in a loop and not by recursion: a chain of a million
  // ops must not need a million stack frames.
  static void destroy(GraphNode* node) noexcept;
};

// The shared part behind the handles. Library code uses it; programs use Tensor. A graph of small
// tensors has as many of these as the caches can hold: three cache lines each.
struct TensorImpl : public Counted, public Recycled<TensorImpl> {
  std::uint32_t output : 31 = 0;  // which of the node's outputs
  std::uint32_t requires_grad : 1 = 0;
  Ref<Storage> storage;
  Array array;
  Ref<GraphNode> node;  // the op that made it; none for a leaf

  // What intermediate results rarely have.
  struct Extras : public Recycled<Extras> {
    Ref<TensorImpl> grad;                       // of a leaf: what backward() has summed up
    Ref<TensorImpl> pending;                    // of a leaf, in a sweep: the contributions so far
    std::vector<Hook> hooks;                    // of a leaf
    std::shared_ptr<Ref<TensorImpl>> retained;  // of a non-leaf after retain_grad()
  };
  std::unique_ptr<Extras> extras;

  Extras& ensure_extras() {
    if (!extras) extras = std::make_unique<Extras>();
    return *extras;
  }

  static void destroy(TensorImpl* impl) noexcept { delete impl; }
};
static_assert(sizeof(TensorImpl) <= 3 * 64);

struct BackwardOptions {
  bool retain_graph = false;  // keep saved values, so that backward can run again
  // Record the backward pass itself: for second derivatives. The grad of a leaf is then part of a
  // graph that holds the leaf, and both live until zero_grad(); grad() makes no such circle.
  bool create_graph = false;
};

class Tensor {
 public:
  Tensor() = default;  // undefined: no shape, no elements
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}

  // ---- what it is ----
  bool defined() const { return static_cast<bool>(impl_); }
  const Shape& shape() const { return array().shape; }
  std::int64_t size(std::int64_t dim) const;  // dim may be negative; error: out of range
  int rank() const { return shape().rank(); }
  std::int64_t numel() const { return shape().numel(); }
  const Strides& strides() const { return array().strides; }  // in elements
  std::int64_t offset() const;  // in elements, from the storage's start
  DType dtype() const { return array().dtype; }
  Device device() const { return checked().storage->device(); }
  bool is_contiguous() const { return labgrad::is_contiguous(shape(), strides()); }
  bool shares_storage(const Tensor& other) const;
  // For kernels. Error: the tensor is undefined.
  const Array& array() const { return checked().array; }

  // ---- reading ----
  // The only element, as double, float, int, std::int64_t or bool. Error: not one; names the shape.
  template <class T = double>
  T item() const;
  // One element; indices may be negative. Error: wrong number of them, or one out of range.
  double at(std::initializer_list<std::int64_t> index) const;
  // The elements in row-major order, without a copy. Error: not contiguous; T is not the dtype; not
  // in the host's memory.
  template <class T>
  std::span<const T> span() const;
  // The same for writing: counts as an in-place change of the tensor, with the errors of one.
  template <class T>
  std::span<T> writable_span();
  // The elements in row-major order, copied from any layout, as double, float or std::int64_t.
  template <class T = double>
  std::vector<T> to_vector() const;
  // As printed by std::cout << x: values aligned, then shape, dtype and grad_fn.
  std::string str() const;

  // ---- in place: the storage changes, and with it every view ----
  // Errors: the tensor is recorded by autograd (use the op that returns a new tensor, or NoGrad);
  // its elements are repeated (expand); the other one does not broadcast to it, or its dtype would
  // lose kind (f32 into i64). Only copy_ converts whatever it is given, as to() does.
  Tensor& fill_(Scalar value);
  Tensor& zero_() { return fill_(0); }
  Tensor& copy_(const Tensor& source);
  Tensor& add_(const Tensor& other, double alpha = 1);  // += alpha * other
  Tensor& sub_(const Tensor& other);
  Tensor& mul_(const Tensor& other);
  Tensor& div_(const Tensor& other);
  Tensor& add_(Scalar value);
  Tensor& mul_(Scalar value);
  // How often this storage has been changed in place.
  std::uint32_t version() const { return checked().storage->version(); }

  // ---- autograd ----
  bool requires_grad() const { return impl_ && impl_->requires_grad; }
  // Makes a leaf that backward() fills the grad of. Error: not floating; a non-leaf switched off.
  Tensor& requires_grad_(bool on = true);
  bool is_leaf() const { return !checked().node; }
  // The op that made it, "" for a leaf.
  const char* grad_fn() const { return is_leaf() ? "" : impl_->node->op(); }
  // The summed gradient of a leaf (or after retain_grad()); undefined if there is none yet.
  Tensor grad() const;
  void set_grad(const Tensor& gradient);  // without a copy. Error: shape, dtype or device differ
  void zero_grad();                       // forgets the gradient
  // Keeps the gradient of a non-leaf as well. Error: it requires none.
  void retain_grad();
  // Calls hook with the complete gradient of this tensor in every sweep; if it returns a defined
  // tensor (of the same shape and dtype), that one goes on. Error: this requires no gradient.
  void register_hook(Hook hook);
  // The same elements, outside the graph. A later in-place change is seen by both.
  Tensor detach() const;
  // Leaves the graph in place. What was computed from it before still sends its gradients through.
  Tensor& detach_();
  // Adds d(this)/d(leaf) to the grad of each leaf it was computed from (engine/backward.h). A seed
  // is needed unless this is a single number.
  void backward(const Tensor& seed = {}, BackwardOptions options = {}) const;

  TensorImpl* impl() const { return impl_.get(); }
  const Ref<TensorImpl>& ref() const& { return impl_; }
  Ref<TensorImpl> ref() && { return std::move(impl_); }

 private:
  TensorImpl& checked() const {
    if (!impl_) undefined();
    return *impl_;
  }
  [[noreturn]] static void undefined();
  void check_span(DType wanted, const char* method) const;
  template <class E>
  E element(std::int64_t place) const;  // `place` elements after the first
  void check_inplace(const char* method, const Tensor* other) const;
  Tensor& zip_(Binary f, const char* method, const Tensor& other);

  Ref<TensorImpl> impl_;
};

// Prints x.str().
std::ostream& operator<<(std::ostream& out, const Tensor& x);

// ---- making tensors without values; engine/create.h has the rest ----

// A new dense tensor, its elements not initialised.
Tensor empty(const Shape& shape, DType dtype, Device device);
// Another view of x's storage, outside the graph. `offset` in elements, from x's first element.
Tensor alias(const Tensor& x, const Shape& shape, const Strides& strides, std::int64_t offset = 0);
// x's elements on that device, in row-major order; x itself if it is there already. Outside the
// graph.
Tensor moved(const Tensor& x, Device device);
// x with row-major elements: x itself if it is so already, else a copy. Outside the graph.
Tensor packed(const Tensor& x);

// ---- whether ops are recorded; one flag for each thread ----
namespace detail {
extern constinit thread_local bool recording;
}
inline bool grad_enabled() { return detail::recording; }

// While it lives, ops on this thread are not recorded. Nests; restored when left by an exception.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

// The opposite, inside a NoGrad; with on = false the same as NoGrad.
class EnableGrad {
 public:
  explicit EnableGrad(bool on = true);
  ~EnableGrad();
  EnableGrad(const EnableGrad&) = delete;
  EnableGrad& operator=(const EnableGrad&) = delete;

 private:
  bool before_;
};

// ---- templates ----

template <class T>
std::span<const T> Tensor::span() const {
  check_span(dtype_of<T>, "span");
  return {array().as<T>(), static_cast<std::size_t>(numel())};
}

template <class T>
std::span<T> Tensor::writable_span() {
  check_span(dtype_of<T>, "writable_span");
  check_inplace("writable_span", nullptr);
  impl_->storage->bump_version();
  return {array().as<T>(), static_cast<std::size_t>(numel())};
}

}  // namespace labgrad
