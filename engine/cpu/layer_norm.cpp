// Layer normalisation over the last dimension.
//
// A row of at most four vectors is loaded once and stays in registers, as the weights do for a
// whole run of rows; a longer one is a few passes over memory that stays in the first cache.
// Backward, one pass makes the gradient of x and those of the weights: rows fall into blocks whose
// size the shape alone decides, a block's sums of dy and dy h are made in T, and the blocks' sums
// are added in order in double. Runs of rows, or blocks, are divided among threads.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/cpu/cpu.h"
#include "engine/cpu/elementwise.h"
#include "engine/cpu/row_vectors.h"
#include "engine/cpu/rows.h"
#include "engine/cpu/scratch.h"
#include "engine/cpu/threads.h"
#include "engine/cpu/vec.h"

namespace labgrad {

using namespace cpu;

namespace {

// w or b as a dense row; `otherwise` everywhere if it is absent.
template <class T>
class Parameter {
 public:
  Parameter(const Array& a, std::int64_t n, T otherwise) : copy_(is_dense(a) ? 0 : n) {
    data_ = is_dense(a) ? a.as<const T>() : copy_.get();
    for (std::int64_t k = 0; !is_dense(a) && k < n; ++k)
      copy_.get()[k] = a.data ? a.as<T>()[k * a.strides[0]] : otherwise;
  }
  const T* get() const { return data_; }

 private:
  static bool is_dense(const Array& a) { return a.data && a.strides[0] == 1; }
  Scratch<T> copy_;
  const T* data_;
};

// A run of rows in one of the arrays, which may be absent.
template <class T>
struct Run {
  T* first;
  std::int64_t step, stride;  // from row to row, and from element to element

  Run(const Array& a, int along, std::int64_t offset)
      : first(a.data ? a.as<T>() + offset : nullptr),
        step(a.data && along >= 0 ? a.strides[along] : 0),
        stride(a.data ? a.strides.back() : 1) {}
  T* operator[](std::int64_t row) const { return first + row * step; }
};

template <class T>
struct Forward {
  Run<T> y, mean, rstd;
  Run<const T> x;
  const T *w, *b;
  T eps;
};

// The mean is taken in two steps: m, rounded, from the sum, and then the mean of d = x - m, which
// is small and so exact where |mean| is much larger than the deviation.
//   variance = mean(d²) - mean(d)²
template <class T>
void short_rows(const Forward<T>& f, std::int64_t rows, std::int64_t n) {
  with_row_shape<T>(n, [&]<int L, int K>() {
    using V = Vec<T, L>;
    using R = Row<T, L, K>;
    const Forward<T> to = f;  // where the compiler knows that nothing written changes it
    const R w = R::load(to.w, n, T(0)), b = R::load(to.b, n, T(0));
    const T each = 1 / static_cast<T>(n);
    for (std::int64_t i = 0; i < rows; ++i) {
      const InRow<T> in(to.x[i], n, to.x.stride);
      const OutRow<T> out(to.y[i], n, to.y.stride);
      const R row = R::load(in.get(), n, T(0));
      const V m = sum_everywhere(row.sum()) * each;
      const R d = row.map([m](V v) { return v - m; }).padded(n, T(0));
      const V means = sum_both(d.sum(), d.map([](V v) { return v * v; }).sum()) * each;
      const T rest = means[0];
      const T r = 1 / std::sqrt(means[L / 2] - rest * rest + to.eps);
      d.map([=](V v) { return (v - rest) * r; })
          .zip(w, [](V h, V wk) { return h * wk; })
          .zip(b, [](V h, V bk) { return h + bk; })
          .store_to(out.get(), n);
      *to.mean[i] = m[0] + rest;
      *to.rstd[i] = r;
    }
  });
}

template <class T>
void long_rows(const Forward<T>& f, std::int64_t rows, std::int64_t n) {
  using V = Vec<T>;
  constexpr int width = lanes<T>;
  const std::int64_t full = n / width;
  const T count = static_cast<T>(n), *const w = f.w, *const b = f.b;
  for (std::int64_t i = 0; i < rows; ++i) {
    const InRow<T> in(f.x[i], n, f.x.stride);
    const OutRow<T> out(f.y[i], n, f.y.stride);
    const T* const x = in.get();
    const V x_end = load_end(x, n, T(0));
    const T m =
        sum_lanes(sum_vectors<T>(full, [&](auto k) { return load(x + k * width); }) + x_end) /
        count;
    const V d_end = hide(x_end - m, width - n % width, T(0));
    V squares = d_end * d_end;
    const V sums = sum_vectors<T>(full, [&](auto k) {
      const V d = load(x + k * width) - m;
      squares += d * d;
      return d;
    });
    const T rest = sum_lanes(sums + d_end) / count;
    const T r = 1 / std::sqrt(sum_lanes(squares) / count - rest * rest + f.eps);
    for (std::int64_t k = 0; k < full; ++k) {
      const V h = ((load(x + k * width) - m) - rest) * r;
      store(out.get() + k * width, h * load(w + k * width) + load(b + k * width));
    }
    store_end(out.get(), n, (d_end - rest) * r * load_end(w, n, T(0)) + load_end(b, n, T(0)));
    *f.mean[i] = m + rest;
    *f.rstd[i] = r;
  }
}

// dx, or the sums dw and db together, may be null.
template <class T>
struct Backward {
  Run<T> dx;
  Run<const T> dy, x, mean, rstd;
  const T* w;
  T *dw, *db;
};

// g = dy w,  h = (x - μ) r:  dx = r (g - Σ g / n - h Σ g h / n),  dw += dy h,  db += dy
template <class T>
void short_rows(const Backward<T>& f, std::int64_t rows, std::int64_t n) {
  with_row_shape<T>(n, [&]<int L, int K>() {
    using V = Vec<T, L>;
    using R = Row<T, L, K>;
    const Backward<T> to = f;
    const R w = R::load(to.w, n, T(0));
    R dw{}, db{};
    if (to.dw) {
      dw = R::load(to.dw, n, T(0));
      db = R::load(to.db, n, T(0));
    }
    const T each = 1 / static_cast<T>(n);
    for (std::int64_t i = 0; i < rows; ++i) {
      const InRow<T> gradient(to.dy[i], n, to.dy.stride), in(to.x[i], n, to.x.stride);
      const T mu = *to.mean[i], r = *to.rstd[i];
      const R dy = R::load(gradient.get(), n, T(0));
      const R h = R::load(in.get(), n, mu).map([=](V v) { return (v - mu) * r; });
      const R product = dy.zip(h, [](V a, V b) { return a * b; });
      db = db.zip(dy, [](V sum, V a) { return sum + a; });
      dw = dw.zip(product, [](V sum, V a) { return sum + a; });
      if (!to.dx.first) continue;
      const OutRow<T> out(to.dx[i], n, to.dx.stride);
      const R g = dy.zip(w, [](V a, V b) { return a * b; });
      const V means =
          sum_both(g.sum(), product.zip(w, [](V a, V b) { return a * b; }).sum()) * each;
      const T mean_g = means[0], mean_gh = means[L / 2];
      g.zip(h, [=](V a, V b) { return r * (a - mean_g - b * mean_gh); }).store_to(out.get(), n);
    }
    if (to.dw) {
      dw.store_to(to.dw, n);
      db.store_to(to.db, n);
    }
  });
}

template <class T>
void long_rows(const Backward<T>& f, std::int64_t rows, std::int64_t n) {
  using V = Vec<T>;
  constexpr int width = lanes<T>;
  const std::int64_t full = n / width;
  const T* const w = f.w;
  for (std::int64_t i = 0; i < rows; ++i) {
    const InRow<T> gradient(f.dy[i], n, f.dy.stride), in(f.x[i], n, f.x.stride);
    const T *const dy = gradient.get(), *const x = in.get();
    const T mu = *f.mean[i], r = *f.rstd[i];
    auto g = [&](std::int64_t k) { return load(dy + k * width) * load(w + k * width); };
    auto h = [&](std::int64_t k) { return (load(x + k * width) - mu) * r; };
    const V dy_end = load_end(dy, n, T(0)), h_end = (load_end(x, n, mu) - mu) * r;
    if (f.dw) {
      for (std::int64_t k = 0; k < full; ++k) {
        const V part = load(dy + k * width);
        store(f.db + k * width, load(f.db + k * width) + part);
        store(f.dw + k * width, load(f.dw + k * width) + part * h(k));
      }
      store_end(f.db, n, load_end(f.db, n, T(0)) + dy_end);
      store_end(f.dw, n, load_end(f.dw, n, T(0)) + dy_end * h_end);
    }
    if (!f.dx.first) continue;
    const OutRow<T> out(f.dx[i], n, f.dx.stride);
    const V g_end = dy_end * load_end(w, n, T(0));
    const T mean_g = sum_lanes(sum_vectors<T>(full, g) + g_end) / static_cast<T>(n);
    const T mean_gh =
        sum_lanes(sum_vectors<T>(full, [&](auto k) { return g(k) * h(k); }) + g_end * h_end) /
        static_cast<T>(n);
    auto result = [&](V a, V b) { return r * (a - mean_g - b * mean_gh); };
    for (std::int64_t k = 0; k < full; ++k) store(out.get() + k * width, result(g(k), h(k)));
    store_end(out.get(), n, result(g_end, h_end));
  }
}

template <class T, class Pass>
void pass_over(const Pass& f, std::int64_t rows, std::int64_t n) {
  if (n <= short_row<T>)
    short_rows(f, rows, n);
  else
    long_rows(f, rows, n);
}

}  // namespace

// μ = Σ x / n,  r = 1/sqrt(Σ (x - μ)² / n + eps),  y = (x - μ) r w + b
void Cpu::layer_norm(const Array& y, const Array& mean, const Array& rstd, const Array& x,
                     const Array& w, const Array& b, double eps) const {
  const int last = x.shape.rank() - 1, along = run_dim(x.shape, last);
  const std::int64_t n = x.shape[last];
  if (x.shape.numel() == 0) return Naive::layer_norm(y, mean, rstd, x, w, b, eps);
  dispatch_floating(x.dtype, "layer_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Parameter<T> weight(w, n, T(1)), bias(b, n, T(0));
    parallel_runs(
        x.shape, last, cheap_grain,
        [&](std::int64_t rows, std::int64_t i, std::int64_t j, std::int64_t l, std::int64_t m) {
          const Forward<T> f{{y, along, i}, {mean, along, l}, {rstd, along, m},   {x, along, j},
                             weight.get(),  bias.get(),       static_cast<T>(eps)};
          pass_over<T>(f, rows, n);
        },
        y.strides, x.strides, mean.strides, rstd.strides);
  });
}

void Cpu::layer_norm_backward(const Array& dx, const Array& dw, const Array& db, const Array& dy,
                              const Array& x, const Array& mean, const Array& rstd,
                              const Array& w) const {
  constexpr std::int64_t fewest = 64;  // rows in a block, so that its sums are little beside it
  const int last = x.shape.rank() - 1, along = run_dim(x.shape, last);
  const std::int64_t n = x.shape[last];
  if (x.shape.numel() == 0) return Naive::layer_norm_backward(dx, dw, db, dy, x, mean, rstd, w);
  const std::int64_t rows = x.shape.numel() / n, block = std::max(fewest, cheap_grain / n);
  const std::int64_t blocks = divide_up(rows, block);
  dispatch_floating(x.dtype, "layer_norm_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Parameter<T> weight(w, n, T(1));
    const Scratch<T> sums(dw.data ? blocks * 2 * n : 0);  // of a block: those of dw, of db
    parallel_for(blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b) {
        T* const of_dw = dw.data ? sums.get() + b * 2 * n : nullptr;
        T* const of_db = dw.data ? of_dw + n : nullptr;
        if (dw.data) std::fill_n(of_dw, 2 * n, T(0));
        each_run(
            x.shape, last, b * block, std::min(rows, (b + 1) * block),
            [&](std::int64_t count, std::int64_t i, std::int64_t k, std::int64_t j, std::int64_t l,
                std::int64_t m) {
              const Backward<T> f{{dx, along, i},   {dy, along, k}, {x, along, j}, {mean, along, l},
                                  {rstd, along, m}, weight.get(),   of_dw,         of_db};
              pass_over<T>(f, count, n);
            },
            dx.data ? dx.strides : x.strides, dy.strides, x.strides, mean.strides, rstd.strides);
      }
    });
    for (std::int64_t k = 0; dw.data && k < 2 * n; ++k) {
      double total = 0;
      for (std::int64_t b = 0; b < blocks; ++b) total += double(sums.get()[b * 2 * n + k]);
      (k < n ? dw.as<T>()[k] : db.as<T>()[k - n]) = static_cast<T>(total);
    }
  });
}

}  // namespace labgrad
