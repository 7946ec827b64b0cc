// One step of a GRU:
//
//   for the states in groups of rows               divided among threads
//     for each vector of the hidden width          all three gates of it at once
//
// All that a row needs is read once, and written once: at the readers' and translation's sizes
// (B = 128, H = 64 and 128) xs, u and the gates of one step are 0.3 to 0.7 MiB, which the second
// cache holds. Three exponentials an element set the pace.

#include <algorithm>
#include <cstdint>

#include "engine/cpu/cpu.h"
#include "engine/cpu/each_vector.h"
#include "engine/cpu/threads.h"
#include "engine/cpu/vec.h"
#include "engine/cpu/vec_math.h"

namespace labgrad {

using namespace cpu;

namespace {

constexpr std::int64_t group_elements = 4096;

std::int64_t rows_in_group(std::int64_t H) {
  return std::max<std::int64_t>(1, group_elements / std::max<std::int64_t>(1, H));
}

template <class T>
T* row(const Array& a, std::int64_t i) {
  return a.data ? a.as<T>() + i * a.strides[0] : nullptr;
}

// r = σ(xs_r + u_r),  z = σ(xs_z + u_z),  n = tanh(xs_n + r u_n),  y = (1 - z) n + z h
template <class T>
void step(T* y, T* gates, const T* xs, const T* u, const T* b, const T* h, std::int64_t H) {
  using V = Vec<T>;
  each_vector<T>(0, H, T(0), [&](auto read, auto write) {
    auto share = [&](std::int64_t g) {
      return b ? V(read(u + g * H) + read(b + g * H)) : V(read(u + g * H));
    };
    const V r = sigmoid(V(read(xs) + share(0)));
    const V z = sigmoid(V(read(xs + H) + share(1)));
    const V un = share(2);
    const V n = tanh(V(read(xs + 2 * H) + r * un));
    write(y, V((1 - z) * n + z * read(h)));
    if (!gates) return;
    write(gates, r);
    write(gates + H, z);
    write(gates + 2 * H, n);
    write(gates + 3 * H, un);
  });
}

// What a step that does not count leaves: the state as it was.
template <class T>
void stand_still(T* y, T* gates, const T* h, std::int64_t H) {
  copy_run(y, h, H);
  if (!gates) return;
  std::fill(gates, gates + 4 * H, T(0));
  std::fill(gates + H, gates + 2 * H, T(1));
}

// g = dy + dh:  d_n = g (1 - z) (1 - n²),  d_z = g (h - n) z (1 - z),  d_r = d_n u_n r (1 - r)
template <class T>
void step_backward(T* dxs, T* du, T* dh, const T* dy, const T* gates, const T* h, std::int64_t H) {
  using V = Vec<T>;
  each_vector<T>(0, H, T(0), [&](auto read, auto write) {
    const V r = read(gates), z = read(gates + H), n = read(gates + 2 * H);
    const V un = read(gates + 3 * H);
    const V g = read(dy) + read(dh);
    const V d_n = g * (1 - z) * (1 - n * n);
    const V d_z = g * (read(h) - n) * z * (1 - z);
    const V d_r = d_n * un * r * (1 - r);
    write(dxs, d_r);
    write(du, d_r);
    write(dxs + H, d_z);
    write(du + H, d_z);
    write(dxs + 2 * H, d_n);
    write(du + 2 * H, V(d_n * r));
    write(dh, V(g * z));
  });
}

}  // namespace

void Cpu::gru_step(const Array& y, const Array& gates, const Array& xs, const Array& u,
                   const Array& b, const Array& h, const Array& real) const {
  const std::int64_t H = y.shape[1];
  dispatch_floating(y.dtype, "gru_step", [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(y.shape[0], rows_in_group(H), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        if (!real.data || real.as<bool>()[i * real.strides[0]])
          step<T>(row<T>(y, i), row<T>(gates, i), row<T>(xs, i), row<T>(u, i), b.as<T>(),
                  row<T>(h, i), H);
        else
          stand_still<T>(row<T>(y, i), row<T>(gates, i), row<T>(h, i), H);
    });
  });
}

void Cpu::gru_step_backward(const Array& dxs, const Array& du, const Array& dh, const Array& dy,
                            const Array& gates, const Array& h) const {
  const std::int64_t H = dy.shape[1];
  dispatch_floating(dy.dtype, "gru_step_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(dy.shape[0], rows_in_group(H), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        step_backward<T>(row<T>(dxs, i), row<T>(du, i), row<T>(dh, i), row<T>(dy, i),
                         row<T>(gates, i), row<T>(h, i), H);
    });
  });
}

}  // namespace labgrad
