#pragma once
// THE contract between the library and a device: every primitive that a device implements.
//
// What holds for each of them:
// - An Array describes memory and owns none. Strides count elements and may be 0 (a broadcast
//   read) or negative (a flipped read) in inputs. Outputs never repeat an element, and overlap an
//   input only where they are the very same view (in-place map and zip).
// - Shapes have been checked and broadcasts written out as stride 0 by the caller, so a kernel
//   never reports an error of the user's.
// - Sizes may be 0: then there is nothing to do, except that a reduction over nothing writes its
//   identity.
// - Dtypes: inputs and output agree unless the comment says otherwise.
// - Results are the same bits for every number of threads: outputs are divided among them, sums
//   never.
// - NaN propagates through arithmetic, max, min and their reductions.
//
// engine/naive implements all of it as the plain loop of each formula: the specification. A device
// derives from that class and overrides what it does faster.

#include <cstddef>
#include <cstdint>

#include "engine/device.h"
#include "engine/dtype.h"
#include "engine/shape.h"

namespace labgrad {

// Elements in memory: `data` is the first one's address.
struct Array {
  std::byte* data = nullptr;
  DType dtype = f32;
  Shape shape;
  Strides strides;

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
  // A matrix (rank 2) read with its rows as columns.
  Array transposed() const { return {data, dtype, {shape[1], shape[0]}, {strides[1], strides[0]}}; }
  // The same memory read as if it had the shape `to` (stride 0 where it is repeated).
  Array expanded(const Shape& to) const {
    return {data, dtype, to, broadcast_strides(shape, strides, to)};
  }
};

// y = f(x), elementwise. For all dtypes: neg abs sign square; for bool: logical_not; the others
// need f32 or f64. is_finite gives bool.
enum class Unary : std::uint8_t {
  neg,
  abs,
  sign,
  square,
  reciprocal,
  sqrt,
  rsqrt,
  exp,
  log,
  log1p,
  sin,
  cos,
  tanh,
  sigmoid,
  relu,
  erf,
  gelu,
  softplus,
  floor,
  logical_not,
  is_finite,
};  // gelu: x Φ(x), exact; softplus: log(1 + e^x); sign and relu are 0 at 0

// z = f(x, y), elementwise. The comparisons and logical ones give bool; logical ones take bool.
// pow(x, 0) = 1, pow(0, y) = 0 for y > 0; for i64 a negative exponent truncates (1/x) and 0 to it
// is 0. div of i64 truncates, x/0 gives 0; the library itself divides integers as f32.
enum class Binary : std::uint8_t {
  add,
  sub,
  mul,
  div,
  pow,
  maximum,
  minimum,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logical_and,
  logical_or,
  logical_xor,
};

// sum and prod accumulate f32 so that the error does not grow with the length (pairwise or in
// double); any and all take and give bool. Identities: 0, 1, -inf, +inf (lowest and highest for
// i64), false, true.
enum class Reduction : std::uint8_t { sum, prod, max, min, any, all };

struct SgdStep {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, first;  // first: the momentum buffer is set to the gradient
};

struct AdamStep {
  double lr, beta1, beta2, eps, weight_decay;
  bool decoupled;  // true: AdamW, the decay acts on the weights and not through the moments
  std::int64_t t;  // 1 at the first step
};

// Height and width of something on a plane; one number stands for both.
struct Plane {
  constexpr Plane(std::int64_t both) : h(both), w(both) {}
  constexpr Plane(std::int64_t height, std::int64_t width) : h(height), w(width) {}

  std::int64_t h, w;
  bool operator==(const Plane&) const = default;
};

// How a filter moves over planes: row i of the result meets the input's rows
// i stride.h - top + a dilation.h for a = 0, 1, ...; columns likewise with left. Beyond the edges
// the input is 0: how far follows from the result's size.
struct Convolution {
  Plane stride = 1;
  std::int64_t top = 0, left = 0;
  Plane dilation = 1;
  std::int64_t groups = 1;  // channels divided in order, each part with its own filters
};

// The same for windows; the padding is as large at the bottom and right.
struct Pooling {
  Plane kernel = 1, stride = 1, padding = 0, dilation = 1;
};

class Kernels {
 public:
  virtual ~Kernels() = default;

  // ---- elementwise; every shape is out.shape ----
  virtual void fill(const Array& out, double value) const = 0;
  virtual void fill_i64(const Array& out, std::int64_t value) const = 0;  // exact beyond 2^53
  // out = in, converted to out's dtype (to i64: towards zero; to bool: != 0). Any strides.
  virtual void copy(const Array& out, const Array& in) const = 0;
  virtual void map(Unary f, const Array& out, const Array& x) const = 0;
  virtual void zip(Binary f, const Array& out, const Array& x, const Array& y) const = 0;
  // out = condition ? x : y; condition is bool. A NaN in the branch not taken does not leak.
  virtual void where(const Array& out, const Array& condition, const Array& x,
                     const Array& y) const = 0;
  // out = min(max(x, lo), hi); NaN stays NaN.
  virtual void clamp(const Array& out, const Array& x, double lo, double hi) const = 0;

  // ---- reductions; out has x's rank, with size 1 where it is reduced ----
  virtual void reduce(Reduction f, const Array& out, const Array& x) const = 0;
  // Largest (or smallest) along dim, and its first position; a NaN counts as larger (smaller) than
  // all else. values or indices (i64) may have data == nullptr: not wanted. x.shape[dim] > 0.
  virtual void arg_reduce(bool largest, const Array& values, const Array& indices, const Array& x,
                          int dim) const = 0;
  // Running sum along dim; from the end if reverse.
  virtual void cumsum(const Array& out, const Array& x, int dim, bool reverse) const = 0;

  // ---- products ----
  // c[..., m, n] = Σ_k a[..., m, k] b[..., k, n], plus the old c if accumulate. Equal leading sizes
  // (a and b may repeat there with stride 0), any strides in a and b; k = 0 gives zeros. Without
  // accumulate the old c is never read (it may hold NaN).
  virtual void gemm(const Array& c, const Array& a, const Array& b, bool accumulate) const = 0;
  // y[m, n] = Σ_k x[m, k] w[n, k] + b[n]. Unless a device knows better: b copied to each row of y,
  // and the product added by gemm.
  virtual void linear(const Array& y, const Array& x, const Array& w, const Array& b) const;

  // ---- rows: along dim, floating dtypes ----
  // y = softmax(x) or, with log, log softmax; shifted by the maximum. A row of nothing but -inf
  // gives NaN.
  virtual void softmax(const Array& y, const Array& x, int dim, bool log) const = 0;
  // dx = y ⊙ (dy - Σ dy ⊙ y), or with log: dx = dy - e^y Σ dy.
  virtual void softmax_backward(const Array& dx, const Array& y, const Array& dy, int dim,
                                bool log) const = 0;
  // Along dim, where z has size 2: z_0 = max x and z_1 = log Σ e^(x - z_0), whose sum in f32 may
  // have lost z_1. Where z_0 is infinite, z_1 is 0.
  virtual void log_sum_exp(const Array& z, const Array& x, int dim) const = 0;
  // dx = s (e^((x - z_0) - z_1) - [its place along dim == target]); z of log_sum_exp, target (i64,
  // in 0 .. size-1) and s have size 1 at dim. Zeros where s is 0, whatever x is.
  virtual void cross_entropy_backward(const Array& dx, const Array& x, const Array& z,
                                      const Array& target, const Array& s, int dim) const = 0;
  // Over the last dim of x: mean μ, r = 1/sqrt(σ² + eps) with σ² divided by the count,
  // y = (x - μ) r ⊙ w + b. mean and rstd have x's rank with size 1 last; w and b have shape
  // (width), or data == nullptr for 1 and 0.
  virtual void layer_norm(const Array& y, const Array& mean, const Array& rstd, const Array& x,
                          const Array& w, const Array& b, double eps) const = 0;
  // With g = dy ⊙ w and h = (x - μ) r: dx = r (g - mean(g) - h mean(g ⊙ h)) over each row, and over
  // all rows dw = Σ dy ⊙ h, db = Σ dy, both dense of shape (width). dx, or dw and db together, may
  // have data == nullptr: not wanted.
  virtual void layer_norm_backward(const Array& dx, const Array& dw, const Array& db,
                                   const Array& dy, const Array& x, const Array& mean,
                                   const Array& rstd, const Array& w) const = 0;

  // ---- images: (N, C, H, W) with any strides; floating dtypes ----
  // With o in group g, and x = 0 beyond its edges:
  //   y[n,o,i,j] = Σ_cab x[n, g C/groups + c, i s - top + a d, j s - left + b d] w[o,c,a,b].
  virtual void conv2d(const Array& y, const Array& x, const Array& w,
                      const Convolution& c) const = 0;
  // The same sum read backwards: dx gets, and dw gets, all products in which it takes part.
  virtual void conv2d_input_gradient(const Array& dx, const Array& dy, const Array& w,
                                     const Convolution& c) const = 0;
  virtual void conv2d_weight_gradient(const Array& dw, const Array& x, const Array& dy,
                                      const Convolution& c) const = 0;
  // The largest in each window and its place h W + w in the plane (i64; data == nullptr: not
  // wanted). Padding is never chosen, of equal values the first in row-major order is, and a NaN
  // counts as larger than all else. Every window holds at least one element.
  virtual void max_pool2d(const Array& y, const Array& indices, const Array& x,
                          const Pooling& p) const = 0;
  // dx = 0, then dx[n, c, index] += dy in row-major order of dy. All indices lie in their window.
  virtual void max_pool2d_backward(const Array& dx, const Array& dy, const Array& indices,
                                   const Pooling& p) const = 0;
  // The sum over each window, divided by the window's size: as far as it lies in the padded plane
  // if count_padding, else as far as it lies in the plane.
  virtual void avg_pool2d(const Array& y, const Array& x, const Pooling& p,
                          bool count_padding) const = 0;
  virtual void avg_pool2d_backward(const Array& dx, const Array& dy, const Pooling& p,
                                   bool count_padding) const = 0;

  // ---- channels: dimension 1 of x (N, C, ...); all other arrays are dense of shape (C) ----
  // Mean and variance (divided by the count, which is not 0) of each channel, over two passes.
  virtual void channel_moments(const Array& mean, const Array& variance, const Array& x) const = 0;
  // y = (x - μ) r ⊙ w + b; w and b may have data == nullptr for 1 and 0.
  virtual void batch_norm(const Array& y, const Array& x, const Array& mean, const Array& rstd,
                          const Array& w, const Array& b) const = 0;
  // With h = (x - μ) r and m elements in a channel: db = Σ dy, dw = Σ dy ⊙ h,
  // dx = w r (dy - db / m - h dw / m). dx may have data == nullptr: not wanted.
  virtual void batch_norm_backward(const Array& dx, const Array& dw, const Array& db,
                                   const Array& dy, const Array& x, const Array& mean,
                                   const Array& rstd, const Array& w) const = 0;

  // The largest of max((x - μ) r ⊙ w + b, 0) in each window of x (N, C, H, W); windows lie side by
  // side and don't reach beyond it. A NaN counts as larger than all else.
  virtual void norm_relu_pool(const Array& y, const Array& x, const Array& mean, const Array& rstd,
                              const Array& w, const Array& b, Plane window) const = 0;
  // With g = dy at the place of a window's first largest, if that is above 0 or NaN, and 0 at all
  // others: db = Σ g, dw = Σ g ⊙ h, and dx as in batch_norm_backward; if not of_batch, where μ and
  // r are constants, dx = w r g. dx may have data == nullptr: not wanted.
  virtual void norm_relu_pool_backward(const Array& dx, const Array& dw, const Array& db,
                                       const Array& dy, const Array& x, const Array& mean,
                                       const Array& rstd, const Array& w, const Array& b,
                                       Plane window, bool of_batch) const = 0;

  // ---- recurrence: rows of dense elements (last stride 1); floating dtypes ----
  // One step of a GRU. xs and u (B, 3H) are the shares of the input and of the state h (B, H) in
  // the gates r, z, n; the vector b (3H) is added to u, or has data == nullptr for 0:
  //   r = σ(xs_r + u_r),  z = σ(xs_z + u_z),  n = tanh(xs_n + r ⊙ u_n),  y = (1 - z) ⊙ n + z ⊙ h.
  // gates (B, 4H) gets r, z, n and u_n; data == nullptr: not wanted. Where real (B) of bool is
  // false, y = h, with gates r = n = u_n = 0 and z = 1; data == nullptr: true everywhere.
  virtual void gru_step(const Array& y, const Array& gates, const Array& xs, const Array& u,
                        const Array& b, const Array& h, const Array& real) const = 0;
  // With g = dy + dh, the gradient of y:
  //   d_n = g ⊙ (1 - z) ⊙ (1 - n²),  d_z = g ⊙ (h - n) ⊙ z ⊙ (1 - z),
  //   d_r = d_n ⊙ u_n ⊙ r ⊙ (1 - r).
  // dxs gets d_r, d_z, d_n, du gets d_r, d_z, d_n ⊙ r, and dh becomes g ⊙ z.
  virtual void gru_step_backward(const Array& dxs, const Array& du, const Array& dh,
                                 const Array& dy, const Array& gates, const Array& h) const = 0;

  // ---- attention; all arrays dense ----
  // e[b,i,j] = Σ_u v[u] tanh(q[b,i,u] + k[b,j,u]), of q (B, Q, U), k (B, K, U) and v (U).
  virtual void additive_scores(const Array& e, const Array& q, const Array& k,
                               const Array& v) const = 0;
  // With t = tanh(q[b,i,u] + k[b,j,u]) and g = de[b,i,j] v[u] (1 - t²):
  //   dq[b,i,u] = Σ_j g,  dk[b,j,u] = Σ_i g,  dv[b,u] = Σ_ij de[b,i,j] t: dv (B, U) is not yet
  // summed over b.
  virtual void additive_scores_backward(const Array& dq, const Array& dk, const Array& dv,
                                        const Array& de, const Array& q, const Array& k,
                                        const Array& v) const = 0;

  // ---- indices; i64, already checked to lie in 0 .. size-1 ----
  // out[i][j][k] = x[index[i][j][k]][j][k] for dim 0, and so on; out.shape == index.shape.
  virtual void gather(const Array& out, const Array& x, const Array& index, int dim) const = 0;
  // out[index[i][j][k]][j][k] += src[i][j][k] for dim 0, in row-major order of the index.
  virtual void scatter_add(const Array& out, const Array& index, const Array& src,
                           int dim) const = 0;
  // out = x with the slices index[0], index[1], ... along dim; index has rank 1.
  virtual void index_select(const Array& out, const Array& x, const Array& index,
                            int dim) const = 0;
  // out's slice index[i] along dim += src's slice i, in the order of i.
  virtual void index_add(const Array& out, const Array& index, const Array& src, int dim) const = 0;
  // Stable sort along dim; NaN counts as the largest. indices: i64, the old positions.
  virtual void sort(const Array& values, const Array& indices, const Array& x, int dim,
                    bool descending) const = 0;

  // ---- random ----
  // Counter-based dropout: element i in row-major order is 1/(1-p) where the random number of
  // (key, i) is at least p, else 0. The same mask on every device.
  virtual void dropout_mask(const Array& mask, std::uint64_t key, double p) const = 0;

  // ---- optimisers: one pass over all state; dense arrays of one shape and floating dtype ----
  // buffer may have data == nullptr when momentum is 0.
  virtual void sgd_step(const Array& weight, const Array& grad, const Array& buffer,
                        const SgdStep& s) const = 0;
  virtual void adam_step(const Array& weight, const Array& grad, const Array& m, const Array& v,
                         const AdamStep& s) const = 0;
};

// The kernels of a device.
const Kernels& kernels(Device device);

}  // namespace labgrad
