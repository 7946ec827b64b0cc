// Layer normalisation over the last dimension.

#include "engine/cuda/centre.h"
#include "engine/cuda/channels.h"
#include "engine/cuda/cuda.h"
#include "engine/cuda/rows.h"

namespace labgrad {

using namespace naive;

namespace {

// μ = Σ x / n,  r = 1/sqrt(Σ (x - μ)² / n + eps),  y = (x - μ) r w + b.  The threads of a team take
// every step-th element of their row, in each of three passes; the first of them writes μ and r.
template <class Team, class T>
__global__ void layer_norm_kernel(Memory<T> y, Memory<T> mean, Memory<T> rstd, Memory<const T> x,
                                  Memory<const T> w, Memory<const T> b, Rows<4> rows,
                                  std::int64_t w_step, std::int64_t b_step, double eps) {
  const std::int64_t n = rows.columns, to = rows.step[0], from = rows.step[1];
  for (std::int64_t row = Team::first_row(); row < rows.starts.numel; row += Team::row_step()) {
    const Offsets<4> start = rows.starts[row];
    const std::int64_t o = start.at[0], i = start.at[1];
    Wide<T> sum = 0, squares = 0;
    for (std::int64_t k = Team::first(); k < n; k += Team::step()) sum += x[i + k * from];
    const Wide<T> mu = Team::sum(sum) / Wide<T>(n);
    const Centre<T> centred(mu);
    for (std::int64_t k = Team::first(); k < n; k += Team::step()) {
      const Wide<T> d = centred(x[i + k * from]);
      squares += d * d;
    }
    const T r = static_cast<T>(1 / std::sqrt(Team::sum(squares) / Wide<T>(n) + eps));
    for (std::int64_t k = Team::first(); k < n; k += Team::step()) {
      T v = centred(x[i + k * from]) * r;
      if (w) v *= w[k * w_step];
      if (b) v += b[k * b_step];
      y[o + k * to] = v;
    }
    if (Team::first() != 0) continue;
    mean[start.at[2]] = static_cast<T>(mu);
    rstd[start.at[3]] = r;
  }
}

// g = dy w,  h = (x - μ) r:  dx = r (g - Σ g / n - h Σ g h / n).  Shared in the same way, in two
// passes.
template <class Team, class T>
__global__ void layer_norm_backward_kernel(Memory<T> dx, Memory<const T> dy, Memory<const T> x,
                                           Memory<const T> mean, Memory<const T> rstd,
                                           Memory<const T> w, Rows<5> rows, std::int64_t w_step) {
  const std::int64_t n = rows.columns;
  for (std::int64_t row = Team::first_row(); row < rows.starts.numel; row += Team::row_step()) {
    const Offsets<5> start = rows.starts[row];
    const T mu = mean[start.at[3]], r = rstd[start.at[4]];
    const auto g = [&](std::int64_t k) {
      const T v = dy[start.at[2] + k * rows.step[2]];
      return w ? v * w[k * w_step] : v;
    };
    const auto h = [&](std::int64_t k) { return (x[start.at[1] + k * rows.step[1]] - mu) * r; };
    Pair<Wide<T>> sums{0, 0};  // of g and of g h
    for (std::int64_t k = Team::first(); k < n; k += Team::step()) {
      const Wide<T> gk = g(k);
      sums = sums + Pair<Wide<T>>{gk, gk * Wide<T>(h(k))};
    }
    sums = Team::sum(sums);
    const T mean_g = static_cast<T>(sums.first / Wide<T>(n));
    const T mean_gh = static_cast<T>(sums.second / Wide<T>(n));
    for (std::int64_t k = Team::first(); k < n; k += Team::step())
      dx[start.at[0] + k * rows.step[0]] = r * (g(k) - mean_g - h(k) * mean_gh);
  }
}

// Σ dy and Σ dy h over chunks of the rows, for each column.
template <class Share, class T>
__global__ void weight_sums_kernel(Memory<double> partial, Memory<const T> dy, Memory<const T> x,
                                   Memory<const T> mean, Memory<const T> rstd, Rows<4> rows,
                                   Chunks chunks) {
  const std::int64_t c = Share::channel();
  Pair<double> sums{0, 0};
  if (c < chunks.channels)
    for (std::int64_t i = chunks.begin() + Share::first(); i < chunks.end(); i += Share::step()) {
      const Offsets<4> start = rows.starts[i];
      const double g = dy[start.at[0] + c * rows.step[0]];
      const double h = (x[start.at[1] + c * rows.step[1]] - mean[start.at[2]]) * rstd[start.at[3]];
      sums = sums + Pair<double>{g, g * h};
    }
  leave_sums<Share>(partial, sums, c, chunks);
}

// dw = Σ dy h,  db = Σ dy
template <class T>
void weight_gradients(const Array& dw, const Array& db, const Array& dy, const Array& x,
                      const Array& mean, const Array& rstd) {
  const Rows<4> rows = rows_along(x.shape.rank() - 1, x.shape, {&dy, &x, &mean, &rstd});
  // Shared as dense rows would be, wherever x lies: so the layout decides no bit.
  share_channels(rows.columns, rows.starts.numel, 1, rows.columns,
                 [&](auto type, const Chunks& chunks, dim3 grid, unsigned threads) {
                   using Share = typename decltype(type)::type;
                   const Workspace sums({chunks.count, 2 * chunks.channels}, f64);
                   launch("weight_sums", weight_sums_kernel<Share, T>, grid, threads,
                          Memory<double>(sums.array(), "partial"), Memory<const T>(dy, "dy"),
                          Memory<const T>(x, "x"), Memory<const T>(mean, "mean"),
                          Memory<const T>(rstd, "rstd"), rows, chunks);
                   fold_gradients<T>(dw, db, sums, chunks);
                 });
}

}  // namespace

void Cuda::layer_norm(const Array& y, const Array& mean, const Array& rstd, const Array& x,
                      const Array& w, const Array& b, double eps) const {
  const Rows<4> rows = rows_along(x.shape.rank() - 1, x.shape, {&y, &x, &mean, &rstd});
  dispatch_floating(x.dtype, "layer_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    share_rows(rows, [&](auto team, dim3 grid, dim3 block) {
      using Team = typename decltype(team)::type;
      launch("layer_norm", layer_norm_kernel<Team, T>, grid, block, Memory<T>(y, "y"),
             Memory<T>(mean, "mean"), Memory<T>(rstd, "rstd"), Memory<const T>(x, "x"),
             Memory<const T>(w, "w"), Memory<const T>(b, "b"), rows, w.strides[0], b.strides[0],
             eps);
    });
  });
}

void Cuda::layer_norm_backward(const Array& dx, const Array& dw, const Array& db, const Array& dy,
                               const Array& x, const Array& mean, const Array& rstd,
                               const Array& w) const {
  dispatch_floating(x.dtype, "layer_norm_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (dw.data) weight_gradients<T>(dw, db, dy, x, mean, rstd);
    if (!dx.data) return;
    const Rows<5> rows = rows_along(x.shape.rank() - 1, x.shape, {&dx, &x, &dy, &mean, &rstd});
    share_rows(rows, [&](auto team, dim3 grid, dim3 block) {
      using Team = typename decltype(team)::type;
      launch("layer_norm_backward", layer_norm_backward_kernel<Team, T>, grid, block,
             Memory<T>(dx, "dx"), Memory<const T>(dy, "dy"), Memory<const T>(x, "x"),
             Memory<const T>(mean, "mean"), Memory<const T>(rstd, "rstd"), Memory<const T>(w, "w"),
             rows, w.strides[0]);
    });
  });
}

}  // namespace labgrad
