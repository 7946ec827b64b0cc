#include "engine/tensor.h"

#include <cmath>
#include <utility>

#include "engine/accelerator.h"

namespace labgrad {
namespace {

std::string described(const Tensor& x) {
  return std::string(name_of(x.dtype())) + " " + x.shape().str();
}

}  // namespace

constinit thread_local bool detail::recording = true;
using detail::recording;

NoGrad::NoGrad() : before_(std::exchange(recording, false)) {}
NoGrad::~NoGrad() { recording = before_; }
EnableGrad::EnableGrad(bool on) : before_(std::exchange(recording, on)) {}
EnableGrad::~EnableGrad() { recording = before_; }

// ---- release without recursion ----

namespace {
thread_local std::vector<GraphNode*>* doomed = nullptr;
}

void GraphNode::destroy(GraphNode* node) noexcept {
  // Deleting a node drops the tensors that it saved and with them perhaps the last hold on earlier
  // nodes. Those arrive here while the loop below runs, and wait in its list.
  if (doomed) {
    doomed->push_back(node);
    return;
  }
  std::vector<GraphNode*> waiting;
  doomed = &waiting;
  delete node;
  while (!waiting.empty()) {
    GraphNode* next = waiting.back();
    waiting.pop_back();
    delete next;
  }
  doomed = nullptr;
}

// ---- what it is ----

void Tensor::undefined() {
  fail("tensor: this Tensor is undefined (default-constructed, or a gradient that does not exist)");
}

std::int64_t Tensor::size(std::int64_t dim) const {
  const int d = wrap_dim(dim, rank(), "size");
  return rank() == 0 ? 1 : shape()[d];
}

std::int64_t Tensor::offset() const {
  return (array().data - impl_->storage->data()) / static_cast<std::int64_t>(size_of(dtype()));
}

bool Tensor::shares_storage(const Tensor& other) const {
  return defined() && other.defined() && impl_->storage == other.impl_->storage;
}

// ---- reading ----

void Tensor::check_span(DType wanted, const char* method) const {
  if (dtype() != wanted)
    fail(std::string(method) + ": asked for " + name_of(wanted) + ", the tensor is " +
         described(*this));
  if (!is_contiguous())
    fail(std::string(method) + ": the tensor " + described(*this) + " with strides " +
         strides().str() + " is not contiguous; call contiguous() first, or to_vector()");
  if (!in_host_memory(device()))
    fail(std::string(method) + ": the tensor " + described(*this) +
         " lies in the memory of the device " + name_of(device()) +
         "; use to_vector(), or to(x, Device::cpu) first");
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  if (!in_host_memory(device())) return moved(*this, Device::cpu).to_vector<T>();
  std::vector<T> out(static_cast<std::size_t>(numel()));
  const Shape dense = contiguous_strides(shape());
  kernels(device()).copy({reinterpret_cast<std::byte*>(out.data()), dtype_of<T>, shape(), dense},
                         array());
  return out;
}
template std::vector<float> Tensor::to_vector<float>() const;
template std::vector<double> Tensor::to_vector<double>() const;
template std::vector<std::int64_t> Tensor::to_vector<std::int64_t>() const;

template <class E>
E Tensor::element(std::int64_t place) const {
  const E* from = array().as<E>() + place;
  if (in_host_memory(device())) return *from;
  E e;
  accelerator(device()).download(reinterpret_cast<std::byte*>(&e),
                                 reinterpret_cast<const std::byte*>(from), sizeof(E));
  return e;
}

template <class T>
T Tensor::item() const {
  if (numel() != 1)
    fail("item: needs a tensor of one element, got " + described(*this) +
         "; use at({...}) or to_vector()");
  return dispatch(dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    return static_cast<T>(element<E>(0));
  });
}
template float Tensor::item<float>() const;
template double Tensor::item<double>() const;
template std::int64_t Tensor::item<std::int64_t>() const;
template int Tensor::item<int>() const;
template bool Tensor::item<bool>() const;

double Tensor::at(std::initializer_list<std::int64_t> index) const {
  if (static_cast<int>(index.size()) != rank())
    fail("at: " + std::to_string(index.size()) + " indices for a tensor of shape " + shape().str());
  std::int64_t place = 0;
  int d = 0;
  for (std::int64_t i : index) {
    const std::int64_t n = shape()[d];
    if (i < -n || i >= n)
      fail("at: index " + std::to_string(i) + " is out of range at dimension " + std::to_string(d) +
           " of a tensor of shape " + shape().str());
    place += (i < 0 ? i + n : i) * strides()[d++];
  }
  return dispatch(dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    return static_cast<double>(element<E>(place));
  });
}

// ---- in place ----

void Tensor::check_inplace(const char* method, const Tensor* other) const {
  for (int d = 0; d < rank(); ++d)
    if (strides()[d] == 0 && shape()[d] > 1 && numel() > 0)
      fail(std::string(method) + ": the elements of " + described(*this) +
           " are repeated along dimension " + std::to_string(d) +
           " (it was expanded), so they cannot be changed one by one; clone() it first");
  if (!recording) return;
  if (requires_grad() || (other && other->requires_grad()))
    fail(std::string(method) + ": an in-place change of " + described(*this) +
         " would not be recorded by autograd, since " +
         (requires_grad() ? (is_leaf() ? "it is a leaf that requires a gradient"
                                       : std::string("it is the result of '") + grad_fn() + "'")
                          : "the other operand requires a gradient") +
         "; use the op that returns a new tensor, or do it inside a NoGrad");
}

Tensor& Tensor::zip_(Binary f, const char* method, const Tensor& other) {
  check_inplace(method, &other);
  if (!broadcasts_to(other.shape(), shape()))
    fail(std::string(method) + ": shape " + other.shape().str() + " does not broadcast to " +
         shape().str() + ", and an in-place op keeps its shape");
  if (promote(dtype(), other.dtype()) != dtype() &&
      !(is_floating(dtype()) && is_floating(other.dtype())))
    fail(std::string(method) + ": " + name_of(other.dtype()) + " does not fit into " +
         name_of(dtype()) + " in place");
  if (f == Binary::div && !is_floating(dtype()))
    fail("div_: needs a floating dtype in place, got " + described(*this));
  if (other.device() != device())
    fail(std::string(method) + ": the operands are on different devices, " + name_of(device()) +
         " and " + name_of(other.device()));
  const Kernels& k = kernels(device());
  Array rhs = other.array();
  // Another view of the same storage may overlap the target, so it is read before the writing.
  const bool overlaps =
      shares_storage(other) &&
      !(rhs.data == array().data && rhs.shape == shape() && rhs.strides == strides());
  Tensor copy;
  if (rhs.dtype != dtype() || overlaps) {
    copy = empty(other.shape(), dtype(), device());
    k.copy(copy.array(), rhs);
    rhs = copy.array();
  }
  impl_->storage->bump_version();
  k.zip(f, array(), array(), rhs.expanded(shape()));
  return *this;
}

Tensor& Tensor::fill_(Scalar value) {
  check_inplace("fill_", nullptr);
  if (dtype() == DType::i64 && value.dtype == f32 && value.value != std::floor(value.value))
    fail("fill_: " + std::to_string(value.value) + " does not fit into i64");
  impl_->storage->bump_version();
  if (dtype() == DType::i64 && value.dtype != f32)
    kernels(device()).fill_i64(array(), value.integer);
  else
    kernels(device()).fill(array(), value.value);
  return *this;
}

Tensor& Tensor::copy_(const Tensor& source) {
  check_inplace("copy_", &source);
  if (!broadcasts_to(source.shape(), shape()))
    fail("copy_: shape " + source.shape().str() + " does not broadcast to " + shape().str());
  // A source in the same storage may overlap the target, so it is read whole before the writing.
  Tensor safe = moved(source, device());
  if (shares_storage(source)) {
    safe = empty(source.shape(), source.dtype(), device());
    kernels(device()).copy(safe.array(), source.array());
  }
  impl_->storage->bump_version();
  kernels(device()).copy(array(), safe.array().expanded(shape()));
  return *this;
}

Tensor& Tensor::add_(const Tensor& other, double alpha) {
  if (alpha == 1 || other.device() != device()) return zip_(Binary::add, "add_", other);
  Tensor scaled = empty(other.shape(), other.dtype(), device());
  kernels(device()).copy(scaled.array(), other.array());
  scaled.mul_(Scalar(alpha));
  check_inplace("add_", &other);
  return zip_(Binary::add, "add_", scaled);
}
Tensor& Tensor::sub_(const Tensor& other) { return zip_(Binary::sub, "sub_", other); }
Tensor& Tensor::mul_(const Tensor& other) { return zip_(Binary::mul, "mul_", other); }
Tensor& Tensor::div_(const Tensor& other) { return zip_(Binary::div, "div_", other); }

namespace {
Tensor number(Scalar value, DType dtype, Device device) {
  if (value.dtype == f32 && !is_floating(dtype)) dtype = f32;  // then zip_ reports the misfit
  Tensor s = empty({}, dtype, device);
  s.fill_(value);
  return s;
}
}  // namespace

Tensor& Tensor::add_(Scalar value) {
  return zip_(Binary::add, "add_", number(value, dtype(), device()));
}
Tensor& Tensor::mul_(Scalar value) {
  return zip_(Binary::mul, "mul_", number(value, dtype(), device()));
}

// ---- gradients of leaves ----

Tensor& Tensor::requires_grad_(bool on) {
  array();
  if (on && !is_floating(dtype()))
    fail("requires_grad_: only f32 and f64 tensors have gradients, got " + described(*this));
  if (!on && impl_->node)
    fail("requires_grad_(false): the tensor is the result of '" + std::string(grad_fn()) +
         "'; use detach()");
  impl_->requires_grad = on;
  return *this;
}

Tensor Tensor::grad() const {
  array();
  if (!impl_->extras) return {};
  return Tensor(impl_->extras->retained ? *impl_->extras->retained : impl_->extras->grad);
}

void Tensor::set_grad(const Tensor& gradient) {
  array();
  if (gradient.defined() &&
      (gradient.shape() != shape() || gradient.dtype() != dtype() || gradient.device() != device()))
    fail("set_grad: the gradient is " + described(gradient) + ", the tensor " + described(*this));
  impl_->ensure_extras().grad = gradient.ref();
}

void Tensor::zero_grad() {
  array();
  if (!impl_->extras) return;
  impl_->extras->grad = {};
  if (impl_->extras->retained) *impl_->extras->retained = {};
}

Tensor Tensor::detach() const { return alias(*this, shape(), strides()); }

Tensor& Tensor::detach_() {
  array();
  impl_->node = {};
  impl_->requires_grad = false;
  return *this;
}

// ---- making ----

Tensor empty(const Shape& shape, DType dtype, Device device) {
  for (std::int64_t n : shape)
    if (n < 0) fail("tensor: negative size in shape " + shape.str());
  std::int64_t bytes = static_cast<std::int64_t>(size_of(dtype));
  for (std::int64_t n : shape)
    if (__builtin_mul_overflow(bytes, n, &bytes))
      fail("tensor: shape " + shape.str() + " has more bytes than an address can count");
  Ref<TensorImpl> impl = Ref<TensorImpl>::first(new TensorImpl);
  impl->storage = Storage::make(static_cast<std::size_t>(bytes), device);
  Array& a = impl->array;  // field by field: an Array is large to move
  a.data = impl->storage->data();
  a.dtype = dtype;
  a.shape = shape;
  if (shape.rank() > 0) a.strides = contiguous_strides(shape);
  return Tensor(std::move(impl));
}

Tensor alias(const Tensor& x, const Shape& shape, const Strides& strides, std::int64_t offset) {
  x.array();  // an undefined x is an error
  Ref<TensorImpl> impl = Ref<TensorImpl>::first(new TensorImpl);
  impl->storage = x.impl()->storage;
  Array& a = impl->array;
  a.data = x.array().data + offset * static_cast<std::int64_t>(size_of(x.dtype()));
  a.dtype = x.dtype();
  a.shape = shape;
  a.strides = strides;
  return Tensor(std::move(impl));
}

Tensor moved(const Tensor& x, Device device) {
  const Device from = x.device();
  if (from == device) return x;
  const bool apart = !in_host_memory(device), was_apart = !in_host_memory(from);
  if (apart && was_apart) return moved(moved(x, Device::cpu), device);
  const Tensor source = apart || was_apart ? packed(x) : x;
  Tensor y = empty(x.shape(), x.dtype(), device);
  const std::size_t bytes = static_cast<std::size_t>(x.numel()) * size_of(x.dtype());
  if (apart)
    accelerator(device).upload(y.array().data, source.array().data, bytes);
  else if (was_apart)
    accelerator(from).download(y.array().data, source.array().data, bytes);
  else
    kernels(device).copy(y.array(), source.array());
  return y;
}

Tensor packed(const Tensor& x) {
  if (x.is_contiguous()) return x;
  Tensor y = empty(x.shape(), x.dtype(), x.device());
  kernels(x.device()).copy(y.array(), x.array());
  return y;
}

}  // namespace labgrad
