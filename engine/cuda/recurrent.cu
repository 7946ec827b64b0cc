// One step of a GRU and its backward: a thread for each element of the state. All gates of an
// element are in the same thread's registers, so that a step takes two launches: the product of the
// state with the weights, and this.

#include <cmath>
#include <cstdint>

#include "engine/cuda/cuda.h"
#include "engine/cuda/platform.h"
#include "engine/naive/formulas.h"

namespace labgrad {

using naive::sigmoid;

namespace {

// A matrix of dense rows in which gates lie side by side, each H wide.
template <class T>
struct Rows {
  Rows(const Array& a, const char* name, std::int64_t width)
      : memory(a, name), row(a.data ? a.strides[0] : 0), H(width) {}
  __device__ T& operator()(std::int64_t i, std::int64_t k, int gate = 0) const {
    return memory[i * row + gate * H + k];
  }
  __device__ explicit operator bool() const { return static_cast<bool>(memory); }

  Memory<T> memory;
  std::int64_t row, H;
};

// r = σ(xs_r + u_r),  z = σ(xs_z + u_z),  n = tanh(xs_n + r u_n),  y = (1 - z) n + z h
template <class T>
__global__ void gru_step_kernel(Rows<T> y, Rows<T> gates, Rows<const T> xs, Rows<const T> u,
                                Memory<const T> b, Rows<const T> h, Memory<const bool> real,
                                std::int64_t real_stride, std::int64_t B) {
  const std::int64_t H = y.H;
  for (std::int64_t at = first_index(); at < B * H; at += index_step()) {
    const std::int64_t i = at / H, k = at % H;
    const T before = h(i, k);
    T r = 0, z = 1, n = 0, un = 0, after = before;
    if (!real || real[i * real_stride]) {
      const auto share = [&](int gate) { return u(i, k, gate) + (b ? b[gate * H + k] : T(0)); };
      un = share(2);
      r = sigmoid(xs(i, k, 0) + share(0));
      z = sigmoid(xs(i, k, 1) + share(1));
      n = std::tanh(xs(i, k, 2) + r * un);
      after = (1 - z) * n + z * before;
    }
    y(i, k) = after;
    if (!gates) continue;
    gates(i, k, 0) = r;
    gates(i, k, 1) = z;
    gates(i, k, 2) = n;
    gates(i, k, 3) = un;
  }
}

// g = dy + dh:  d_n = g (1 - z) (1 - n²),  d_z = g (h - n) z (1 - z),  d_r = d_n u_n r (1 - r)
template <class T>
__global__ void gru_step_backward_kernel(Rows<T> dxs, Rows<T> du, Rows<T> dh, Rows<const T> dy,
                                         Rows<const T> gates, Rows<const T> h, std::int64_t B) {
  const std::int64_t H = dh.H;
  for (std::int64_t at = first_index(); at < B * H; at += index_step()) {
    const std::int64_t i = at / H, k = at % H;
    const T r = gates(i, k, 0), z = gates(i, k, 1), n = gates(i, k, 2), un = gates(i, k, 3);
    const T g = dy(i, k) + dh(i, k);
    const T d_n = g * (1 - z) * (1 - n * n);
    const T d_z = g * (h(i, k) - n) * z * (1 - z);
    const T d_r = d_n * un * r * (1 - r);
    dxs(i, k, 0) = d_r;
    dxs(i, k, 1) = d_z;
    dxs(i, k, 2) = d_n;
    du(i, k, 0) = d_r;
    du(i, k, 1) = d_z;
    du(i, k, 2) = d_n * r;
    dh(i, k) = g * z;
  }
}

}  // namespace

void Cuda::gru_step(const Array& y, const Array& gates, const Array& xs, const Array& u,
                    const Array& b, const Array& h, const Array& real) const {
  const std::int64_t B = y.shape[0], H = y.shape[1];
  if (B * H == 0) return;
  dispatch_floating(y.dtype, "gru_step", [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch("gru_step", gru_step_kernel<T>, grid_of(B * H), block_size, Rows<T>(y, "y", H),
           Rows<T>(gates, "gates", H), Rows<const T>(xs, "xs", H), Rows<const T>(u, "u", H),
           Memory<const T>(b, "b"), Rows<const T>(h, "h", H), Memory<const bool>(real, "real"),
           real.data ? real.strides[0] : 0, B);
  });
}

void Cuda::gru_step_backward(const Array& dxs, const Array& du, const Array& dh, const Array& dy,
                             const Array& gates, const Array& h) const {
  const std::int64_t B = dy.shape[0], H = dy.shape[1];
  if (B * H == 0) return;
  dispatch_floating(dy.dtype, "gru_step_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch("gru_step_backward", gru_step_backward_kernel<T>, grid_of(B * H), block_size,
           Rows<T>(dxs, "dxs", H), Rows<T>(du, "du", H), Rows<T>(dh, "dh", H),
           Rows<const T>(dy, "dy", H), Rows<const T>(gates, "gates", H), Rows<const T>(h, "h", H),
           B);
  });
}

}  // namespace labgrad
